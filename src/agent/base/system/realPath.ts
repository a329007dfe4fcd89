import * as fs from 'node:fs';
import * as path from 'node:path';
import { promisify } from 'node:util';
import type { BigIntStats } from 'node:fs';
import { hasCode } from '../errors.ts';

/** Errors of Windows on RAM disks and virtual disks, which do not report the full path of a file. */
const NOT_ASKED = ['EISDIR', 'EINVAL', 'ENOSYS', 'UNKNOWN'];

const walkLinks = promisify(fs.realpath);

/**
 * The path with links followed, spelled as the file system spells it. On a disk that does not report that, the links are followed
 * one by one, and the spelling stays.
 * @param ask asks the system; for tests.
 * @throws the error of the file system if the path does not exist.
 */
export function realPathSync(file: string, ask: (file: string) => string = fs.realpathSync.native): string {
  try {
    return ask(file);
  } catch (error) {
    if (hasCode(error, ...NOT_ASKED)) return fs.realpathSync(file);
    throw error;
  }
}

/** Like {@link realPathSync}; for files on disks that may not respond. */
export async function realPath(
  file: string,
  ask: (file: string) => Promise<string> = fs.promises.realpath,
): Promise<string> {
  try {
    return await ask(file);
  } catch (error) {
    if (hasCode(error, ...NOT_ASKED)) return walkLinks(file);
    throw error;
  }
}

/** Like {@link realPathSync}; for a missing file, the real path of its folder, and its name. */
export function realPlaceSync(file: string): string {
  try {
    return realPathSync(file);
  } catch {
    const folder = path.dirname(file);
    return folder === file ? file : path.join(realPlaceSync(folder), path.basename(file));
  }
}

/** Like {@link realPlaceSync}; for files on disks that may not respond. */
export async function realPlace(file: string): Promise<string> {
  try {
    return await realPath(file);
  } catch {
    const folder = path.dirname(file);
    return folder === file ? file : path.join(await realPlace(folder), path.basename(file));
  }
}

/**
 * An identity that all names of a file share, through links, hard links and other spellings, and no other file has.
 * `undefined` where the system does not identify files.
 */
export function fileIdOf({ dev, ino }: BigIntStats): string | undefined {
  return ino === 0n ? undefined : `${dev}:${ino}`;
}

/**
 * Whether an absolute path is a folder itself or inside it, judged by the text alone.
 * @param paths those of the platform; for tests.
 */
export function isInside(file: string, folder: string, paths: path.PlatformPath = path): boolean {
  const relative = paths.relative(folder, file);
  // A name may begin with two dots.
  return relative !== '..' && !relative.startsWith(`..${paths.sep}`) && !paths.isAbsolute(relative);
}
