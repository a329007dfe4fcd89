import { existsSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import type { LandingFiles } from '../../agent/preview/landing.ts';
import { openPreviewLog } from '../../agent/preview/previewLog.ts';
import { PreviewStore } from '../../agent/preview/previewStore.ts';
import { recoverLandings, type RecoveryReport } from '../../agent/preview/recoverLandings.ts';
import { showInfo, showWarning } from '../toast.ts';

/** Where windows that do not keep the workspace's previews write down what they land. */
export function sideLogs(storage: string): string {
  return path.join(storage, 'windows');
}

/** Takes back what a crash cut off, in this window's log or another's, and tells the person. */
export async function takeBackCutOff(
  store: PreviewStore,
  storage: string,
  workspace: LandingFiles,
  log: Logger,
): Promise<void> {
  const onFailure = (error: unknown): void => log.error(`Taking back failed: ${detailOf(error)}`);
  const others = sideLogs(storage);
  // Hardly ever there are any.
  if (existsSync(others)) {
    const { recoverSideLogs } = await import('./sideLog.ts');
    const recover = async (file: string): Promise<readonly RecoveryReport[]> => {
      const logFile = openPreviewLog(file);
      const cutOff = new PreviewStore(logFile, onFailure);
      cutOff.restore((await logFile.load()).entries);
      return recoverLandings(cutOff, workspace);
    };
    for (const report of await recoverSideLogs(others, recover, onFailure)) tellTakenBack(report, log);
  }
  for (const report of await recoverLandings(store, workspace)) {
    tellTakenBack(report, log, vscode.l10n.t('It is pending again.'));
  }
}

function tellTakenBack(
  { previewIds, restored, leftAlone }: RecoveryReport,
  log: Logger,
  more?: string,
): void {
  const ids = previewIds.join(', ');
  log.warn(
    `Applying ${ids} was cut off. Restored: ${restored.join(', ')}. Left alone: ${leftAlone.join(', ')}`,
  );
  const text =
    leftAlone.length > 0
      ? vscode.l10n.t(
          'Applying {0} was interrupted: {1} files are as they were before; these changed since and were left alone: {2}.',
          ids,
          restored.length,
          shortened(leftAlone),
        )
      : vscode.l10n.t('Applying {0} was interrupted. All files are as they were before.', ids);
  const show = leftAlone.length > 0 ? showWarning : showInfo;
  void show([text, more].filter(Boolean).join(' '));
}

function shortened(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).join(', ');
  return paths.length > 5 ? vscode.l10n.t('{0} and {1} more', shown, paths.length - 5) : shown;
}
