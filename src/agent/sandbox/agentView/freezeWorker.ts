/** Copies the files of a folder in a thread of its own: promises for each step of a copy would take half as much time again. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { hasCode } from '../../base/errors.ts';
import { FILE, inTrees } from '../view/plainTree.ts';

/** Files to copy, with their permission bits and times; links stay links. */
export interface FreezeOrder {
  /** Absolute. */
  readonly from: string;
  /** Absolute; it has the folders already. */
  readonly to: string;
  /** Relative paths of files and links. Anything else there is left out. */
  readonly files: readonly string[];
  /** The most bytes. */
  readonly bytes: number;
}

export interface FreezeResult {
  /** Files that the copy lacks: the user may not read them, for example. */
  readonly unreadable: readonly string[];
  /** More than allowed; then not all is copied. */
  readonly bytes: number;
}

async function copyFiles({ from, to, files, bytes: most }: FreezeOrder): Promise<FreezeResult> {
  const unreadable: string[] = [];
  let bytes = 0;
  const allow = (size: number): boolean => (bytes += size) <= most;
  await inTrees([from, to], async (real, copy) => {
    for (const file of files)
      try {
        const isAllowed = await real.at(file, at =>
          copy.at(file, free => Promise.resolve(copyEntry(at, free, allow))),
        );
        if (isAllowed === false) return;
        // A file that has gone meanwhile is not missing, nor one whose folder is now a link or a file.
        if (isAllowed === undefined && (await real.stat(file))) unreadable.push(file);
      } catch (error) {
        if (!hasCode(error, 'EACCES')) throw error;
        unreadable.push(file);
      }
  });
  return { unreadable, bytes };
}

/** @returns false if it is too much */
function copyEntry(from: string, to: string, allow: (size: number) => boolean): boolean {
  const stat = fs.lstatSync(from);
  if (stat.isSymbolicLink()) {
    const target = fs.readlinkSync(from);
    // On Windows, links to folders need no privilege only as junctions, which are absolute.
    const isJunction = process.platform === 'win32' && path.isAbsolute(target);
    fs.symlinkSync(target, to, isJunction ? 'junction' : undefined);
  }
  if (!stat.isFile()) return true;
  const file = fs.openSync(from, FILE);
  try {
    const found = fs.fstatSync(file);
    if (!found.isFile()) return true;
    if (!allow(found.size)) return false;
    fs.copyFileSync(
      process.platform === 'linux' ? `/proc/self/fd/${file}` : from,
      to,
      fs.constants.COPYFILE_FICLONE | fs.constants.COPYFILE_EXCL,
    );
    if ((found.mode & 0o7000) !== 0) fs.chmodSync(to, found.mode & 0o777);
    try {
      fs.lutimesSync(to, found.atimeMs / 1000, found.mtimeMs / 1000);
    } catch {
      // Its time is that of the copy.
    }
    return true;
  } finally {
    fs.closeSync(file);
  }
}

parentPort?.postMessage(await copyFiles(workerData as FreezeOrder));
