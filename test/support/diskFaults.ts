/** Faults of the disk: at one of the calls of `node:fs`, it fails once, or the process dies there. */
import { aroundDiskCalls } from './diskCalls.ts';

/** What happens at a call: an error once; or, from then on, nothing is done any more, after `half` of that write. */
export type Fault = 'error' | 'death' | 'half';

/**
 * Runs work in which a fault happens.
 * @param at at which of the calls, from 1
 * @param work is told whether that call was made
 * @param withReads whether calls that read count, too
 * @returns how many there were
 */
export async function withFault(
  at: number,
  fault: Fault,
  work: (isHit: () => boolean) => Promise<unknown>,
  withReads = false,
): Promise<number> {
  let count = 0;
  await aroundDiskCalls(
    ({ name, args, isPromised, make }) => {
      const refuse = (): unknown => {
        const error = Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO' });
        if (isPromised) return Promise.reject(error);
        throw error;
      };
      if (++count < at || (fault === 'error' && count > at)) return make();
      const half = fault === 'half' && count === at && /write|append/i.test(name) ? halfOf(args) : undefined;
      if (half === undefined) return refuse();
      const done = make(half);
      return done instanceof Promise ? done.then(refuse) : refuse();
    },
    () => work(() => count >= at),
    withReads,
  );
  return count;
}

/** The arguments of a call that writes half of what this one writes; `undefined` if it writes nothing. */
function halfOf([file, data, ...rest]: readonly unknown[]): unknown[] | undefined {
  if (typeof data === 'string')
    return typeof file === 'string' ? [file, data.slice(0, data.length / 2), ...rest] : undefined;
  if (data instanceof Uint8Array) {
    const [at, length, position] = rest;
    if (typeof at !== 'number') return [file, data.subarray(0, data.length / 2), ...rest];
    return [file, data, at, Math.floor(Number(length) / 2), position];
  }
  if (typeof data !== 'object' || data === null || !(Symbol.iterator in data)) return undefined;
  const all = Buffer.concat(
    Array.from(data as Iterable<string | Uint8Array>, part => Buffer.from(part as string)),
  );
  return [file, all.subarray(0, all.length / 2), ...rest];
}
