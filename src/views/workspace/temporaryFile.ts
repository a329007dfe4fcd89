import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { orUndefined } from '../../agent/base/errors.ts';
import { sha256 } from '../../agent/base/hash.ts';

/**
 * Writes a temporary file next to `target`, which `use` moves into place. A failure removes it; after a crash
 * {@link removeTemporaryFiles} does.
 * @param how `mode`: its permission bits, by default those that the system gives to new files; `isDurable`: whether its content is
 *   to be on the disk before it is moved, since it replaces another one.
 */
export function withTemporaryFile(
  target: string,
  bytes: Uint8Array,
  { mode, isDurable = false }: { readonly mode: number | undefined; readonly isDurable?: boolean },
  use: (temporary: string) => void,
): void {
  const temporary = path.join(path.dirname(target), temporaryName(path.basename(target)));
  try {
    const handle = fs.openSync(temporary, 'wx', mode ?? 0o666);
    try {
      // Set again, because the umask may have cleared some of the bits.
      if (mode !== undefined && (fs.fstatSync(handle).mode & 0o7777) !== mode) fs.fchmodSync(handle, mode);
      writeFrom(handle, bytes, 0);
      if (isDurable) fs.fdatasyncSync(handle);
    } finally {
      fs.closeSync(handle);
    }
    use(temporary);
  } catch (error) {
    removeTemporary(temporary);
    throw error;
  }
}

/** Error codes of file systems without hard links. Windows reports a function that a disk lacks as `EISDIR`, as with exFAT. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR'];

/**
 * Gives a complete file its name, unless there is a file of that name.
 * @param link makes a hard link; for tests.
 * @returns false if there is one.
 * @throws any other error of the file system.
 */
export function moveToNew(temporary: string, file: string, link = fs.linkSync): boolean {
  try {
    link(temporary, file);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (!NO_LINKS.includes(errorCode(error))) throw error;
    // No other code of this process runs between the check and the rename.
    if (fs.existsSync(file)) return false;
    fs.renameSync(temporary, file);
    return true;
  }
  removeTemporary(temporary); // the file is complete, whether or not its other name goes at once
  return true;
}

/** Temporary names that another program may hold. */
const unremoved = new Set<string>();

/** Removes a temporary name, at once or with the next one. Never throws. */
export function removeTemporary(temporary: string): void {
  unremoved.add(temporary);
  orUndefined(removeUnremoved);
}

/**
 * Removes the temporary names that could not be removed before.
 * @throws the error of the file system if one of them still cannot be.
 */
export function removeUnremoved(): void {
  let failure: { readonly error: unknown } | undefined;
  for (const temporary of unremoved) {
    try {
      fs.rmSync(temporary, { force: true });
      unremoved.delete(temporary);
    } catch (error) {
      failure = { error };
    }
  }
  if (failure) throw failure.error;
}

/** A name that identifies the target by a hash, so that it is never too long. */
export function temporaryName(name: string): string {
  return `.redline-${targetMark(name)}-${randomUUID().slice(0, 8)}.tmp`;
}

function targetMark(name: string): string {
  return sha256(Buffer.from(name)).slice(0, 12);
}

/**
 * Removes temporary files for these targets that a process left behind when it ended in the middle of a write. Those that cannot be
 * removed stay, as in a folder that cannot be listed. Never throws.
 */
export function removeTemporaryFiles(files: readonly string[]): void {
  const marksByFolder = new Map<string, Set<string>>();
  for (const file of files) {
    const folder = path.dirname(file);
    const marks = marksByFolder.get(folder) ?? new Set();
    marksByFolder.set(folder, marks.add(targetMark(path.basename(file))));
  }
  for (const [folder, marks] of marksByFolder) {
    for (const found of orUndefined(() => fs.readdirSync(folder)) ?? []) {
      const mark = /^\.redline-([0-9a-f]{12})-[0-9a-f]{8}\.tmp$/.exec(found)?.[1];
      if (mark !== undefined && marks.has(mark))
        orUndefined(() => fs.rmSync(path.join(folder, found), { force: true }));
    }
  }
}

/** Writes the part of `bytes` from `start` on, at the same offset in the file. */
export function writeFrom(handle: number, bytes: Uint8Array, start: number): void {
  let at = start;
  while (at < bytes.length) at += fs.writeSync(handle, bytes, at, bytes.length - at, at);
}

/** The code of a file system error, such as `ENOENT`; empty for any other error. */
export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** The result of a file operation; `undefined` if the file does not exist. */
export function ifExists<T>(work: () => T, missing = ['ENOENT', 'ENOTDIR']): T | undefined {
  try {
    return work();
  } catch (error) {
    if (missing.includes(errorCode(error))) return undefined;
    throw error;
  }
}
