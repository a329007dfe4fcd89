import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import {
  access,
  chmod,
  constants,
  link,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import * as path from 'node:path';
import { StalePreviewError, ToolError } from '../../agent/base/errors.ts';
import { sha256, type Sha256 } from '../../agent/base/hash.ts';

/** Files above this size are refused. */
const MAX_BYTES = 5 * 1024 * 1024;

/**
 * The bytes of a regular file; `undefined` when there is none.
 * @throws ToolError for folders, devices and files over 5 MB.
 */
export async function readDiskFile(file: string, shown: string): Promise<Uint8Array | undefined> {
  const found = await stat(file).catch(ignoreMissing);
  if (!found) return undefined;
  assertRegular(found, shown);
  if (found.size > MAX_BYTES) {
    throw new ToolError(
      `${shown} has ${(found.size / 1024 / 1024).toFixed(1)} MB; files over 5 MB cannot be read or edited.`,
    );
  }
  return readFile(file);
}

/**
 * Makes a file hold exactly `bytes`, or be absent for `null`, if it still holds what is expected. A reader sees the old
 * or the new bytes, never a part: they are written beside the file and renamed over it. Mode bits are kept, and a symlink
 * stays one.
 * @param guard called right before the change happens; throws to prevent it.
 * @throws StalePreviewError when it holds something else.
 */
export async function writeDiskFile(
  file: string,
  shown: string,
  bytes: Uint8Array | null,
  expected: Sha256 | null,
  guard: () => void,
): Promise<void> {
  const target = await realpath(file).catch(ignoreMissing);
  if (!target) {
    await assertStill(file, shown, expected);
    if (bytes === null) return;
    await mkdir(path.dirname(file), { recursive: true });
    return createFile(file, bytes, guard);
  }
  await assertWritable(target, shown);
  if (bytes === null) {
    await assertStill(target, shown, expected);
    guard();
    return rm(file);
  }
  const { mode } = await stat(target);
  const temporary = temporaryOf(target);
  try {
    await writeFile(temporary, bytes, { mode: mode & 0o777, flag: 'wx' });
    await chmod(temporary, mode & 0o7777); // the umask took bits away
    await assertStill(target, shown, expected);
    guard();
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes a new file with all of its content at once; fails if there is one. */
async function createFile(file: string, bytes: Uint8Array, guard: () => void): Promise<void> {
  const temporary = temporaryOf(file);
  try {
    await writeFile(temporary, bytes, { flag: 'wx' });
    guard();
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      // Some file systems have no hard links.
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(error.code ?? '')) throw error;
      return writeFile(file, bytes, { flag: 'wx' });
    });
  } finally {
    await rm(temporary, { force: true });
  }
}

/** A new name beside the file, for what is not yet whole. */
function temporaryOf(file: string): string {
  return path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID().slice(0, 8)}.redline`);
}

/** Removes what a process that was killed while it wrote the file left beside it. */
export async function removeLeftovers(file: string): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const folder = path.dirname(target);
  const [head, tail] = [`.${path.basename(target)}.`, '.redline'];
  const names = await readdir(folder).catch(() => [] as string[]);
  const left = names.filter(
    name =>
      name.startsWith(head) &&
      name.endsWith(tail) &&
      /^[0-9a-f]{8}$/.test(name.slice(head.length, -tail.length)),
  );
  for (const name of left) await rm(path.join(folder, name), { force: true });
}

async function assertStill(file: string, shown: string, expected: Sha256 | null): Promise<void> {
  const bytes = await readDiskFile(file, shown);
  if ((bytes ? sha256(bytes) : null) !== expected) throw new StalePreviewError([shown]);
}

function assertRegular(found: Stats, shown: string): void {
  if (found.isDirectory()) throw new ToolError(`${shown} is a folder, not a file.`);
  if (!found.isFile()) throw new ToolError(`${shown} is not a regular file.`);
}

/**
 * A read-only file is left alone, although a rename would get past its mode bits; and a rename over a device would
 * take it away from the whole system, so nothing is even written beside one.
 */
async function assertWritable(file: string, shown: string): Promise<void> {
  const found = await stat(file);
  assertRegular(found, shown);
  const permitted =
    (found.mode & 0o222) !== 0 &&
    (await access(file, constants.W_OK).then(
      () => true,
      () => false,
    ));
  if (!permitted) throw new ToolError(`${shown} is read-only`);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
