import { constants, type Dirent } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited } from '../../base/async.ts';
import { gitFoldersOf } from '../sandbox/bubblewrap.ts';
import { ignoredOf } from '../sandbox/ignored.ts';
import { privateGit, type ShownFolder } from './privateGit.ts';

/** How many files are copied concurrently. */
const AT_ONCE = 16;
/** A folder that git ignores and that holds no more than this, in entries and bytes, is copied like a file. */
const SMALL_ENTRIES = 200;
const SMALL_BYTES = 8 * 1024 * 1024;
/** The most overlays of ignored folders; further ones are copied. */
const MAX_OVERLAYS = 64;
/** In how many entries files of another owner are looked for. */
const MAX_PROBED = 2_000;

/** There is more to copy than is allowed. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** The most that is copied. */
export interface CopyLimits {
  readonly bytes: number;
  readonly files: number;
}

/** What stands for a folder of the workspace while an agent works in it for long. */
export interface Frozen {
  /** Ignored folders, such as dependencies, relative to the folder: each becomes an overlay of its own. */
  readonly ignored: readonly string[];
  /** What is shown read-only, relative to the folder: the objects of git. */
  readonly shown: readonly ShownFolder[];
  /** Other folders that git reads. */
  readonly readable: readonly string[];
  /** Ignored folders in which files belong to another owner or group, which cannot be changed. */
  readonly foreign: readonly string[];
  /** Files and folders that may not be read: they are not in the copy. */
  readonly unreadable: readonly string[];
}

/**
 * Copies a folder of the workspace as it is now, without the large folders that git ignores: an overlay may live for long only over
 * what does not change meanwhile. Git's objects are not copied, as they never change.
 * @param root absolute, links followed
 * @param to a folder that does not exist yet
 * @throws TooLargeError, and the error of the system if the disk is full, for example
 */
export async function freezeFolder(root: string, to: string, limits: CopyLimits): Promise<Frozen> {
  const unreadable: string[] = [];
  const { files, folders, ignored, repositories } = await entriesOf(root, unreadable);
  const large: string[] = [];
  for (const folder of ignored) {
    const below = await filesBelow(root, folder, unreadable);
    if (!below && large.length < MAX_OVERLAYS) large.push(folder);
    else {
      const all = below ?? (await filesBelow(root, folder, unreadable, limits));
      if (!all) throw new TooLargeError(folder);
      files.push(...all.files);
      folders.push(...all.folders);
    }
  }
  if (files.length > limits.files) throw new TooLargeError(`${files.length} files`);
  await fs.mkdir(to);
  // Those above come first.
  for (const folder of [...folders, ...large]) await fs.mkdir(path.join(to, folder), { recursive: true });
  let bytes = 0;
  await forEachLimited(files, AT_ONCE, async file => {
    const copied = await readable(file, unreadable, () =>
      copyEntry(path.join(root, file), path.join(to, file)),
    );
    bytes += copied ?? 0;
    if (bytes > limits.bytes) throw new TooLargeError(`${bytes} bytes`);
  });
  // A folder may forbid what was just done in it.
  for (const folder of folders.toReversed()) {
    const stat = await fs.lstat(path.join(root, folder)).catch(() => undefined);
    if (stat) await fs.chmod(path.join(to, folder), (stat.mode & 0o777) | 0o700);
  }
  const shown: ShownFolder[] = [];
  const gitFolders = [...gitFoldersOf(root)];
  for (const repository of repositories) {
    const made = await privateGit(root, to, repository);
    shown.push(...made.shown);
    gitFolders.push(...made.readable);
  }
  const foreign: string[] = [];
  for (const folder of large) if (await holdsForeign(path.join(root, folder))) foreign.push(folder);
  return { ignored: large, shown, readable: gitFolders, foreign, unreadable: [...new Set(unreadable)] };
}

interface Entries {
  readonly files: string[];
  readonly folders: string[];
  readonly ignored: readonly string[];
  /** The folders that have a `.git` folder; an empty string is the root. */
  readonly repositories: readonly string[];
}

/** Everything in a folder, level by level, so that git is asked once for each. Nothing below an ignored folder is looked at. */
async function entriesOf(root: string, unreadable: string[]): Promise<Entries> {
  const files: string[] = [];
  const folders: string[] = [];
  const ignored: string[] = [];
  const repositories: string[] = [];
  for (let level = ['']; level.length > 0;) {
    const found: { readonly path: string; readonly isFolder: boolean }[] = [];
    for (const folder of level)
      for (const entry of await namesOf(root, folder, unreadable)) {
        const isFolder = entry.isDirectory();
        if (entry.name === '.git' && isFolder) {
          repositories.push(folder);
          continue;
        }
        if (!isFolder && !entry.isFile() && !entry.isSymbolicLink()) continue;
        found.push({ path: folder === '' ? entry.name : `${folder}/${entry.name}`, isFolder });
      }
    const asked = found.map(({ path: at, isFolder }) => (isFolder ? `${at}/` : at));
    const hidden = await ignoredOf(root, asked);
    level = [];
    for (const [n, { path: at, isFolder }] of found.entries()) {
      if (!isFolder) files.push(at);
      else if (hidden.has(asked[n] ?? '')) ignored.push(at);
      else {
        folders.push(at);
        level.push(at);
      }
    }
  }
  return { files, folders, ignored, repositories };
}

/** What is in a folder, with it; `undefined` once there is more than that. */
async function filesBelow(
  root: string,
  folder: string,
  unreadable: string[],
  limits: CopyLimits = { files: SMALL_ENTRIES, bytes: SMALL_BYTES },
): Promise<{ readonly files: readonly string[]; readonly folders: readonly string[] } | undefined> {
  const files: string[] = [];
  const folders = [folder];
  let bytes = 0;
  for (const at of folders)
    for (const entry of await namesOf(root, at, unreadable)) {
      const each = `${at}/${entry.name}`;
      if (entry.isDirectory()) folders.push(each);
      else if (entry.isFile() || entry.isSymbolicLink()) {
        files.push(each);
        bytes += (await fs.lstat(path.join(root, each))).size;
      }
      if (files.length + folders.length > limits.files || bytes > limits.bytes) return undefined;
    }
  return { files, folders };
}

async function namesOf(root: string, folder: string, unreadable: string[]): Promise<readonly Dirent[]> {
  const list = (): Promise<Dirent[]> => fs.readdir(path.join(root, folder), { withFileTypes: true });
  return (await readable(folder, unreadable, list)) ?? [];
}

/** Reads something, or notes that it may not be read. */
async function readable<T>(
  relative: string,
  unreadable: string[],
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error;
    unreadable.push(relative);
    return undefined;
  }
}

/** @returns how many bytes it had */
async function copyEntry(from: string, to: string): Promise<number> {
  const stat = await fs.lstat(from);
  if (stat.isSymbolicLink()) {
    await fs.symlink(await fs.readlink(from), to);
    return 0;
  }
  await fs.copyFile(from, to, constants.COPYFILE_FICLONE);
  await fs.chmod(to, stat.mode & 0o777);
  // Tools that build compare times.
  await fs.utimes(to, stat.atime, stat.mtime);
  return stat.size;
}

/** Whether it holds files that a user namespace cannot map: those of another owner or group. Root maps all. */
async function holdsForeign(folder: string): Promise<boolean> {
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  if (user === 0) return false;
  let probed = 0;
  const isForeign = async (at: string): Promise<boolean> => {
    if (++probed > MAX_PROBED) return false;
    const stat = await fs.lstat(at);
    if (stat.uid !== user || stat.gid !== group) return true;
    if (!stat.isDirectory()) return false;
    for (const name of await fs.readdir(at)) if (await isForeign(path.join(at, name))) return true;
    return false;
  };
  return isForeign(folder).catch(() => true);
}
