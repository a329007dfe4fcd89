import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { history, play } from '../../support/runtimeSteps.ts';

/** `RUNS=… node --test …` runs more; `SEED=… PATH_=…` replays what a failure printed. */
const { RUNS, SEED, PATH_ } = process.env;
const parameters = {
  numRuns: Number(RUNS ?? 4_000),
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
  ...(PATH_ === undefined ? {} : { path: PATH_ }),
};

test('I1 to I7 hold over random interleavings of model, human, extension, disk, aborts, failures and reloads', async () => {
  await fc.assert(
    fc.asyncProperty(history, async one => assert.deepEqual(await play(one), [])),
    parameters,
  );
});
