import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { hasCode } from '../../base/errors.ts';
import { isRecord, parsedJson } from '../../base/json.ts';
import { isInside } from '../../base/system/realPath.ts';
import { removeTree } from '../view/entries.ts';
import { boundFiles, copyFile } from '../view/boundFiles.ts';
import { ownRepository } from '../view/copiedGit.ts';
import { copyAll, type Progress } from '../view/copyEngine.ts';
import type { CopiedLinks, Folders } from '../view/pathNames.ts';
import { missingSpace } from '../view/diskSpace.ts';
import { inTrees, type PlainTree } from '../view/plainTree.ts';
import { stampOf, walk, type CopyLimits, type Stamp } from '../view/stamps.ts';
import type { Layer } from '../view/upperTree.ts';
import { TooLargeError, type Frozen } from './frozenFolder.ts';
import { REAL_OBJECTS } from './privateGit.ts';

/** How a working copy is made where no overlay can be mounted. */
export interface Copying {
  readonly progress: Progress;
  /** Aborted once nobody waits for the copy. */
  readonly signal: AbortSignal;
}

/**
 * The names of the folders beside views that hold their working copies: the names are reused, since agents identify conversations
 * by path.
 */
export const COPIES = /^copies-\d+$/;

/** How long a claimed folder may be without its view, in milliseconds. */
const CLAIM_MS = 60_000;

/** Makes the first folder for working copies that no other view has. @returns its name */
export async function claimCopies(views: string): Promise<string> {
  for (let n = 1; ; n++)
    try {
      await fs.mkdir(path.join(views, `copies-${n}`), { mode: 0o700 });
      return `copies-${n}`;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
}

/**
 * Removes folders for working copies that a crash has left without their view.
 * @param names all folders there
 * @throws if a view there cannot be read, since any of these folders could belong to it
 */
export async function removeLeftCopies(views: string, names: readonly string[]): Promise<void> {
  const left = new Set(names.filter(name => COPIES.test(name)));
  if (left.size === 0) return;
  for (const id of names.filter(name => !COPIES.test(name))) {
    const state = parsedJson(await fs.readFile(path.join(views, id, 'view.json'), 'utf8'));
    if (!isRecord(state)) throw new Error(`${id} cannot be read`);
    if (typeof state['copies'] === 'string') left.delete(state['copies']);
  }
  for (const name of left) {
    const at = path.join(views, name);
    // Another window may just have claimed it.
    if (Date.now() - (await fs.lstat(at)).mtimeMs > CLAIM_MS) await removeTree(at);
  }
}

/** The places of the working copies: the folders have the same names there, and lie beside each other as in the workspace. */
export function placesIn(folder: string, roots: readonly string[]): readonly Folders[] {
  let above = path.dirname(roots[0] ?? '');
  while (!roots.every(root => root !== above && isInside(root, above)) && path.dirname(above) !== above)
    above = path.dirname(above);
  return roots.map((root, n) => {
    const own = isInside(root, above)
      ? path.relative(above, root)
      : path.join(String(n), path.basename(root));
    return { root, copy: path.join(folder, own) };
  });
}

/**
 * Makes a copy in which an agent works: the frozen files, which count as unchanged, and ignored files. Links and environments
 * that name the workspace lead to the copy; git has a repository of its own, which reads the objects of the real one.
 * @param layer `upper` is the place of the copy
 * @returns the stamps of the frozen files in it, by their absolute path in the workspace
 * @throws TooLargeError, CancelledError, the reason of the signal, and the error of the system if the disk is full, for example
 */
export function makeCopy(
  { root, state, upper }: Layer,
  { ignored, shown }: Frozen,
  links: CopiedLinks,
  limits: CopyLimits,
  { progress, signal }: Copying,
): Promise<ReadonlyMap<string, string>> {
  return inTrees([path.join(state, 'lower'), root, upper], async (lower, real, copy) => {
    await fs.mkdir(upper, { recursive: true });
    const objects = shown.filter(({ at }) => path.posix.basename(at) === REAL_OBJECTS);
    const others = shown.filter(each => !objects.includes(each)).map(({ at }) => at);
    const files = new Map<string, readonly [from: PlainTree, stamp: Stamp]>();
    const folders: string[] = [];
    let bytes = 0;
    const list = (from: PlainTree, below: string): Promise<boolean> =>
      walk(
        from,
        below,
        (at, stat) => {
          files.set(at, [from, stampOf(stat)]);
          bytes += stat.size;
          return !signal.aborted && files.size <= limits.files && bytes <= limits.bytes;
        },
        { folder: at => folders.push(at) },
      );
    for (const [from, below] of [
      [lower, ''] as const,
      ...[...ignored, ...others].map(at => [real, at] as const),
    ])
      if (!(await list(from, below)) && !signal.aborted) throw new TooLargeError(root);
    const missing = await missingSpace(upper, bytes);
    if (missing !== undefined) throw new Error(`${missing}.`);
    for (const folder of [...folders, ...ignored]) await copy.makeFolders(folder, real);
    const bound = await boundFiles(root, files.keys(), [...files.keys()]);
    const stamps = new Map<string, string>();
    await copyAll([...files], progress, signal, async ([at, [from, stamp]]) => {
      await copyFile(at, stamp, [from, copy], links, { isBound: bound.has(at), keepsTime: true });
      if (from === lower && !/(^|\/)\.git\//.test(at))
        stamps.set(path.join(root, at), (await copy.stamp(at)).stamp);
    });
    for (const { from, at } of objects) {
      await copy.clear(at);
      const alternates = `${path.posix.dirname(at)}/objects/info/alternates`;
      await copy.write(alternates, Buffer.from(`${from.replaceAll(path.sep, '/')}\n`));
    }
    for (const at of files.keys()) if (/(^|\/)\.git$/.test(at)) await ownRepository(root, copy, at);
    return stamps;
  });
}
