/** Copies the files of a folder in a thread of its own: one call for each step is several times faster than promises. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { hasCode } from '../../base/errors.ts';
import { openFlags } from '../view/openFolders.ts';

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
  /** Files that the user may not read. */
  readonly unreadable: readonly string[];
  /** More than allowed; then not all is copied. */
  readonly bytes: number;
}

const { constants } = fs;
const isLinux = process.platform === 'linux';

/** One folder of a tree at a time, held open, so that no link in its path is followed: see `OpenFolders`. */
class HeldFolder {
  readonly #root: string;
  #relative: string | undefined;
  #descriptor: number | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** A path to the folder. @throws the error of the system, ENOTDIR for a link */
  at(relative: string): string {
    if (relative !== this.#relative) this.#open(relative);
    return this.#descriptor === undefined
      ? path.join(this.#root, relative)
      : `/proc/self/fd/${this.#descriptor}`;
  }

  close(): void {
    if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#relative = undefined;
  }

  #open(relative: string): void {
    this.close();
    const names = relative === '.' ? [] : relative.split('/');
    let at = this.#root;
    for (const name of ['', ...names]) {
      at = name === '' ? at : `${at}/${name}`;
      if (!isLinux && !fs.lstatSync(at).isDirectory())
        throw Object.assign(new Error('It is not a folder.'), { code: 'ENOTDIR' });
      if (!isLinux) continue;
      const opened = fs.openSync(at, openFlags);
      if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor);
      this.#descriptor = opened;
      at = `/proc/self/fd/${opened}`;
    }
    this.#relative = relative;
  }
}

function copyFiles({ from, to, files, bytes: most }: FreezeOrder): FreezeResult {
  const [real, copy] = [new HeldFolder(from), new HeldFolder(to)];
  const unreadable: string[] = [];
  let bytes = 0;
  const allow = (size: number): boolean => (bytes += size) <= most;
  for (const file of files) {
    const [folder, name] = [path.posix.dirname(file), path.posix.basename(file)];
    try {
      if (!copyOne(`${real.at(folder)}/${name}`, () => `${copy.at(folder)}/${name}`, allow)) break;
    } catch (error) {
      if (hasCode(error, 'EACCES')) unreadable.push(file);
      // It has gone meanwhile, or a link or a file is in the place of its folder.
      else if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO')) throw error;
    }
  }
  real.close();
  copy.close();
  return { unreadable, bytes };
}

/** @returns false if it is too much */
function copyOne(from: string, to: () => string, allow: (size: number) => boolean): boolean {
  const stat = fs.lstatSync(from);
  if (stat.isSymbolicLink()) {
    const target = fs.readlinkSync(from);
    // On Windows, links to folders need no privilege only as junctions, which are absolute.
    const isJunction = process.platform === 'win32' && path.isAbsolute(target);
    fs.symlinkSync(target, to(), isJunction ? 'junction' : undefined);
  }
  if (!stat.isFile()) return true;
  const file = fs.openSync(
    from,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  );
  try {
    const found = fs.fstatSync(file);
    if (!found.isFile()) return true;
    if (!allow(found.size)) return false;
    const at = to();
    fs.copyFileSync(
      isLinux ? `/proc/self/fd/${file}` : from,
      at,
      constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL,
    );
    if ((found.mode & 0o7000) !== 0) fs.chmodSync(at, found.mode & 0o777);
    try {
      fs.lutimesSync(at, found.atimeMs / 1000, found.mtimeMs / 1000);
    } catch {
      // Its time is that of the copy.
    }
    return true;
  } finally {
    fs.closeSync(file);
  }
}

parentPort?.postMessage(copyFiles(workerData as FreezeOrder));
