import { readdir, rm, rmdir } from 'node:fs/promises';
import * as path from 'node:path';
import { inTurns, succeeds } from '../../../base/async.ts';
import { ProcessLock } from '../../../base/processLock.ts';
import { isBinary } from '../fileChange.ts';
import { Contents } from './contents.ts';
import { PreviewLog } from './openPreviewLog.ts';
import type { UnreadableLine } from './previewLog.ts';
import { changesOf, sidesIn, withPlaces } from './storedChanges.ts';

/**
 * Moves the logs of windows of an older version that did not own the storage to the log of the storage. That of a window which is
 * still open stays, and so does one that cannot be read or stored.
 * @returns their lines that cannot be read
 */
export async function joinWindowLogs(
  storage: PreviewLog,
  folder: string,
  onFailure: (error: unknown) => void,
): Promise<readonly UnreadableLine[]> {
  const unreadable: UnreadableLine[] = [];
  // Beside it is the folder of binary files of an older version.
  const contents = new Contents(`${folder}.contents`);
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    const lock = file.replace(/\.jsonl$/, '.lock');
    try {
      if (lock === file || (await ProcessLock.isHeld(lock))) continue;
      const loaded = await new PreviewLog(file, contents).load();
      for (const entry of loaded.entries) {
        for (const side of sidesIn(changesOf(entry)))
          if (isBinary(side) && contents.sizeOf(side.hash) !== undefined)
            await storage.contents.put(await contents.get(side));
        await inTurns(withPlaces(entry, storage.contents));
      }
      await storage.contents.flush(); // the lines that name them follow, synced
      // With a part of them, a commit that ended would look interrupted.
      await storage.rewrite(() => entry => [entry], loaded.entries);
      unreadable.push(...loaded.unreadable);
      for (const moved of [file, lock]) await rm(moved, { force: true });
    } catch (error) {
      onFailure(error);
    }
  }
  if (await succeeds(rmdir(folder))) await rm(contents.folder, { recursive: true, force: true });
  return unreadable;
}
