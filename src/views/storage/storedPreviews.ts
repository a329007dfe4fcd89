import { openPreviewLog, type PreviewLog } from '../../agent/hold/preview/log/openPreviewLog.ts';
import { existsSync } from 'node:fs';
import { appendFile, readFile, rm } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Closing } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { ignoreMissing } from '../../agent/base/log/jsonLog.ts';
import type { ProcessLock } from '../../agent/base/processLock.ts';
import {
  countedNumbers,
  randomNumbers,
  UNSTORED,
  type PreviewNumbers,
} from '../../agent/hold/preview/previewNumbers.ts';
import type { UnreadableLine } from '../../agent/hold/preview/log/previewLog.ts';
import { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import type { PreviewStoreOptions } from '../../agent/hold/preview/previewStoreOptions.ts';
import type { ResolvingFiles } from '../../agent/hold/preview/resolve/refusals.ts';
import type { StorageTrouble } from './storageTrouble.ts';

/** How long to wait for work in progress when the window closes, in milliseconds. VS Code ends the host after 5 s. */
const CLOSE_WAIT_MS = 2_000;
/** Milliseconds until a message says that previews are being read. */
const TOLD_AFTER_MS = 2_000;

/** Dependencies of a window's storage. */
export interface StorageParts {
  /** The storage of the workspace; all windows without a folder share one. */
  readonly folder: vscode.Uri;
  /** Closes everything opened here, in order, before the process ends. */
  readonly closing: Closing;
  readonly trouble: StorageTrouble;
  readonly logger: Logger;
}

export function lockIn(storage: vscode.Uri): string {
  return path.join(storage.fsPath, 'window.lock');
}

/** The folder in which windows of an older version that did not own the storage kept logs of their own. */
function olderLogFolder(storage: string): string {
  return path.join(storage, 'windows');
}

/** The store of a window. */
export interface OpenStore {
  readonly store: PreviewStore;
  /** Whether it writes the workspace's log. If not, previews and the ledger are in memory. */
  readonly isDurable: boolean;
  /**
   * Stores the previews and the ledger once the window that owns the storage has closed. Never rejects.
   * @param lookEvery how often it checks whether that window has closed, in milliseconds; for tests.
   * @returns whether they are stored; if not, this window closes
   */
  readonly takeOver?: (workspace: ResolvingFiles, lookEvery?: number) => Promise<boolean>;
}

/**
 * Opens the log of the workspace, which this window owns, and writes until the lock is lost.
 * @throws any error of the file system; UnknownLogVersionError
 */
export async function openStored(
  parts: StorageParts,
  lock: ProcessLock,
): Promise<{ readonly store: PreviewStore; readonly log: PreviewLog }> {
  const { folder, logger } = parts;
  const file = path.join(folder.fsPath, 'previews.jsonl');
  const log = openPreviewLog(file, undefined, lock);
  const older = await joinOlder(parts, log);
  const loaded = await whileTold(log.load());
  const { entries, badLines, torn } = loaded;
  const unreadable = [...loaded.unreadable, ...older.map(line => ({ ...line, position: entries.length }))];
  // Binary files are now stored with the texts, except those of older logs.
  if (unreadable.length === 0 && !existsSync(olderLogFolder(folder.fsPath)))
    await rm(path.join(folder.fsPath, 'blobs'), { recursive: true, force: true }).catch(() => undefined);
  if (badLines.length > 0) logger.warn(`${file}: skipped unreadable lines: ${badLines.join(', ')}`);
  if (torn) logger.warn(`${file}: dropped an incomplete last line`);
  let numbers = countedNumbers();
  const store = new PreviewStore(log, onFailure(parts), {
    ...storeOptions(parts),
    numbers: { next: last => numbers.next(last) },
  });
  await store.restoreInTurns(entries, unreadable);
  numbers = await numbersIn(folder.fsPath, store.lastNumber, lock.wasLeft || torn);
  if (unreadable.length > 0) await tellDamaged(folder.fsPath, unreadable, logger);
  return { store, log };
}

async function joinOlder(
  { folder, logger }: StorageParts,
  log: PreviewLog,
): Promise<readonly UnreadableLine[]> {
  const older = olderLogFolder(folder.fsPath);
  if (!existsSync(older)) return [];
  const { joinWindowLogs } = await import('../../agent/hold/preview/log/windowLogs.ts');
  return joinWindowLogs(log, older, error =>
    logger.error(`A log in ${older} cannot be moved: ${detailOf(error)}`),
  );
}

/** Never rejects: a failed message must not keep readable previews from being opened. */
async function tellDamaged(
  storage: string,
  unreadable: readonly UnreadableLine[],
  logger: Logger,
): Promise<void> {
  const { tellDamage } = await import('./damagedLines.ts');
  await tellDamage(storage, unreadable).catch((error: unknown) =>
    logger.error(`Keeping the damaged lines of ${storage} failed: ${detailOf(error)}`),
  );
}

/**
 * The numbers of previews in a storage. A file has a line for each number that the log may not name: those that windows of an older
 * version gave out, and those that a killed process may have given out.
 */
async function numbersIn(storage: string, last: number, wasLeft: boolean): Promise<PreviewNumbers> {
  const file = path.join(storage, 'preview-ids');
  try {
    const lines = ((await readFile(file, 'latin1').catch(ignoreMissing)) ?? '').split('\n').length - 1;
    if (!wasLeft) return countedNumbers(lines);
    const floor = Math.max(lines, last) + UNSTORED;
    await appendFile(file, '\n'.repeat(floor - lines));
    return countedNumbers(floor);
  } catch {
    return randomNumbers();
  }
}

/** Tells the user that the previews are being read, if that takes long: those of an older version are migrated. */
async function whileTold<T>(loading: Promise<T>): Promise<T> {
  const { l10n, window, ProgressLocation } = vscode;
  const telling = setTimeout(() => {
    const title = l10n.t('Redline is reading its stored previews…');
    void window.withProgress({ location: ProgressLocation.Notification, title }, () =>
      loading.catch(() => undefined),
    );
  }, TOLD_AFTER_MS);
  return loading.finally(() => clearTimeout(telling));
}

export function onFailure({ trouble, logger }: StorageParts): (error: unknown) => void {
  return error => {
    logger.error(`Writing previews failed; what waits is kept in memory and retried: ${detailOf(error)}`);
    trouble.failed('previews', error);
  };
}

export function storeOptions({ folder, trouble, logger }: StorageParts): PreviewStoreOptions {
  return {
    onLogRecovery: () => {
      logger.info('Writing previews works again; everything that waited is written.');
      trouble.recovered('previews');
    },
    onUnsynced: (ids, failed) =>
      void import('./interruptedCommits.ts').then(({ tellNotSynced }) => tellNotSynced(ids, failed, logger)),
    onDamage: unreadable => void tellDamaged(folder.fsPath, unreadable, logger),
    onUnstorable: (ids, error) => {
      logger.error(`The latest state of ${ids.join(', ')} can never be written: ${detailOf(error)}`);
      trouble.lostPreviews(ids);
    },
  };
}

/** Waits for files being written, and writes pending entries. @returns whether the log has everything. */
export async function closeStore(store: PreviewStore, logger: Logger): Promise<boolean> {
  await Promise.race([untilNothingIsWritten(store), closePatience()]);
  const isComplete = await store.close();
  if (!isComplete) logger.error('Some changes of previews could not be written before the window closed.');
  return isComplete;
}

/** Settles once no apply writes files any more. */
function untilNothingIsWritten(store: PreviewStore): Promise<void> {
  return new Promise(resolve => {
    if (!isWriting(store)) return resolve();
    const following = store.onDidChange(() => {
      if (isWriting(store)) return;
      following.dispose();
      resolve();
    });
  });
}

export function isWriting(store: PreviewStore): boolean {
  return Array.from(store.open).some(({ kind, state }) => kind === 'files' && state.kind === 'applying');
}

/** Settles when work in progress has been waited for long enough. */
export function closePatience(): Promise<void> {
  return new Promise(resolve => void setTimeout(resolve, CLOSE_WAIT_MS).unref());
}
