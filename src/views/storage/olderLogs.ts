import { readdir, rm, rmdir } from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds } from '../../agent/base/async.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import { recoverCommits, type RecoveryReport } from '../../agent/hold/preview/commit/recovery.ts';
import { Contents } from '../../agent/hold/preview/log/contents.ts';
import { PreviewLog } from '../../agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import type { ResolvingFiles } from '../../agent/hold/preview/resolve/refusals.ts';
import { olderLogFolder } from './storedPreviews.ts';

/**
 * Ends the commits in the logs left by windows of an older version that did not own the storage, adopts their ledgers, and
 * removes those logs. A log that cannot be read, stored or ended stays.
 */
export async function recoverOlderLogs(
  store: PreviewStore,
  storage: string,
  workspace: ResolvingFiles,
  logger: Logger,
): Promise<readonly RecoveryReport[]> {
  const folder = olderLogFolder(storage);
  const onFailure = (error: unknown): void =>
    logger.error(`Recovering an interrupted apply failed: ${detailOf(error)}`);
  // Beside it is the folder of binary files of an older version.
  const contents = new Contents(`${folder}.contents`);
  const all: RecoveryReport[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const file = path.join(folder, name);
    const lock = file.replace(/\.jsonl$/, '.lock');
    if (lock === file) continue;
    try {
      if (await ProcessLock.isHeld(lock)) continue; // that window is still open
      const log = new PreviewLog(file, contents);
      const left = new PreviewStore(log, onFailure);
      const { entries, unreadable } = await log.load();
      await left.restoreInTurns(entries, unreadable);
      const reports = await recoverCommits(left, workspace);
      all.push(...reports);
      const isStored = await left.close();
      await store.adoptLedger(left.ledger());
      if (!isStored || !(await store.drain()) || reports.some(({ failed }) => failed.length > 0)) continue;
      await rm(file, { force: true });
      await rm(lock, { force: true });
    } catch (error) {
      onFailure(error);
    }
  }
  if (await succeeds(rmdir(folder))) await rm(contents.folder, { recursive: true, force: true });
  return all;
}
