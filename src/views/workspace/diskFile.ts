import * as fs from 'node:fs';
import * as path from 'node:path';
import { orUndefined, ToolError } from '../../agent/base/errors.ts';
import { StalePreviewError } from '../../agent/hold/preview/errors.ts';
import { sha256, type Sha256 } from '../../agent/base/hash.ts';
import { fileIdOf, realPathSync } from '../../agent/base/system/realPath.ts';
import { isTransient, patiently } from '../../agent/base/system/replaceFile.ts';
import { MAX_FILE_BYTES } from '../../agent/hold/preview/workspace.ts';
import { errorCode, ifExists, moveToNew, withTemporaryFile, writeFrom } from './temporaryFile.ts';

/**
 * Single files on disk. Everything is synchronous: a call through Node's thread pool costs several times as much as the
 * operation itself, and no other code of this process can run between a check and the write that relies on it. Callers that
 * work on many files yield in between (`TimeSlice`).
 */

/**
 * Reads or writes a file that another program may have open: if that fails, all of `work` is retried for a moment.
 * @param options for tests.
 * @throws a file system error that says so if the other program keeps the file open; any other error of `work`.
 */
export async function whileOthersHaveIt<T>(
  shown: string,
  work: () => T,
  options: Parameters<typeof patiently>[1] = {},
): Promise<T> {
  try {
    return await patiently(work, options);
  } catch (error) {
    if (!isTransient(error, options.platform)) throw error;
    const text = `${shown} is open in another program, or may not be changed. Close it there and try again`;
    throw Object.assign(new Error(text, { cause: error }), { code: errorCode(error) });
  }
}

/** Opens without waiting for a writer: another program may have put a pipe in the file's place. */
const AT_ONCE = fs.constants.O_NONBLOCK ?? 0;

/**
 * The bytes of a regular file; `undefined` if it does not exist.
 * @param onOpened gets the real location of the file that is read: links above it may have been put there meanwhile.
 * @throws ToolError for folders, devices and files over 5 MB.
 */
export function readDiskFile(
  file: string,
  shown: string,
  onOpened?: (real: string) => void,
): Uint8Array | undefined {
  // Checked before opening, too: opening a device may have effects.
  const found = statBehindLinks(file, shown);
  if (!found) return undefined;
  assertRegular(found, shown);
  const handle = ifExists(() => fs.openSync(file, fs.constants.O_RDONLY | AT_ONCE));
  if (handle === undefined) return undefined;
  try {
    const opened = fs.fstatSync(handle);
    assertRegular(opened, shown);
    onOpened?.(
      process.platform === 'linux' ? fs.readlinkSync(`/proc/self/fd/${handle}`) : realPathSync(file),
    );
    return readAll(handle, opened.size, shown);
  } finally {
    fs.closeSync(handle);
  }
}

/** Status of the file that a path leads to; `undefined` if nothing is there. @throws ToolError for a link without a target */
function statBehindLinks(file: string, shown: string): fs.Stats | undefined {
  try {
    const found = ifExists(() => fs.statSync(file));
    if (found || !ifExists(() => fs.lstatSync(file))?.isSymbolicLink()) return found;
  } catch (error) {
    if (errorCode(error) !== 'ELOOP') throw error;
    throw new ToolError(`${shown} is a symbolic link that leads to itself`, { cause: error });
  }
  throw new ToolError(`${shown} is a symbolic link that leads nowhere`);
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

export interface DiskWriteOptions {
  /** Permission bits that the file gets. */
  readonly mode?: number | undefined;
  /** Called right before the file changes; throws to prevent that. */
  readonly guard?: () => void;
}

/**
 * Makes a file hold exactly `bytes`, or removes it for `null`, provided that it still holds the expected content. An existing
 * file is overwritten in place, as editors do: this keeps its mode, owner and hard links, and is many times faster than renaming
 * a new file over it, for which file systems wait for the disk. A crash in the middle leaves a torn write, which the caller's
 * journal must roll back (`isTornWrite`). A new file appears with its whole content at once.
 * @param expected the hash of the current content; `null` if the file must not exist.
 * @throws StalePreviewError if the content is another one; ToolError for removing a symlink, and for a read-only file that gets no
 *   other bits.
 */
export function writeDiskFile(
  file: string,
  shown: string,
  bytes: Uint8Array | null,
  expected: Sha256 | null,
  { mode, guard = () => undefined }: DiskWriteOptions = {},
): void {
  if (bytes) assertSize(bytes.length, shown);
  const target = ifExists(() => realPathSync(file));
  if (target === undefined) {
    assertUnchanged(file, shown, expected);
    if (bytes !== null) createFile(file, shown, bytes, mode, guard);
    return;
  }
  const old = fs.statSync(target);
  // Checked before opening, as in `readDiskFile`.
  assertRegular(old, shown);
  const bits = old.mode & 0o7777;
  const isShut = (bits & 0o222) === 0;
  if (isShut && mode === undefined) throw readOnly(shown);
  try {
    if (isShut) fs.chmodSync(target, bits | 0o200);
    if (bytes === null) removeFile(file, target, shown, expected, guard);
    else overwrite(target, shown, bytes, expected, mode, guard);
  } catch (error) {
    if (isShut) orUndefined(() => fs.chmodSync(target, bits));
    throw error;
  }
}

function removeFile(
  file: string,
  target: string,
  shown: string,
  expected: Sha256 | null,
  guard: () => void,
): void {
  if (fs.lstatSync(file).isSymbolicLink()) {
    throw new ToolError(`${shown} is a symbolic link, which Redline cannot remove or rename`);
  }
  assertWritable(target, shown);
  assertUnchanged(target, shown, expected);
  guard();
  fs.unlinkSync(target);
}

/** Overwrites a regular file. If that fails midway, the old content is written back. */
function overwrite(
  target: string,
  shown: string,
  bytes: Uint8Array,
  expected: Sha256 | null,
  mode: number | undefined,
  guard: () => void,
): void {
  const handle = openForWriting(target, shown);
  try {
    const found = fs.fstatSync(handle);
    assertRegular(found, shown);
    const old = readAll(handle, found.size, shown);
    if (sha256(old) !== expected) throw new StalePreviewError([shown]);
    guard();
    // Another program may have put another file in its place, and this one may be only its backup.
    const now = ifExists(() => fs.statSync(target, { bigint: true }));
    if (!now || fileIdOf(now) !== fileIdOf(fs.fstatSync(handle, { bigint: true })))
      throw new StalePreviewError([shown]);
    // Before the content, so that a failure leaves the file as it was.
    if (mode !== undefined && (found.mode & 0o7777) !== mode) fs.fchmodSync(handle, mode);
    try {
      // The part beyond the old length goes first: if the disk is full, that fails before any old content is overwritten.
      writeFrom(handle, bytes, old.length);
      writeFrom(handle, bytes.subarray(0, old.length), 0);
      if (bytes.length < old.length) fs.ftruncateSync(handle, bytes.length);
    } catch (error) {
      restoreContent(handle, old);
      if (mode !== undefined) fs.fchmodSync(handle, found.mode & 0o7777);
      throw error;
    }
  } finally {
    fs.closeSync(handle);
  }
}

function openForWriting(target: string, shown: string): number {
  try {
    return fs.openSync(target, fs.constants.O_RDWR | AT_ONCE);
  } catch (error) {
    throw READ_ONLY_CODES.includes(errorCode(error)) && !isTransient(error) ? readOnly(shown) : error;
  }
}

function restoreContent(handle: number, old: Uint8Array): void {
  try {
    fs.ftruncateSync(handle, old.length);
    writeFrom(handle, old, 0);
  } catch {
    // The write stays torn. The caller reads the file again and reports it.
  }
}

/** Creates a file. One that has appeared in the meantime is never overwritten. */
function createFile(
  file: string,
  shown: string,
  bytes: Uint8Array,
  mode: number | undefined,
  guard: () => void,
): void {
  makeFoldersAbove(file, shown);
  withTemporaryFile(file, bytes, { mode }, temporary => {
    guard();
    if (!moveToNew(temporary, file)) throw new StalePreviewError([shown]);
  });
}

/** @throws ToolError if a file stands in the way. */
export function makeFoldersAbove(file: string, shown: string): void {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
  } catch (error) {
    if (!['EEXIST', 'ENOTDIR'].includes(errorCode(error))) throw error;
    throw new ToolError(`a file stands where a folder of ${shown} would be`);
  }
}

function assertRegular(found: fs.Stats, shown: string): void {
  if (found.isDirectory()) throw new ToolError(`${shown} is a folder, not a file.`);
  if (!found.isFile()) throw new ToolError(`${shown} is not a regular file.`);
}

function assertSize(size: number, shown: string): void {
  if (size <= MAX_FILE_BYTES) return;
  const megabytes = (size / 1024 / 1024).toFixed(1);
  throw new ToolError(`${shown} is ${megabytes} MB; files over 5 MB cannot be read or edited.`);
}

function assertUnchanged(file: string, shown: string, expected: Sha256 | null): void {
  const bytes = readDiskFile(file, shown);
  if ((bytes ? sha256(bytes) : null) !== expected) throw new StalePreviewError([shown]);
}

/** Refuses to remove a read-only file, although permission to write to its folder would be enough. */
function assertWritable(file: string, shown: string): void {
  try {
    fs.accessSync(file, fs.constants.W_OK);
  } catch {
    throw readOnly(shown);
  }
}

const READ_ONLY_CODES = ['EACCES', 'EPERM', 'EROFS'];

export function readOnly(shown: string): ToolError {
  return new ToolError(`${shown} is read-only`);
}
