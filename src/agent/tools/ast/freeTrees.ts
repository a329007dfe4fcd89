import { setImmediate } from 'node:timers/promises';
import { resourceLimits } from 'node:worker_threads';

/** How many slots an array has that is sure to be made among the young objects, and their bytes. */
const SLOTS = 2_048;
const BYTES = SLOTS * 8;

/**
 * Has syntax trees freed that nobody holds any more. A tree is megabytes of native memory behind an object of a few bytes,
 * so V8 sees no reason to look for it; meanwhile the memory is taken, and freeing it all at last would hold up the next
 * search. Filling the space for young objects makes V8 look. (It can be asked by name only with a flag that not every
 * process lets be set.) Does nothing outside of a worker with a limit for that space.
 */
export async function freeTrees(): Promise<void> {
  const young = resourceLimits.maxYoungGenerationSizeMb ?? 0;
  let last: number[] = [];
  for (let filled = 0; filled < (young * 1024 * 1024) / 2; filled += BYTES)
    last = new Array<number>(SLOTS).fill(last.length);
  // What V8 found is freed in a turn of its own.
  await setImmediate();
}
