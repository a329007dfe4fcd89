import * as fs from 'node:fs';
import * as path from 'node:path';
import { StalePreviewError, ToolError } from '../../agent/base/errors.ts';
import { sha256, type Sha256 } from '../../agent/base/hash.ts';
import { MAX_FILE_BYTES } from '../../agent/preview/workspace.ts';
import { codeOf, orMissing } from './fsErrors.ts';
import { withTemporary, writeFrom } from './temporaryFile.ts';

/**
 * Single files on disk. All of it is synchronous: a call through Node's thread pool costs several times what the operation
 * itself does, and nothing of this process can come between a check and the write that relies on it. Who works on many
 * files makes way in between (`TimeSlice`).
 */

/**
 * The bytes of a regular file; `undefined` when there is none.
 * @throws ToolError for folders, devices and files over 5 MB.
 */
export function readDiskFile(file: string, shown: string): Uint8Array | undefined {
  const found = orMissing(() => fs.statSync(file));
  if (!found) return undefined;
  // Before it is opened: opening a device may do something, and a pipe waits for somebody to write to it.
  assertRegular(found, shown);
  const handle = fs.openSync(file, 'r');
  try {
    return readAll(handle, found.size, shown);
  } finally {
    fs.closeSync(handle);
  }
}

function readAll(handle: number, size: number, shown: string): Uint8Array {
  assertSize(size, shown);
  const bytes = Buffer.allocUnsafeSlow(size);
  let length = 0;
  while (length < size) {
    const count = fs.readSync(handle, bytes, length, size - length, length);
    if (count === 0) break;
    length += count;
  }
  return new Uint8Array(bytes.buffer, 0, length);
}

/** What {@link writeDiskFile} may be told beside what to write. */
export interface DiskWriteOptions {
  /** Permission bits of a file that was not there. */
  readonly mode?: number | undefined;
  /** Called right before the change happens; throws to prevent it. */
  readonly guard?: () => void;
}

/**
 * Makes a file hold exactly `bytes`, or be absent for `null`, if it still holds what is expected. A file that is there is
 * written over, as editors do: its bits, owner and links stay, and it is many times faster than renaming another over it,
 * for which file systems wait for the disk. What a crash cuts off there is for the caller's journal to take back
 * (`isCutOff`). A new file appears with all of its bytes at once.
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
  // Before it is opened, as in `readDiskFile`.
  assertRegular(old, shown);
  if ((old.mode & 0o222) === 0) throw readOnly(shown);
  if (bytes === null) removeFile(file, target, shown, expected, guard);
  else overwrite(target, shown, bytes, expected, guard);
}

function removeFile(
  file: string,
  target: string,
  shown: string,
  expected: Sha256 | null,
  guard: () => void,
): void {
  if (fs.lstatSync(file).isSymbolicLink()) {
    throw new ToolError(`${shown} is a symbolic link, which cannot be removed or renamed here`);
  }
  assertWritable(target, shown);
  assertStill(target, shown, expected);
  guard();
  fs.unlinkSync(target);
}

/** Writes over a regular file; when that fails midway, what it held is written back. */
function overwrite(
  target: string,
  shown: string,
  bytes: Uint8Array,
  expected: Sha256 | null,
  guard: () => void,
): void {
  const handle = openForWriting(target, shown);
  try {
    const old = readAll(handle, fs.fstatSync(handle).size, shown);
    if (sha256(old) !== expected) throw new StalePreviewError([shown]);
    guard();
    try {
      // What is longer than before goes first: that is where a full disk shows, and nothing is lost yet.
      writeFrom(handle, bytes, old.length);
      writeFrom(handle, bytes.subarray(0, old.length), 0);
      if (bytes.length < old.length) fs.ftruncateSync(handle, bytes.length);
    } catch (error) {
      putBack(handle, old);
      throw error;
    }
  } finally {
    fs.closeSync(handle);
  }
}

function openForWriting(target: string, shown: string): number {
  try {
    return fs.openSync(target, 'r+');
  } catch (error) {
    throw READ_ONLY_CODES.includes(codeOf(error)) ? readOnly(shown) : error;
  }
}

function putBack(handle: number, old: Uint8Array): void {
  try {
    fs.ftruncateSync(handle, old.length);
    writeFrom(handle, old, 0);
  } catch {
    // Then it stays cut off. Who writes reads it again and tells.
  }
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
  if (size <= MAX_FILE_BYTES) return;
  const megabytes = (size / 1024 / 1024).toFixed(1);
  throw new ToolError(`${shown} has ${megabytes} MB; files over 5 MB cannot be read or edited.`);
}

function assertStill(file: string, shown: string, expected: Sha256 | null): void {
  const bytes = readDiskFile(file, shown);
  if ((bytes ? sha256(bytes) : null) !== expected) throw new StalePreviewError([shown]);
}

/** A read-only file is left alone, although its folder would let it go. */
function assertWritable(file: string, shown: string): void {
  try {
    fs.accessSync(file, fs.constants.W_OK);
  } catch {
    throw readOnly(shown);
  }
}

const READ_ONLY_CODES = ['EACCES', 'EPERM', 'EROFS'];

function readOnly(shown: string): ToolError {
  return new ToolError(`${shown} is read-only`);
}
