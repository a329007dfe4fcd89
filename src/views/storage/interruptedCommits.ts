import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import type { Logger } from '../../agent/base/logger.ts';
import { recoverCommits, type RecoveryReport } from '../../agent/hold/preview/commit/recovery.ts';
import type { UnsyncedReport } from '../../agent/hold/preview/commit/unsynced.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { plural, shortList } from '../plainText.ts';
import { showInfo, showWarning } from '../toast.ts';
import { olderLogFolder } from './storedPreviews.ts';
import type { ResolvingFiles } from '../../agent/hold/preview/resolve/refusals.ts';

/** Ends the commits that a crash interrupted, also in the logs of other windows of an older version, and tells the user. */
export async function recoverInterruptedCommits(
  { store }: { readonly store: PreviewStore },
  storage: string,
  workspace: ResolvingFiles,
  logger: Logger,
): Promise<void> {
  if (existsSync(olderLogFolder(storage))) {
    const { recoverOlderLogs } = await import('./olderLogs.ts');
    for (const report of await recoverOlderLogs(store, storage, workspace, logger))
      reportRecovery(report, logger);
  }
  for (const report of await recoverCommits(store, workspace)) {
    const isPending = report.previewIds.some(id => store.get(id)?.state.kind === 'pending');
    reportRecovery(report, logger, isPending ? vscode.l10n.t('The preview is pending again.') : undefined);
  }
  if (store.unsyncedCommits.length === 0) return;
  const { completeUnsynced } = await import('../../agent/hold/preview/commit/unsynced.ts');
  for (const report of await completeUnsynced(store, workspace)) reportUnsynced(report, logger);
}

function reportUnsynced({ previewIds, completed, changed, failed }: UnsyncedReport, logger: Logger): void {
  const ids = previewIds.join(', ');
  logger.warn(
    `What ${ids} wrote may not have been on the disk. Written again: ${completed.join(', ')}. Changed since: ${changed.join(', ')}. Failed: ${failed.join(', ')}`,
  );
  const sentences = [
    vscode.l10n.t('The computer or VS Code ended before the files of {0} were safe on the disk.', ids),
    ...(completed.length > 0
      ? [vscode.l10n.t('These were written again as decided: {0}.', shortList(completed))]
      : []),
    ...(changed.length > 0
      ? [vscode.l10n.t('These are not as decided, since they have changed since: {0}.', shortList(changed))]
      : []),
    ...(failed.length > 0
      ? [
          vscode.l10n.t(
            'These could not be compared or written; Redline tries again at the next start: {0}.',
            shortList(failed),
          ),
        ]
      : []),
  ];
  void (changed.length + failed.length > 0 ? showWarning : showInfo)(sentences.join(' '));
}

function reportRecovery(report: RecoveryReport, logger: Logger, more?: string): void {
  const { previewIds, end, restored, leftAlone, failed } = report;
  logger.warn(
    `Applying ${previewIds.join(', ')} was interrupted: ${end}. Restored: ${restored.join(', ')}. Left alone: ${leftAlone.join(', ')}. Failed: ${failed.join(', ')}`,
  );
  const show = end === 'leftAlone' || leftAlone.length + failed.length > 0 ? showWarning : showInfo;
  void show([recoveryText(report), more].filter(Boolean).join(' '));
}

function recoveryText(report: RecoveryReport): string {
  const { previewIds, end, leftAlone, failed } = report;
  const ids = previewIds.join(', ');
  if (failed.length > 0) return failedText(ids, report);
  if (end === 'finished') {
    return leftAlone.length === 0
      ? vscode.l10n.t(
          'Redline was interrupted after it had written all files of {0}. They are kept and recorded as applied.',
          ids,
        )
      : vscode.l10n.t(
          'Redline was interrupted after it had written all files of {0}. They are recorded as applied; these have changed since and were left alone: {1}.',
          ids,
          shortList(leftAlone),
        );
  }
  if (end === 'leftAlone') {
    return leftAlone.length === 0
      ? vscode.l10n.t(
          'Applying {0} may have been interrupted. What it was going to change can no longer be read, so no file was touched.',
          ids,
        )
      : vscode.l10n.t(
          'Whether {0} was applied can no longer be read, so no file was touched. Check these: {1}.',
          ids,
          shortList(leftAlone),
        );
  }
  return leftAlone.length > 0
    ? changedText(ids, report)
    : vscode.l10n.t('Applying {0} was interrupted. All files were restored.', ids);
}

function failedText(ids: string, { leftAlone, failed }: RecoveryReport): string {
  const text = vscode.l10n.t(
    'Applying {0} was interrupted. These files could not be restored: {1}. Redline tries again at the next start.',
    ids,
    shortList(failed),
  );
  if (leftAlone.length === 0) return text;
  return `${text} ${vscode.l10n.t('These have changed since and were left alone: {0}.', shortList(leftAlone))}`;
}

function changedText(ids: string, { restored, leftAlone }: RecoveryReport): string {
  const forms = vscode.l10n.t(
    'Applying {1} was interrupted. 1 file was restored; these have changed since and were left alone: {2}.|Applying {1} was interrupted. {0} files were restored; these have changed since and were left alone: {2}.',
  );
  return plural(forms, restored.length, ids, shortList(leftAlone));
}
