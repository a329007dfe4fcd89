import type { Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import { hasCode } from '../../base/errors.ts';
import { inWorker } from '../../base/inWorker.ts';
import { gitFoldersOf } from '../view/bubblewrap.ts';
import { isMissing } from '../view/effects.ts';
import { entriesOf, type Entry } from '../view/entries.ts';
import { ignoredOf } from '../view/ignored.ts';
import { inTrees, type PlainTree } from '../view/plainTree.ts';
import type { CopyLimits } from '../view/stamps.ts';
import type { FreezeOrder, FreezeResult } from './freezeWorker.ts';
import { privateGit, type ShownFolder } from './privateGit.ts';

/** How long copying may take, in milliseconds. */
const LONGEST_MS = 24 * 3_600_000;
/** Limits, in entries and bytes, up to which an ignored folder is copied like a file. */
const SMALL_ENTRIES = 200;
const SMALL_BYTES = 8 * 1024 * 1024;
/** The most overlays of ignored folders; further ones are copied. */
const MAX_OVERLAYS = 64;
/** The most entries in which files of another owner are looked for. */
const MAX_PROBED = 2_000;

/** How much may be copied, and how. */
export interface Freezing extends CopyLimits {
  /** The script of `freezeWorker.ts`. */
  readonly worker: string | URL;
}

/** There is more to copy than is allowed. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** The frozen copy of a workspace folder, in which an agent works for a long time. */
export interface Frozen {
  /** Ignored folders, such as dependencies, relative to the folder: each becomes an overlay of its own. */
  readonly ignored: readonly string[];
  /** Folders of git that are shown read-only: its objects, submodules and LFS files. */
  readonly shown: readonly ShownFolder[];
  /** Other folders that git reads. */
  readonly readable: readonly string[];
  /** Ignored folders in which files belong to another owner or group, which cannot be changed. */
  readonly foreign: readonly string[];
  /** Files and folders that the copy lacks: Redline may not read them, or their names are not UTF-8. */
  readonly unreadable: readonly string[];
}

/**
 * Copies a folder of the workspace as it is now, without the large folders that git ignores: a long-lived overlay needs a lower
 * tree that does not change. Git's objects are not copied, as they never change.
 * @param root absolute, links followed
 * @param to a folder that does not exist yet
 * @throws TooLargeError, and the error of the system if the disk is full, for example
 */
export function freezeFolder(root: string, to: string, limits: Freezing): Promise<Frozen> {
  return inTrees([root, to], (real, copy) => freeze(root, real, copy, to, limits));
}

async function freeze(
  root: string,
  real: PlainTree,
  copy: PlainTree,
  to: string,
  limits: Freezing,
): Promise<Frozen> {
  const unreadable: string[] = [];
  const { files, folders, ignored, repositories } = await everythingIn(root, real, unreadable);
  const large: string[] = [];
  for (const folder of ignored) {
    const below = await filesBelow(real, folder);
    if (!below && large.length < MAX_OVERLAYS) large.push(folder);
    else {
      const all = below ?? (await filesBelow(real, folder, limits));
      if (!all) throw new TooLargeError(folder);
      for (const at of all.files) files.push(at);
      for (const at of all.folders) folders.push(at);
      unreadable.push(...all.unreadable);
    }
  }
  if (files.length > limits.files) throw new TooLargeError(`${files.length} files`);
  await fs.mkdir(to);
  // Outer folders come first.
  for (const folder of [...folders, ...large]) await copy.makeFolders(folder);
  const order: FreezeOrder = { from: root, to, files, bytes: limits.bytes };
  const copied = await inWorker<FreezeResult>(limits.worker, order, { timeLimitMs: LONGEST_MS });
  if (!copied || copied.bytes > limits.bytes) throw new TooLargeError(`${copied?.bytes} bytes`);
  unreadable.push(...copied.unreadable);
  // The mode of a folder may forbid the changes just made in it.
  for (const folder of folders.toReversed()) {
    const stat = await real.stat(folder).catch(() => undefined);
    if (stat) await copy.setBits(folder, (stat.mode & 0o777) | 0o700);
  }
  const shown: ShownFolder[] = [];
  const gitFolders = [...gitFoldersOf(root)];
  for (const repository of repositories) {
    const made = await privateGit(root, real, copy, repository);
    shown.push(...made.shown);
    gitFolders.push(...made.readable);
  }
  const foreign: string[] = [];
  for (const folder of large) if (await holdsForeign(real, folder)) foreign.push(folder);
  return { ignored: large, shown, readable: gitFolders, foreign, unreadable: [...new Set(unreadable)] };
}

interface Everything {
  readonly files: string[];
  readonly folders: string[];
  readonly ignored: readonly string[];
  /** The folders that have a `.git` folder; an empty string is the root. */
  readonly repositories: readonly string[];
}

/** Lists a folder level by level, so that git is asked once for each. Ignored folders are not entered. */
async function everythingIn(root: string, real: PlainTree, unreadable: string[]): Promise<Everything> {
  const files: string[] = [];
  const folders: string[] = [];
  const ignored: string[] = [];
  const repositories: string[] = [];
  for (let level = ['']; level.length > 0;) {
    const found: { readonly path: string; readonly isFolder: boolean }[] = [];
    for (const folder of level)
      for (const { name, kind } of await entriesIn(real, folder, unreadable)) {
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

/** The folder and everything in it; `undefined` if that exceeds the limits. */
async function filesBelow(
  real: PlainTree,
  folder: string,
  limits: CopyLimits = { files: SMALL_ENTRIES, bytes: SMALL_BYTES },
): Promise<Below | undefined> {
  const unreadable: string[] = [];
  const files: string[] = [];
  const folders = [folder];
  let bytes = 0;
  for (const at of folders)
    for (const { name, kind } of await entriesIn(real, at, unreadable)) {
      const each = joined(at, name);
      if (kind === 'folder') folders.push(each);
      else {
        files.push(each);
        const stat = await readable(each, unreadable, () => real.stat(each));
        bytes += stat?.size ?? 0;
      }
      if (files.length + folders.length > limits.files || bytes > limits.bytes) return undefined;
    }
  return { files, folders, unreadable };
}

/** The files, links and folders in a folder. Entries whose names are not UTF-8 are noted instead. */
async function entriesIn(real: PlainTree, folder: string, unreadable: string[]): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  await readable(folder, unreadable, async () => {
    for await (const part of real.parts(folder))
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

/** Reads something, or notes that it cannot be read; `undefined` then, and if it has vanished since it was listed. */
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

/** Whether it holds files that a user namespace cannot map: those of another owner or group. Root maps all. */
async function holdsForeign(real: PlainTree, folder: string): Promise<boolean> {
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  if (user === 0) return false;
  let probed = 0;
  const isForeign = (stat: Stats): boolean => stat.uid !== user || stat.gid !== group;
  const folders = [folder];
  try {
    const top = await real.stat(folder);
    if (top && isForeign(top)) return true;
    for (const at of folders) {
      const isFound = await real.in(at, async open => {
        for await (const part of entriesOf(open))
          for (const { bytes, name, isUtf8, kind } of part) {
            if (++probed > MAX_PROBED) return false;
            const stat = await fs.lstat(Buffer.concat([Buffer.from(`${open}/`), bytes])).catch(ifMissing);
            if (stat && isForeign(stat)) return true;
            if (kind === 'folder' && isUtf8) folders.push(`${at}/${name}`);
          }
        return false;
      });
      if (isFound ?? false) return true;
      if (probed > MAX_PROBED) break;
    }
    return false;
  } catch {
    return true;
  }
}

function ifMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
