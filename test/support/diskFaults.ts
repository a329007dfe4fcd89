/** Faults of the disk: at one of the calls of `node:fs` that change something, it fails once, or the process dies there. */
import writable from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** What happens at a call: an error once; or, from then on, nothing is done any more, after `half` of that write. */
export type Fault = 'error' | 'death' | 'half';

const NAMES =
  `writeFile appendFile write mkdir open rename link symlink unlink rm rmdir copyFile truncate ftruncate
  chmod fchmod lchown fchown fsync fdatasync`.split(/\s+/);
/** Of a file that is open. */
const OF_HANDLES = ['write', 'writeFile', 'appendFile', 'truncate', 'datasync', 'sync', 'chmod'];

type Call = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Runs work in which a fault happens.
 * @param at at which of the calls, from 1
 * @param work is told whether that call was made
 * @returns how many there were
 */
export async function withFault(
  at: number,
  fault: Fault,
  work: (isHit: () => boolean) => Promise<unknown>,
): Promise<number> {
  let count = 0;
  const restore: (() => void)[] = [];
  const patch = (owner: Record<string, Call>, name: string, isPromised = true): void => {
    const original = owner[name];
    if (!original) return;
    const refuse = (): unknown => {
      const error = Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO' });
      if (isPromised) return Promise.reject(error);
      throw error;
    };
    owner[name] = function (...args) {
      const isRead = /^open/.test(name) && isForReading(args[1]);
      if (isRead || ++count < at || (fault === 'error' && count > at)) return original.apply(this, args);
      const half = fault === 'half' && count === at && /write|append/i.test(name) ? halfOf(args) : undefined;
      if (half === undefined) return refuse();
      const done = original.apply(this, half);
      return done instanceof Promise ? done.then(refuse) : refuse();
    };
    restore.push(() => (owner[name] = original));
  };
  const handle = await writable.promises.open(import.meta.filename);
  const ofHandles = Object.getPrototypeOf(handle) as never;
  await handle.close();
  for (const name of NAMES) patch(writable as never, `${name}Sync`, false);
  for (const name of NAMES) patch(writable.promises as never, name);
  for (const name of OF_HANDLES) patch(ofHandles, name);
  syncBuiltinESMExports();
  try {
    await work(() => count >= at);
  } finally {
    for (const undo of restore) undo();
    syncBuiltinESMExports();
  }
  return count;
}

function isForReading(flags: unknown): boolean {
  const { O_ACCMODE = 3, O_CREAT } = writable.constants as { O_ACCMODE?: number; O_CREAT: number };
  return typeof flags === 'number' ? (flags & (O_ACCMODE | O_CREAT)) === 0 : (flags ?? 'r') === 'r';
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
