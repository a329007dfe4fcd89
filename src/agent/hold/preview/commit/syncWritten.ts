import { forEachLimited } from '../../../base/async.ts';
import { sha256 } from '../../../base/hash.ts';
import { StalePreviewError } from '../errors.ts';
import { isLink, type FileSide } from '../fileChange.ts';
import type { Workspace } from '../workspace.ts';

/** How many files are written again concurrently. */
const AT_ONCE = 8;

/** The sides that files hold, by path. */
export type Sides = ReadonlyMap<string, FileSide | null>;

/**
 * Syncs files that were just written. Those whose sync fails are written again and synced once more.
 * @returns why, for each of the paths that may not survive a power cut.
 */
export async function syncWritten(files: Workspace, sides: Sides): Promise<ReadonlyMap<string, unknown>> {
  const failed = await syncAll(files, [...sides.keys()]);
  if (failed.size === 0) return failed;
  const left = await writeAgain(files, new Map([...sides].filter(([path]) => failed.has(path))));
  for (const [path, error] of await syncAll(files, [...failed.keys()])) left.set(path, error);
  return left;
}

/**
 * Writes files once more, with the bytes that they hold: after a sync that failed, also in an earlier process, another one that
 * succeeds proves nothing, since the system may have dropped the bytes. Links and deletions are names, which are not dropped.
 * @returns why, for each of the paths for which that was not possible
 */
export async function writeAgain(files: Workspace, sides: Sides): Promise<Map<string, unknown>> {
  const left = new Map<string, unknown>();
  await forEachLimited([...sides], AT_ONCE, async ([path, side]) => {
    if (!side || isLink(side)) return;
    try {
      const bytes = await files.read(path);
      const isHeld = bytes && sha256(bytes) === side.hash;
      const to = isHeld && (await files.write(path, bytes, side.hash));
      if (to !== 'disk') throw new StalePreviewError([path]); // an editor may have it, unsaved
    } catch (error) {
      left.set(path, error);
    }
  });
  return left;
}

function syncAll(files: Workspace, paths: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  return files.sync(paths).catch((error: unknown) => new Map(paths.map(path => [path, error])));
}
