import { forEachLimited } from '../../base/async.ts';
import { named } from '../../base/safeName.ts';
import { foldersAbove } from '../../hold/preview/fileSteps.ts';
import { ignoredOf } from './ignored.ts';
import { inTrees, type PlainTree } from './plainTree.ts';
import type { Layer } from './upperTree.ts';

/** How many files are looked at concurrently. */
const AT_ONCE = 16;
/** How far the time of a change lags behind the clock, in milliseconds. */
const LAG_MS = 20;

/** Tells the model about ignored files that a command removed, and that the next one finds as on disk. */
export function removedInSandbox(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  return [
    `It removed what git ignores: ${named(paths)}. That is no change of the workspace, and the next command finds it as on disk.`,
  ];
}

/** Tells the model about files of earlier commands that gave way to newer ones on disk. */
export function newerOnDisk(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  return [`Newer on disk than in the sandbox, so this command found it as on disk: ${named(paths)}.`];
}

/** The paths that are on disk, but not in a view, or are folders that are empty only in the view. */
export async function restored(
  real: PlainTree,
  view: PlainTree,
  paths: readonly string[],
): Promise<readonly string[]> {
  const isEmpty = async (tree: PlainTree, at: string): Promise<boolean> => {
    for await (const part of tree.parts(at)) if (part.length > 0) return false;
    return true;
  };
  const found: string[] = [];
  for (const at of paths) {
    const [was, now] = [await real.stat(at), await view.stat(at)];
    const isEmptied = now?.isDirectory() && was?.isDirectory() && (await isEmpty(view, at));
    if (was && (!now || (isEmptied && !(await isEmpty(real, at))))) found.push(at);
  }
  return found;
}

/** For each ignored file, the outermost folder above it that git ignores, or the file itself if there is none. */
export async function outermostIgnored(root: string, files: readonly string[]): Promise<readonly string[]> {
  const folders = new Set(files.flatMap(foldersAbove));
  const ignored = await ignoredOf(
    root,
    [...folders].map(each => `${each}/`),
  );
  const outermost = (file: string): string =>
    foldersAbove(file).findLast(each => ignored.has(`${each}/`)) ?? file;
  return [...new Set(files.map(outermost))];
}

/**
 * Paths of an upper tree at or below which something on disk has changed since a time, or which are gone from the disk. Files that
 * are only on disk are not looked at.
 * @param paths with whether each was on disk at that time
 */
export function newerIn(
  { root, upper }: Layer,
  paths: ReadonlyMap<string, boolean>,
  since: number,
): Promise<readonly string[]> {
  return inTrees([root, upper], async (real, ours) => {
    const newer: string[] = [];
    for (const [at, wasOnDisk] of paths)
      if ((wasOnDisk && !(await real.stat(at))) || (await hasChanged(real, ours, at, since - LAG_MS)))
        newer.push(at);
    return newer;
  });
}

/** Whether each of the paths is on disk. */
export function areOnDisk({ root }: Layer, paths: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
  return inTrees([root], async real => {
    const found = new Map<string, boolean>();
    for (const at of paths) found.set(at, (await real.stat(at)) !== undefined);
    return found;
  });
}

async function hasChanged(real: PlainTree, ours: PlainTree, at: string, since: number): Promise<boolean> {
  const stat = await real.stat(at);
  if (!stat) return false;
  if (stat.ctimeMs >= since) return true;
  if (!stat.isDirectory()) return false;
  let isNewer = false;
  for await (const part of ours.parts(at))
    await forEachLimited(part, AT_ONCE, async ({ name, isUtf8 }) => {
      if (!isNewer && isUtf8) isNewer ||= await hasChanged(real, ours, `${at}/${name}`, since);
    });
  return isNewer;
}
