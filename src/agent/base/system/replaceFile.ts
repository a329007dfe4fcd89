import { renameSync } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../errors.ts';

/** How long to wait for other programs to close the file, and how long between two attempts, in milliseconds. */
const PATIENCE = 2_000;
const POLL = 20;

/**
 * Moves a file, and replaces any file at the target, as soon as no other program has either file open: see {@link patiently}.
 * @throws the last error of the file system.
 */
export function replaceFile(
  from: string,
  to: string,
  {
    move = rename,
    platform = process.platform,
    patience = PATIENCE,
  }: {
    readonly move?: (from: string, to: string) => void | Promise<void>;
    readonly platform?: NodeJS.Platform;
    readonly patience?: number;
  } = {},
): Promise<void> {
  return patiently(() => move(from, to), { platform, patience });
}

/**
 * Does something to a file that other programs may have open. Windows refuses that while they do; a virus scanner or another window
 * soon closes the file, so the work is retried for two seconds.
 * @throws the last error of the file system.
 */
export async function patiently<T>(
  work: () => T | Promise<T>,
  { platform = process.platform, patience = PATIENCE } = {},
): Promise<T> {
  const until = performance.now() + patience;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error, platform) || performance.now() >= until) throw error;
    }
    await delay(POLL);
  }
}

/** Whether another program may just have the file open, which Windows answers with several errors. */
export function isTransient(error: unknown, platform: NodeJS.Platform = process.platform): boolean {
  return hasCode(error, 'EBUSY') || (platform === 'win32' && hasCode(error, 'EPERM', 'EACCES'));
}

/**
 * Writes a file beside another one and then in its place.
 * @param before awaited before that
 * @param last completes the file beside it in the moment in which that takes its place, and again at each new attempt; nothing makes
 *   these bytes survive a power cut
 * @throws any error of the file system; then the file is as it was
 */
export async function replaceContent(
  file: string,
  content: Iterable<Buffer> | AsyncIterable<string | Buffer>,
  {
    before,
    last,
  }: {
    readonly before?: () => Promise<void> | undefined;
    readonly last?: ((temporary: string) => void) | undefined;
  } = {},
): Promise<void> {
  const temporary = `${file}.new`;
  try {
    await writeFile(temporary, content);
    await syncFile(temporary, () => undefined);
    await before?.();
    const move = (from: string, to: string): void => {
      last?.(from);
      renameSync(from, to);
    };
    await replaceFile(temporary, file, { move });
    // Else a power cut may bring back the old file, whose last bytes are not flushed.
    await syncFolder(path.dirname(file));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/**
 * Makes the content of a file survive a power cut. Some systems flush only a file that is open for writing.
 * @param onFailure called at once if the disk refuses: a later sync proves nothing then, until the file is written again.
 */
export async function syncFile(file: string, onFailure: (error: unknown) => void): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.datasync();
  } catch (error) {
    onFailure(error);
    throw error;
  } finally {
    await handle.close();
  }
}

/** Makes the names in a folder survive a power cut, where the system can. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  try {
    const handle = await open(folder, 'r');
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EINVAL', 'ENOTSUP', 'EISDIR')) throw error;
  }
}
