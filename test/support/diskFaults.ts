/** Faults of the disk: at one of the calls of `node:fs` that change something, it fails once, or the process dies there. */
import writable from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** What happens at a call: an error once; or, from then on, nothing is done any more, after `half` of that write. */
export type Fault = 'error' | 'death' | 'half';

const CALLS = ['writeFileSync', 'appendFileSync', 'mkdirSync', 'openSync'] as const;
const PROMISED = ['writeFile', 'appendFile', 'mkdir', 'rename', 'rm', 'open'] as const;

type Call = (...args: unknown[]) => unknown;

/**
 * Runs work in which a fault happens.
 * @param at at which of the calls, from 1
 * @returns how many there were
 */
export async function withFault(at: number, fault: Fault, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const restore: (() => void)[] = [];
  const patch = (owner: Record<string, Call>, name: string, isPromised: boolean): void => {
    const original = owner[name];
    if (!original) return;
    const refuse = (): unknown => {
      const error = Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO' });
      if (isPromised) return Promise.reject(error);
      throw error;
    };
    owner[name] = (...args) => {
      const isRead = /^open/.test(name) && (args[1] === undefined || args[1] === 'r');
      if (isRead || ++count < at || (fault === 'error' && count > at)) return original.apply(owner, args);
      const half = fault === 'half' && count === at ? halfOf(args[1]) : undefined;
      if (half === undefined) return refuse();
      const done = original.call(owner, args[0], half, args[2]);
      return done instanceof Promise ? done.then(refuse) : refuse();
    };
    restore.push(() => (owner[name] = original));
  };
  for (const name of CALLS) patch(writable as never, name, false);
  for (const name of PROMISED) patch(writable.promises as never, name, true);
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const undo of restore) undo();
    syncBuiltinESMExports();
  }
  return count;
}

/** Half of what a call writes; `undefined` if it writes nothing. */
function halfOf(data: unknown): string | Uint8Array | undefined {
  if (typeof data === 'string') return data.slice(0, data.length / 2);
  if (data instanceof Uint8Array) return data.subarray(0, data.length / 2);
  if (typeof data !== 'object' || data === null || !(Symbol.iterator in data)) return undefined;
  const all = Buffer.concat(
    Array.from(data as Iterable<string | Uint8Array>, part => Buffer.from(part as string)),
  );
  return all.subarray(0, all.length / 2);
}
