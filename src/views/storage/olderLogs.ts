import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import * as path from 'node:path';
import { detailOf } from '../../agent/base/errors.ts';
import { sha256 } from '../../agent/base/hash.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import { MemoryBlobs } from '../../agent/hold/preview/blobs.ts';
import type { BinarySide } from '../../agent/hold/preview/fileChange.ts';
import { recoverCommits, type RecoveryReport } from '../../agent/hold/preview/commit/recovery.ts';
import { PreviewLog } from '../../agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import type { ResolvingFiles } from '../../agent/hold/preview/resolve/refusals.ts';
import { olderLogFolder } from './storedPreviews.ts';

/** The binary files that an older version kept in a folder. */
class OlderBlobs extends MemoryBlobs {
  readonly #folder: string;

  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  override async get(side: BinarySide): Promise<Uint8Array> {
    const bytes = await readFile(path.join(this.#folder, side.hash)).catch(() => undefined);
    return bytes && sha256(bytes) === side.hash ? bytes : super.get(side);
  }
}

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
  const all: RecoveryReport[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const file = path.join(folder, name);
    const lock = file.replace(/\.jsonl$/, '.lock');
    if (lock === file) continue;
    try {
      if (await ProcessLock.isHeld(lock)) continue; // that window is still open
      const log = new PreviewLog(file);
      const left = new PreviewStore(log, onFailure, { blobs: new OlderBlobs(path.join(storage, 'blobs')) });
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
  await rmdir(folder).catch(() => undefined);
  return all;
}
