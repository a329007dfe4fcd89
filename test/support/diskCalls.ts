/** The calls of `node:fs` that change something on the disk, and those that read. */
import writable from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const NAMES =
  `writeFile appendFile write mkdir open rename link symlink unlink rm rmdir copyFile truncate ftruncate
  chmod fchmod lchown fchown fsync fdatasync`.split(/\s+/);
/** Of a file that is open. */
const OF_HANDLES = ['write', 'writeFile', 'appendFile', 'truncate', 'datasync', 'sync', 'chmod'];
const READS = 'readFile read stat lstat fstat readdir readlink realpath access'.split(' ');
const READS_OF_HANDLES = ['readFile', 'read', 'stat'];

type Call = (this: unknown, ...args: unknown[]) => unknown;

// In Node 22, `rm` takes the functions that it calls when it is first called: they are to be those of the system.
writable.rmSync(`${import.meta.filename}.none`, { force: true });

let isQuiet = false;

/** Looks at the disk itself: these calls are made as they are. */
export function quietly<T>(look: () => T): T {
  isQuiet = true;
  try {
    return look();
  } finally {
    isQuiet = false;
  }
}

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

/** Runs work in which each of these calls is made by `around`. @param withReads those that read, too */
export async function aroundDiskCalls(
  around: (call: DiskCall) => unknown,
  work: () => Promise<unknown>,
  withReads = false,
): Promise<void> {
  const restore: (() => void)[] = [];
  const patch = (owner: Record<string, Call>, name: string, isPromised: boolean, isHandle = false): void => {
    const original = owner[name];
    if (!original) return;
    owner[name] = function (...args) {
      if (isQuiet) return original.apply(this, args);
      if (!withReads && name.startsWith('open') && isForReading(args[1])) return original.apply(this, args);
      const handle = isHandle ? (this as { fd: number }) : undefined;
      const make = (others: readonly unknown[] = args): unknown => original.apply(this, [...others]);
      return around({ name: name.replace(/Sync$/, ''), args, handle, isPromised, make });
    };
    Object.assign(owner[name], original); // `realpath` has `native`
    restore.push(() => (owner[name] = original));
  };
  const handle = await writable.promises.open(import.meta.filename);
  const ofHandles = Object.getPrototypeOf(handle) as never;
  await handle.close();
  const names = withReads ? [...NAMES, ...READS] : NAMES;
  for (const name of names) patch(writable as never, `${name}Sync`, false);
  for (const name of names) patch(writable.promises as never, name, true);
  for (const name of withReads ? [...OF_HANDLES, ...READS_OF_HANDLES] : OF_HANDLES)
    patch(ofHandles, name, true, true);
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
