/** The calls of `node:fs` that change something on the disk. */
import writable from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const NAMES =
  `writeFile appendFile write mkdir open rename link symlink unlink rm rmdir copyFile truncate ftruncate
  chmod fchmod lchown fchown fsync fdatasync`.split(/\s+/);
/** Of a file that is open. */
const OF_HANDLES = ['write', 'writeFile', 'appendFile', 'truncate', 'datasync', 'sync', 'chmod'];

type Call = (this: unknown, ...args: unknown[]) => unknown;

/** A call that is about to be made. */
export interface DiskCall {
  readonly name: string;
  readonly args: readonly unknown[];
  /** The open file that it is a method of, if it is one. */
  readonly handle: { readonly fd: number } | undefined;
  readonly isPromised: boolean;
  /** Makes it, with these arguments if there are any. */
  make(args?: readonly unknown[]): unknown;
}

/** Runs work in which each of these calls is made by `around`. */
export async function aroundDiskCalls(
  around: (call: DiskCall) => unknown,
  work: () => Promise<unknown>,
): Promise<void> {
  const restore: (() => void)[] = [];
  const patch = (owner: Record<string, Call>, name: string, isPromised: boolean, isHandle = false): void => {
    const original = owner[name];
    if (!original) return;
    owner[name] = function (...args) {
      if (name.startsWith('open') && isForReading(args[1])) return original.apply(this, args);
      const handle = isHandle ? (this as { fd: number }) : undefined;
      const make = (others: readonly unknown[] = args): unknown => original.apply(this, [...others]);
      return around({ name: name.replace(/Sync$/, ''), args, handle, isPromised, make });
    };
    restore.push(() => (owner[name] = original));
  };
  const handle = await writable.promises.open(import.meta.filename);
  const ofHandles = Object.getPrototypeOf(handle) as never;
  await handle.close();
  for (const name of NAMES) patch(writable as never, `${name}Sync`, false);
  for (const name of NAMES) patch(writable.promises as never, name, true);
  for (const name of OF_HANDLES) patch(ofHandles, name, true, true);
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const undo of restore) undo();
    syncBuiltinESMExports();
  }
}

function isForReading(flags: unknown): boolean {
  const { O_ACCMODE = 3, O_CREAT } = writable.constants as { O_ACCMODE?: number; O_CREAT: number };
  return typeof flags === 'number' ? (flags & (O_ACCMODE | O_CREAT)) === 0 : (flags ?? 'r') === 'r';
}
