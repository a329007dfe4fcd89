import * as path from 'node:path';
import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import { openPreviewLog } from '../../agent/preview/previewLog.ts';
import { PreviewStore, type PreviewLogSink } from '../../agent/preview/previewStore.ts';
import { showError, showWarning } from '../toast.ts';
import { sideLogs } from './cutOffApplies.ts';

/** How long an extension host that is about to end may keep the storage, in milliseconds. */
const PATIENCE = 5_000;

/** False when another window uses this workspace's storage. Where no lock can be made, nothing else can be written. */
export async function lockStorage(
  folder: vscode.Uri,
  owned: vscode.Disposable[],
  log: Logger,
): Promise<boolean> {
  try {
    const lock = await ProcessLock.take(path.join(folder.fsPath, 'window.lock'), PATIENCE);
    if (lock) owned.push({ dispose: () => void lock.release() });
    return lock !== undefined;
  } catch (error) {
    log.error(`Locking ${folder.fsPath} failed: ${detailOf(error)}`);
    return true;
  }
}

/** Says what comes of it that this one is not the first window on the workspace. */
export function tellOfOtherWindow(): void {
  void showWarning(
    vscode.l10n.t(
      'Another window keeps the previews of this workspace. Previews made in this window last until it closes.',
    ),
  );
}

const noLog: PreviewLogSink = {
  append: () => Promise.resolve(),
  flush: () => Promise.resolve(),
  compact: () => Promise.resolve(),
};

/**
 * The previews of this workspace. A log that cannot be read is left as it is, which the person is told, and so is one that
 * another window writes: previews then live as long as this window.
 */
export async function openStore(
  folder: vscode.Uri,
  isOurs: boolean,
  owned: vscode.Disposable[],
  log: vscode.LogOutputChannel,
): Promise<PreviewStore> {
  const file = path.join(folder.fsPath, 'previews.jsonl');
  const logFile = openPreviewLog(file);
  const onLogFailure = (error: unknown): void => log.error(`Writing ${file} failed: ${detailOf(error)}`);
  const passing = async (): Promise<PreviewStore> => {
    try {
      const { openSideLog } = await import('./sideLog.ts');
      const side = await openSideLog(sideLogs(folder.fsPath));
      owned.push(side);
      return new PreviewStore(openPreviewLog(side.file), onLogFailure);
    } catch (error) {
      onLogFailure(error);
      return new PreviewStore(noLog, onLogFailure);
    }
  };
  if (!isOurs) return passing();
  try {
    const { entries, badLines, torn } = await logFile.load();
    if (badLines.length > 0)
      log.warn(`${file}: skipped lines that could not be read: ${badLines.join(', ')}`);
    if (torn) log.warn(`${file}: dropped a last line that was not written to its end`);
    const store = new PreviewStore(logFile, onLogFailure);
    store.restore(entries);
    return store;
  } catch (error) {
    log.error(`Reading ${file} failed: ${detailOf(error)}`);
    void showError(
      vscode.l10n.t(
        'Redline cannot read its stored previews and left them untouched. New previews last until this window closes.',
      ),
    );
    return passing();
  }
}
