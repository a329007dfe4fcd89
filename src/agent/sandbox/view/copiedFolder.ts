import * as fs from 'node:fs/promises';
import { foldersAbove } from '../../hold/preview/fileSteps.ts';
import { folderId, type FolderId } from './openFolders.ts';
import type { OwnFolder } from './ownFolder.ts';
import { inTrees, PlainTree } from './plainTree.ts';
import { ignoredOf } from './ignored.ts';
import { clearOdd, stampOf, type Odd, type Stamp, type Stamps } from './stamps.ts';
import type { Layer } from './upperTree.ts';

/** A folder of the workspace and its copy. */
export interface Copied {
  readonly layer: Layer;
  readonly root: string;
  readonly copy: string;
  /** Tells the copy from a folder that a command has put in its place. */
  id: FolderId | undefined;
  /** The stamp that each path had on disk when it was copied. */
  readonly source: Map<string, Stamp>;
  /** The stamp of each path of the copy at the end of the last command, or when it was put there since; `undefined`: not known. */
  put: Map<string, Stamp> | undefined;
  /** The entries in its ignored folders at that time whose names are not UTF-8. */
  odd: ReadonlyMap<string, Odd>;
  /** No command has left anything in it, so that files keep their times on disk; else copied files are newer than all others. */
  isFresh: boolean;
  /** Paths that git ignores and commands have changed. */
  readonly ignored: Set<string>;
}

/** A folder with nothing copied yet. */
export function copied(layer: Layer, root: string, copy: string): Copied {
  const none = { source: new Map(), put: undefined, odd: new Map(), ignored: new Set<string>() };
  return { layer, root, copy, id: undefined, isFresh: true, ...none };
}

/** Opens the folder of a copy, made anew if another one or a link stands in its place. @throws ReplacedError */
export async function openCopy(folder: Copied, storage: OwnFolder): Promise<PlainTree> {
  const { copy } = folder;
  if (await isStill(folder)) return new PlainTree(copy, folder.id);
  forget(folder);
  const at = storage.seenFromAbove(copy);
  await inTrees([await storage.above()], async tree => {
    await tree.clear(at);
    await tree.makeFolders(at);
    folder.id = await tree.at(at, folderId);
  });
  return new PlainTree(copy, folder.id);
}

/** Records that nothing is in the copy any more. */
export function forget(folder: Copied): void {
  folder.source.clear();
  folder.ignored.clear();
  folder.put = folder.id = undefined;
  folder.odd = new Map();
  folder.isFresh = true;
}

/**
 * Removes from a copy what commands left under names that are not UTF-8, and folders that are empty and not on disk.
 * @param found the entries of the copy
 * @param keepsIgnored they stay in folders that git ignores
 * @returns the entries with such names that stay
 */
export async function removeLeftovers(
  { root, source }: Copied,
  [real, copy]: readonly [real: PlainTree, copy: PlainTree],
  { folders, odd }: Omit<Stamps, 'put'>,
  keepsIgnored: boolean,
): Promise<ReadonlyMap<string, Odd>> {
  const onDisk = new Set<string>();
  for (const [file, stamp] of source)
    if (stamp !== '')
      for (const at of foldersAbove(file)) {
        if (onDisk.has(at)) break;
        onDisk.add(at);
      }
  const others = [...folders].filter(at => !onDisk.has(at) && !/(^|\/)\.git(\/|$)/.test(at));
  const asked = [...others, ...[...odd.values()].map(({ folder }) => folder).filter(at => at !== '')];
  const ignored = await ignoredOf(root, keepsIgnored ? asked.map(at => `${at}/`) : []);
  const kept = new Map<string, Odd>();
  for (const [name, each] of odd)
    if (ignored.has(`${each.folder}/`)) kept.set(name, each);
    else await clearOdd(copy, each);
  for (const at of others.toSorted().toReversed())
    if (!ignored.has(`${at}/`) && !(await real.stat(at))?.isDirectory())
      await copy.at(at, each => fs.rmdir(each).catch(() => undefined));
  return kept;
}

/** Whether the copy itself is still at its path, and not something that a command has put there. */
export async function isStill({ copy, id }: Copied): Promise<boolean> {
  const now = await folderId(copy).catch(() => undefined);
  return now !== undefined && now.dev === id?.dev && now.ino === id.ino;
}

/** Removes the file or folder at a path of the copy. After a folder, `put` is not known any more. */
export async function clear(folder: Copied, copy: PlainTree, relative: string): Promise<void> {
  const stat = await copy.stat(relative);
  if (stat?.isDirectory()) folder.put = undefined;
  if (stat) await copy.clear(relative);
}

/** Records the file that was put at a path of the copy. */
export async function note({ put }: Copied, copy: PlainTree, at: string): Promise<void> {
  if (!put) return;
  const stat = await copy.stat(at);
  if (stat && !stat.isDirectory()) put.set(at, stampOf(stat));
  else put.delete(at);
}

/**
 * Folders that are gone from the disk; none unless commands have left ignored files in the copy.
 * @param gone files that were copied and are gone
 */
export async function foldersGone(
  { ignored, source }: Copied,
  real: PlainTree,
  gone: readonly string[],
): Promise<readonly string[]> {
  if (ignored.size === 0) return [];
  const folders = new Set(gone.filter(at => source.get(at) !== '').flatMap(foldersAbove));
  for (const at of folders) if (await real.stat(at)) folders.delete(at);
  return [...folders];
}
