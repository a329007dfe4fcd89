import { existsSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import { openPreviewLog } from '../../agent/preview/previewLog.ts';
import {
  PreviewStore,
  type PreviewLogSink,
  type PreviewStoreOptions,
} from '../../agent/preview/previewStore.ts';
import { showError, showWarning } from '../toast.ts';
import { previewNumbersIn } from './previewNumbers.ts';

/** How long to wait for an extension host that is shutting down to release the lock, in milliseconds. */
const LOCK_WAIT_MS = 5_000;

/**
 * Locks this workspace's storage for this window. False if another window holds the lock, or if that cannot be told because no
 * lock file can be created; the user is told which.
 * @param hasFolder windows without a folder share one storage, but have no previews to lose.
 */
export async function lockStorage(
  folder: vscode.Uri,
  hasFolder: boolean,
  owned: vscode.Disposable[],
  logger: Logger,
): Promise<boolean> {
  try {
    const lock = await ProcessLock.take(path.join(folder.fsPath, 'window.lock'), LOCK_WAIT_MS);
    const unlock = (): Promise<void> | undefined =>
      lock?.release().catch((error: unknown) => logger.error(`Unlocking failed: ${detailOf(error)}`));
    if (lock) owned.push({ dispose: () => void unlock() });
    else if (hasFolder) warnAboutOtherWindow();
    return lock !== undefined;
  } catch (error) {
    logger.error(`Locking ${folder.fsPath} failed: ${detailOf(error)}`);
    const { warnNotLocked } = await import('./storageTrouble.ts');
    warnNotLocked(error);
    return false;
  }
}

/** The folder for the logs of windows that do not own the workspace's storage. */
export function sideLogFolder(storage: string): string {
  return path.join(storage, 'windows');
}

/** Whether a crash may have interrupted commits, of this window or others. */
export function mustRecover(store: PreviewStore, storage: string): boolean {
  return store.interruptedCommits.length > 0 || existsSync(sideLogFolder(storage));
}

function warnAboutOtherWindow(): void {
  void showWarning(
    vscode.l10n.t(
      'Another window stores the previews of this workspace. Previews in this window are lost when it closes.',
    ),
  );
}

/** Without a log of its own a window can show previews, but never apply one. */
function unwritableLog(error: unknown): PreviewLogSink {
  const fail = async (): Promise<never> => {
    throw error;
  };
  return { append: fail, flush: fail, compact: fail };
}

/**
 * Opens the store with the previews of this workspace. If another window owns the storage, or the log cannot be read, which the
 * user is told, that log is left untouched and previews last as long as this window.
 */
export async function openStore(
  folder: vscode.Uri,
  ownsStorage: boolean,
  owned: vscode.Disposable[],
  logger: vscode.LogOutputChannel,
): Promise<PreviewStore> {
  const file = path.join(folder.fsPath, 'previews.jsonl');
  const logFile = openPreviewLog(file);
  const onLogFailure = (error: unknown): void => {
    logger.error(`Writing previews failed; what waits is kept in memory and retried: ${detailOf(error)}`);
    void import('./storageTrouble.ts').then(({ warnNotStored }) => warnNotStored(error));
  };
  const options: PreviewStoreOptions = {
    numbers: await previewNumbersIn(folder.fsPath, error =>
      logger.error(`Counting previews in ${folder.fsPath} failed: ${detailOf(error)}`),
    ),
    onLogRecovery: () => logger.info('Writing previews works again; everything that waited is written.'),
  };
  const temporaryStore = async (): Promise<PreviewStore> => {
    try {
      const { openSideLog } = await import('./sideLog.ts');
      const side = await openSideLog(sideLogFolder(folder.fsPath));
      owned.push(side);
      return new PreviewStore(openPreviewLog(side.file), onLogFailure, options);
    } catch (error) {
      onLogFailure(error);
      return new PreviewStore(unwritableLog(error), onLogFailure, options);
    }
  };
  if (!ownsStorage) return temporaryStore();
  try {
    const { entries, unreadable, badLines, torn } = await logFile.load();
    if (badLines.length > 0) logger.warn(`${file}: skipped unreadable lines: ${badLines.join(', ')}`);
    if (torn) logger.warn(`${file}: dropped an incomplete last line`);
    const store = new PreviewStore(logFile, onLogFailure, options);
    store.restore(entries, unreadable);
    return store;
  } catch (error) {
    logger.error(`Reading ${file} failed: ${detailOf(error)}`);
    void showError(
      vscode.l10n.t(
        'Redline cannot read its stored previews. Their file is left untouched; new previews are lost when this window closes.',
      ),
    );
    return temporaryStore();
  }
}
