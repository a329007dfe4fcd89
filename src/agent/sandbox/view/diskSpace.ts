import * as fs from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode, ToolError } from '../../base/errors.ts';

/** Milliseconds between two looks at the free space while a command runs. */
const WATCH_MS = 500;
/** How much a command may write, and how much of the disk it must leave free, in bytes: at most half of what was free before. */
const MOST_WRITTEN = 4 * 1024 ** 3;
const LEAST_FREE = 256 * 1024 ** 2;
/** How many files must still fit. */
const LEAST_FILES = 10_000;

/** Notes on why no ignored files are in the view any more. */
export const FREED = 'Ignored files were removed from the sandbox to free the disk.';
export const LOST = 'Ignored files were removed from the sandbox, since they could not be kept.';
export const OUTDATED =
  'Ignored files were removed from the sandbox: they may have been made from the changes that are lost.';

/** Whether an error means that a disk is full, or the user's quota. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT');
}

/** The free space on a disk. */
export interface Space {
  readonly bytes: number;
  readonly files: number;
}

/** The free space on the disk of a folder. */
export async function spaceAt(folder: string): Promise<Space> {
  const { bavail, bsize, files, ffree } = await fs.statfs(folder);
  // Some file systems do not count files.
  return { bytes: bavail * bsize, files: files === 0 ? Infinity : ffree };
}

/** File systems of Linux on which a copy takes no space: Btrfs, XFS and Bcachefs. */
const SHARING = [0x9123683e, 0x58465342, 0xca451a4e];

/**
 * Checks that a copy fits, before anything is written.
 * @param needed in bytes
 * @throws ToolError if it does not
 */
export async function assertFits(folder: string, needed: number): Promise<void> {
  const missing = await missingSpace(folder, needed);
  if (missing !== undefined)
    throw new ToolError(
      `The workspace cannot be copied: ${missing}. The outputs of earlier commands are still there. Nothing was run.`,
    );
}

/** Why a copy does not fit, in a clause; `undefined` if it does. @param needed in bytes */
export async function missingSpace(folder: string, needed: number): Promise<string | undefined> {
  const { type } = await fs.statfs(folder);
  const { bytes } = await spaceAt(folder);
  if (needed <= bytes || process.platform === 'darwin' || SHARING.includes(type)) return undefined;
  const text = (each: number): string => `${Math.ceil(each / 1024 ** 2).toLocaleString('en')} MB`;
  return `that needs ${text(needed)}, and ${text(bytes)} are free on the disk of the copy`;
}

/**
 * Ends a command that fills the disk.
 * @param before the free space before it began
 * @param ended fires when the command has ended
 * @returns a note on it if it has filled the disk
 */
export async function watchSpace(
  folder: string,
  before: Space,
  stop: () => void,
  ended: AbortSignal,
): Promise<string | undefined> {
  for (;;) {
    await delay(WATCH_MS, undefined, { signal: ended, ref: false }).catch(() => undefined);
    const now = await spaceAt(folder).catch(() => before);
    const isFull =
      before.bytes - now.bytes >= MOST_WRITTEN ||
      now.bytes < Math.min(LEAST_FREE, before.bytes / 2) ||
      now.files < Math.min(LEAST_FILES, before.files / 2);
    if (ended.aborted) return isFull ? 'It filled the disk.' : undefined;
    if (!isFull) continue;
    stop();
    return 'It was ended because it filled the disk.';
  }
}
