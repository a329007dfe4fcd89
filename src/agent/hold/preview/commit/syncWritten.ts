import { forEachLimited } from '../../../base/async.ts';
import { bytesOfSide, isText, type FileSide } from '../fileChange.ts';
import type { Workspace } from '../workspace.ts';

/** How many files are written again concurrently. */
const AT_ONCE = 8;

/** The sides that files hold, by path. */
export type Sides = ReadonlyMap<string, FileSide | null>;

/**
 * Syncs files that were just written. Texts whose sync fails are written again and synced once more: after a sync that failed, another
 * one that succeeds proves nothing, since the system may have dropped the bytes.
 * @returns why, for each of the paths that may not survive a power cut.
 */
export async function syncWritten(files: Workspace, sides: Sides): Promise<ReadonlyMap<string, unknown>> {
  const failed = new Map(await syncAll(files, [...sides.keys()]));
  const again = await writeAgain(files, new Map([...sides].filter(([path]) => failed.has(path))));
  for (const path of again) failed.delete(path);
  for (const [path, error] of again.length > 0 ? await syncAll(files, again) : []) failed.set(path, error);
  return failed;
}

/** Writes the texts that files hold once more. @returns the paths for which that was possible */
export async function writeAgain(files: Workspace, sides: Sides): Promise<readonly string[]> {
  const written: string[] = [];
  await forEachLimited([...sides], AT_ONCE, async ([path, side]) => {
    if (!side || !isText(side)) return;
    // Its text may be gone from the storage.
    const write = async (): Promise<unknown> => files.write(path, bytesOfSide(side), side.hash);
    const to = await write().catch(() => undefined);
    if (to === 'disk') written.push(path);
  });
  return written;
}

function syncAll(files: Workspace, paths: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  return files.sync(paths).catch((error: unknown) => new Map(paths.map(path => [path, error])));
}
