import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { sha256 } from '../../base/hash.ts';
import type { FileContent } from '../../hold/preview/workspace.ts';
import type { Found } from '../view/effects.ts';
import { ChangedError, inTrees, PlainTree } from '../view/plainTree.ts';
import type { Layer } from '../view/upperTree.ts';
import { STATUS_FILE } from './privateGit.ts';
import { copiesFolder, rootOf, treeOf, type ViewState } from './viewState.ts';

/** The most entries that are looked at to see whether something was written. */
const MAX_WATCHED = 250_000;

/**
 * A fingerprint of upper trees that changes if something was written.
 * @param isLeft whether to skip a path of a layer
 */
export async function fingerprintOf(
  layers: readonly (readonly [Layer, PlainTree])[],
  isLeft: (layer: Layer, at: string) => boolean,
): Promise<string> {
  let [count, size, latest, ids] = [0, 0n, 0n, 0n];
  const own = await statusLayer(layers.map(([layer]) => layer));
  const walk = async (layer: Layer, tree: PlainTree, relative: string): Promise<void> => {
    for await (const part of tree.parts(relative))
      for (const { name } of part) {
        const at = relative === '' ? name : `${relative}/${name}`;
        if (at === '.git' || (at === STATUS_FILE && layer === own) || isLeft(layer, at)) continue;
        if (++count > MAX_WATCHED) return;
        const stat = await tree.at(at, each => fs.lstat(each, { bigint: true }));
        if (!stat) continue;
        if (stat.ctimeNs > latest) latest = stat.ctimeNs;
        size += stat.size;
        ids += stat.ino;
        if (stat.isDirectory()) await walk(layer, tree, at).catch(() => undefined);
      }
  };
  for (const [layer, upper] of layers) await inTrees([upper], tree => walk(layer, tree, ''));
  return [count, size, latest, ids].join(' ');
}

/**
 * Writes a file by a rename, so that programs that watch the view see only the complete file; its draft is in `.git`, if any.
 * @param content `null` removes the file
 * @param still as in {@link PlainTree.write}
 */
export async function writeWatched(
  tree: PlainTree,
  relative: string,
  content: FileContent | null,
  bits: number,
  still?: string,
): Promise<void> {
  if (!content) return tree.remove(relative, still);
  const hasGit = (await tree.find('.git'))?.kind === 'folder';
  await tree.write(relative, content, bits, { drafts: hasGit ? '.git' : undefined, still });
}

/** @returns false if `replacing` fails with a {@link ChangedError} */
export function ifUnchanged(replacing: Promise<void>): Promise<boolean> {
  return replacing.then(
    () => true,
    (error: unknown) => {
      if (error instanceof ChangedError) return false;
      throw error;
    },
  );
}

/** Whether the folders that a view shows are other file systems than the real ones. @param view leads to its root */
export async function areMounted(layers: readonly Layer[], view: string): Promise<boolean> {
  for (const { root } of layers) {
    const [real, seen] = await Promise.all(
      [root, path.join(view, root)].map(at => fs.lstat(at).catch(() => undefined)),
    );
    if (!real || !seen || real.dev === seen.dev) return false;
  }
  return true;
}

/** The paths at which a tree has nothing. */
export async function pathsNotIn(tree: PlainTree, paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(each => tree.find(each)));
  return paths.filter((_, n) => !found[n]);
}

/**
 * The folder that holds the file in which the program reads the decisions; `undefined` if a file of the user has its name there.
 */
export async function statusLayer([first]: readonly Layer[]): Promise<Layer | undefined> {
  const isTaken = first && (await new PlainTree(path.join(first.state, 'lower')).find(STATUS_FILE));
  return isTaken ? undefined : first;
}

/** The file in which the program reads what it is told. */
export interface StatusFile {
  /** Its path for the program: absolute, or from `~`. */
  readonly at: string;
  readonly isInFolder: boolean;
}

/** It is in the first folder or, if a file of the user has its name there, in the home folder of a view, or beside copies. */
export async function statusFileOf(
  state: ViewState,
  storage: string,
  layers: readonly Layer[],
): Promise<StatusFile> {
  const layer = await statusLayer(layers);
  const folder = layer ? rootOf(state, layer) : (copiesFolder(state, storage) ?? '~');
  return { at: path.join(folder, STATUS_FILE), isInFolder: layer !== undefined };
}

/**
 * Writes it.
 * @param seen the path at which Redline finds a folder of the workspace as the program sees it
 */
export async function writeStatus(
  text: string,
  state: ViewState,
  storage: string,
  layers: readonly Layer[],
  seen: (layer: Layer) => string,
): Promise<void> {
  const layer = await statusLayer(layers);
  const folder = layer ? seen(layer) : (copiesFolder(state, storage) ?? path.join(storage, 'home'));
  await writeWatched(treeOf(state, folder), STATUS_FILE, Buffer.from(text), 0o644);
}

export function modeOf(found: Found | undefined): number {
  return found?.kind === 'file' ? found.mode : 0o666 & ~process.umask();
}

export async function isSame(a: Found | undefined, b: Found | undefined): Promise<boolean> {
  if (a?.kind !== b?.kind) return false;
  if (a?.kind === 'link' && b?.kind === 'link') return a.target === b.target;
  if (a?.kind !== 'file' || b?.kind !== 'file') return true;
  return a.size === b.size && a.mode === b.mode && sha256(await a.read()) === sha256(await b.read());
}

/** The same entry; a file is read only once, as the program may write it meanwhile. */
export function remembering(found: Found | undefined): Found | undefined {
  if (found?.kind !== 'file') return found;
  let bytes: Promise<Uint8Array> | undefined;
  return { ...found, read: () => (bytes ??= found.read()) };
}
