import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { StalePreviewError, ToolError } from '../../agent/base/errors.ts';
import { sha256, type Sha256 } from '../../agent/base/hash.ts';

/**
 * Single files on disk. All of it is synchronous: a call through Node's thread pool costs several times what the operation
 * itself does, and nothing of this process can come between a check and the write that relies on it. Who works on many
 * files makes way in between (`TimeSlice`).
 */

/** Files above this size are refused. */
const MAX_BYTES = 5 * 1024 * 1024;

/**
 * The bytes of a regular file; `undefined` when there is none.
 * @throws ToolError for folders, devices and files over 5 MB.
 */
export function readDiskFile(file: string, shown: string): Uint8Array | undefined {
  const found = orMissing(() => fs.statSync(file));
  if (!found) return undefined;
  // Before it is opened: opening a device may do something, and a pipe waits for somebody to write to it.
  assertRegular(found, shown);
  assertSize(found.size, shown);
  const handle = fs.openSync(file, 'r');
  try {
    const bytes = Buffer.allocUnsafeSlow(found.size);
    let length = 0;
    while (length < bytes.length) {
      const count = fs.readSync(handle, bytes, length, bytes.length - length, length);
      if (count === 0) break;
      length += count;
    }
    return new Uint8Array(bytes.buffer, 0, length);
  } finally {
    fs.closeSync(handle);
  }
}

/** What {@link writeDiskFile} may be told beside what to write. */
export interface DiskWriteOptions {
  /** Permission bits of a file that was not there. */
  readonly mode?: number | undefined;
  /** Called right before the change happens; throws to prevent it. */
  readonly guard?: () => void;
}

/**
 * Makes a file hold exactly `bytes`, or be absent for `null`, if it still holds what is expected. A reader sees the old
 * or the new bytes, never a part: they are written beside the file and renamed over it. Mode bits are kept, and a symlink
 * stays one.
 * @throws StalePreviewError when it holds something else; ToolError for a read-only file, and for a symlink that would go.
 */
export function writeDiskFile(
  file: string,
  shown: string,
  bytes: Uint8Array | null,
  expected: Sha256 | null,
  { mode, guard = () => undefined }: DiskWriteOptions = {},
): void {
  if (bytes) assertSize(bytes.length, shown);
  const target = orMissing(() => fs.realpathSync.native(file));
  if (target === undefined) {
    assertStill(file, shown, expected);
    if (bytes !== null) createFile(file, bytes, mode, guard);
    return;
  }
  const old = fs.statSync(target);
  // A rename over a device would take it away from the whole system.
  assertRegular(old, shown);
  assertWritable(target, old, shown);
  if (bytes === null) {
    if (fs.lstatSync(file).isSymbolicLink()) {
      throw new ToolError(`${shown} is a symbolic link, which cannot be removed or renamed here`);
    }
    assertStill(target, shown, expected);
    guard();
    fs.unlinkSync(target);
    return;
  }
  withTemporary(target, bytes, old.mode & 0o7777, temporary => {
    assertStill(target, shown, expected);
    guard();
    fs.renameSync(temporary, target);
  });
}

/** Makes a file that is not there; whatever appeared meanwhile stays. */
function createFile(file: string, bytes: Uint8Array, mode: number | undefined, guard: () => void): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  withTemporary(file, bytes, mode, temporary => {
    guard();
    try {
      fs.linkSync(temporary, file);
    } catch (error) {
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error))) throw error;
      // A file system without hard links. Nothing of this process comes between the two.
      if (fs.existsSync(file)) throw new StalePreviewError([file]);
      fs.renameSync(temporary, file);
      return;
    }
    fs.unlinkSync(temporary);
  });
}

function withTemporary(
  target: string,
  bytes: Uint8Array,
  mode: number | undefined,
  use: (temporary: string) => void,
): void {
  const temporary = path.join(path.dirname(target), temporaryName(path.basename(target)));
  try {
    const handle = fs.openSync(temporary, 'wx', mode ?? 0o666);
    try {
      // Not left to the umask, which may take bits away that the file has.
      if (mode !== undefined && (fs.fstatSync(handle).mode & 0o7777) !== mode) fs.fchmodSync(handle, mode);
      let written = 0;
      while (written < bytes.length) written += fs.writeSync(handle, bytes, written);
    } finally {
      fs.closeSync(handle);
    }
    use(temporary);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

/** Says which file it is for, in a form that fits however long the file's name is. */
function temporaryName(name: string): string {
  return `.redline-${markOf(name)}-${randomUUID().slice(0, 8)}.tmp`;
}

function markOf(name: string): string {
  return sha256(Buffer.from(name)).slice(0, 12);
}

/** Removes the temporary files beside these that a process left which ended while it wrote. */
export function removeTemporaries(files: readonly string[]): void {
  const marksByFolder = new Map<string, Set<string>>();
  for (const file of files) {
    const folder = path.dirname(orMissing(() => fs.realpathSync.native(file)) ?? file);
    const marks = marksByFolder.get(folder) ?? new Set();
    marksByFolder.set(folder, marks.add(markOf(path.basename(file))));
  }
  for (const [folder, marks] of marksByFolder) {
    for (const found of orMissing(() => fs.readdirSync(folder)) ?? []) {
      const mark = /^\.redline-([0-9a-f]{12})-[0-9a-f]{8}\.tmp$/.exec(found)?.[1];
      if (mark !== undefined && marks.has(mark)) fs.rmSync(path.join(folder, found), { force: true });
    }
  }
}

/** Removes those of the folders that are empty, the innermost first. What cannot be removed stays. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of [...folders].sort().reverse()) {
    try {
      fs.rmdirSync(folder);
    } catch {
      // It holds something, or is gone.
    }
  }
}

/** Permission bits of a file; `undefined` when there is none. */
export function modeOf(file: string): number | undefined {
  const found = orMissing(() => fs.statSync(file));
  return found?.isFile() ? found.mode & 0o7777 : undefined;
}

/** Whether there is a folder. */
export function isFolder(folder: string): boolean {
  return orMissing(() => fs.statSync(folder))?.isDirectory() ?? false;
}

function assertRegular(found: fs.Stats, shown: string): void {
  if (found.isDirectory()) throw new ToolError(`${shown} is a folder, not a file.`);
  if (!found.isFile()) throw new ToolError(`${shown} is not a regular file.`);
}

function assertSize(size: number, shown: string): void {
  if (size <= MAX_BYTES) return;
  const megabytes = (size / 1024 / 1024).toFixed(1);
  throw new ToolError(`${shown} has ${megabytes} MB; files over 5 MB cannot be read or edited.`);
}

function assertStill(file: string, shown: string, expected: Sha256 | null): void {
  const bytes = readDiskFile(file, shown);
  if ((bytes ? sha256(bytes) : null) !== expected) throw new StalePreviewError([shown]);
}

/** A read-only file is left alone, although a rename would get past its mode bits. */
function assertWritable(file: string, { mode }: fs.Stats, shown: string): void {
  const isReadOnly = (): boolean => {
    try {
      fs.accessSync(file, fs.constants.W_OK);
      return false;
    } catch {
      return true;
    }
  };
  if ((mode & 0o222) === 0 || isReadOnly()) throw new ToolError(`${shown} is read-only`);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** `undefined` when there is no such file. */
function orMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw error;
  }
}
