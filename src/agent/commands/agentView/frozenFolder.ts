import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited } from '../../base/async.ts';
import { hasCode } from '../../base/errors.ts';
import { gitFoldersOf } from '../sandbox/bubblewrap.ts';
import { isMissing } from '../sandbox/effects.ts';
import { entriesOf, type Entry } from '../sandbox/entries.ts';
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
  /** Files and folders that may not be read, or whose names are not UTF-8: they are not in the copy. */
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
  const { files, folders, ignored, repositories } = await everythingIn(root, unreadable);
  const large: string[] = [];
  for (const folder of ignored) {
    const below = await filesBelow(root, folder);
    if (!below && large.length < MAX_OVERLAYS) large.push(folder);
    else {
      const all = below ?? (await filesBelow(root, folder, limits));
      if (!all) throw new TooLargeError(folder);
      for (const at of all.files) files.push(at);
      for (const at of all.folders) folders.push(at);
      unreadable.push(...all.unreadable);
    }
  }
  if (files.length > limits.files) throw new TooLargeError(`${files.length} files`);
  await fs.mkdir(to);
  // Those above come first.
  for (const folder of [...folders, ...large]) await fs.mkdir(path.join(to, folder), { recursive: true });
  let bytes = 0;
  const allow = (size: number): void => {
    bytes += size;
    if (bytes > limits.bytes) throw new TooLargeError(`${bytes} bytes`);
  };
  await forEachLimited(files, AT_ONCE, file =>
    readable(file, unreadable, () => copyEntry(path.join(root, file), path.join(to, file), allow)),
  );
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

interface Everything {
  readonly files: string[];
  readonly folders: string[];
  readonly ignored: readonly string[];
  /** The folders that have a `.git` folder; an empty string is the root. */
  readonly repositories: readonly string[];
}

/** Everything in a folder, level by level, so that git is asked once for each. Nothing below an ignored folder is looked at. */
async function everythingIn(root: string, unreadable: string[]): Promise<Everything> {
  const files: string[] = [];
  const folders: string[] = [];
  const ignored: string[] = [];
  const repositories: string[] = [];
  for (let level = ['']; level.length > 0;) {
    const found: { readonly path: string; readonly isFolder: boolean }[] = [];
    for (const folder of level)
      for (const { name, kind } of await entriesIn(root, folder, unreadable)) {
        const isFolder = kind === 'folder';
        if (name === '.git' && isFolder) repositories.push(folder);
        else found.push({ path: joined(folder, name), isFolder });
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

interface Below {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly unreadable: readonly string[];
}

/** What is in a folder, with it; `undefined` once there is more than that. */
async function filesBelow(
  root: string,
  folder: string,
  limits: CopyLimits = { files: SMALL_ENTRIES, bytes: SMALL_BYTES },
): Promise<Below | undefined> {
  const unreadable: string[] = [];
  const files: string[] = [];
  const folders = [folder];
  let bytes = 0;
  for (const at of folders)
    for (const { name, kind } of await entriesIn(root, at, unreadable)) {
      const each = joined(at, name);
      if (kind === 'folder') folders.push(each);
      else {
        files.push(each);
        const stat = await readable(each, unreadable, () => fs.lstat(path.join(root, each)));
        bytes += stat?.size ?? 0;
      }
      if (files.length + folders.length > limits.files || bytes > limits.bytes) return undefined;
    }
  return { files, folders, unreadable };
}

/** The files, links and folders in a folder. Those with a name that is not UTF-8 are noted instead. */
async function entriesIn(root: string, folder: string, unreadable: string[]): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  await readable(folder, unreadable, async () => {
    for await (const part of entriesOf(path.join(root, folder)))
      for (const entry of part)
        if (entry.kind === 'other') continue;
        else if (entry.isUtf8) found.push(entry);
        else unreadable.push(joined(folder, entry.name));
  });
  return found;
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Reads something, or notes that it may not be read. What has vanished since it was listed is not there. */
async function readable<T>(
  relative: string,
  unreadable: string[],
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (!hasCode(error, 'EACCES')) throw error;
    unreadable.push(relative);
    return undefined;
  }
}

/** @param allow throws if there is no room for so many bytes. */
async function copyEntry(from: string, to: string, allow: (bytes: number) => void): Promise<void> {
  const stat = await fs.lstat(from);
  if (stat.isSymbolicLink()) return fs.symlink(await fs.readlink(from), to);
  allow(stat.size);
  await fs.copyFile(from, to, constants.COPYFILE_FICLONE);
  await fs.chmod(to, stat.mode & 0o777);
  // Tools that build compare times.
  await fs.utimes(to, stat.atime, stat.mtime);
}

/** Whether it holds files that a user namespace cannot map: those of another owner or group. Root maps all. */
async function holdsForeign(folder: string): Promise<boolean> {
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  if (user === 0) return false;
  let probed = 0;
  const isForeign = async (at: Buffer): Promise<boolean> => {
    if (++probed > MAX_PROBED) return false;
    try {
      const stat = await fs.lstat(at);
      if (stat.uid !== user || stat.gid !== group) return true;
      if (!stat.isDirectory()) return false;
      for await (const part of entriesOf(at))
        for (const { bytes } of part)
          if (await isForeign(Buffer.concat([at, Buffer.from(path.sep), bytes]))) return true;
      return false;
    } catch (error) {
      return !isMissing(error);
    }
  };
  return isForeign(Buffer.from(folder));
}
