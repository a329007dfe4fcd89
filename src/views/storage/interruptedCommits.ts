import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { recoverCommits, type RecoveryReport } from '../../agent/hold/preview/commit/recovery.ts';
import { completeUnsynced, type UnsyncedReport } from '../../agent/hold/preview/commit/unsynced.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import type { ResolvingFiles } from '../../agent/hold/preview/resolve/refusals.ts';
import { shortList } from '../plainText.ts';
import { showInfo, showWarning } from '../toast.ts';

/** Ends the commits that a crash interrupted, and tells the user. @param isElses see {@link completeUnsynced} */
export async function recoverInterruptedCommits(
  store: PreviewStore,
  workspace: ResolvingFiles,
  logger: Logger,
  isElses?: (path: string) => boolean,
): Promise<void> {
  for (const report of await recoverCommits(store, workspace)) {
    const isPending = report.previewIds.some(id => store.get(id)?.state.kind === 'pending');
    reportRecovery(report, logger, isPending);
  }
  if (store.unsyncedCommits.length === 0) return;
  for (const report of await completeUnsynced(store, workspace, isElses)) reportUnsynced(report, logger);
}

/** Reports that the disk has an error for files that these previews wrote. @param failed why, by path */
export function tellNotSynced(
  ids: readonly string[],
  failed: ReadonlyMap<string, unknown>,
  logger: Logger,
): void {
  for (const [path, error] of failed)
    logger.error(`What ${ids.join(', ')} wrote to ${path} could not be synced: ${detailOf(error)}`);
  void showWarning(
    vscode.l10n.t(
      '{0} is applied, but the disk reports an error, so these files may be lost or damaged after a power cut: {1}.',
      ids.join(', '),
      shortList([...failed.keys()]),
    ),
  );
}

function reportUnsynced({ previewIds, completed, changed, failed }: UnsyncedReport, logger: Logger): void {
  const ids = previewIds.join(', ');
  logger.warn(
    `What ${ids} wrote may not have been on the disk. Written again: ${completed.join(', ')}. Changed since: ${changed.join(', ')}. Failed: ${failed.join(', ')}`,
  );
  const { l10n } = vscode;
  const sentences = [
    l10n.t('The computer or VS Code ended before the files of {0} were safe on the disk.', ids),
    ...named(completed, list => l10n.t('These were written again as decided: {0}.', list)),
    ...named(changed, list => l10n.t('These are not as decided, since they have changed since: {0}.', list)),
    ...named(failed, list =>
      l10n.t('These could not be compared or written; Redline tries again at the next start: {0}.', list),
    ),
  ];
  void (changed.length + failed.length > 0 ? showWarning : showInfo)(sentences.join(' '));
}

function reportRecovery(report: RecoveryReport, logger: Logger, isPending: boolean): void {
  const { previewIds, end, restored, leftAlone, failed } = report;
  logger.warn(
    `Applying ${previewIds.join(', ')} was interrupted: ${end}. Restored: ${restored.join(', ')}. Left alone: ${leftAlone.join(', ')}. Failed: ${failed.join(', ')}`,
  );
  const isWarning = end === 'leftAlone' || leftAlone.length + failed.length > 0;
  const more = isPending ? [vscode.l10n.t('The preview is pending again.')] : [];
  void (isWarning ? showWarning : showInfo)([...recoverySentences(report), ...more].join(' '));
}

function recoverySentences({ previewIds, end, leftAlone, failed }: RecoveryReport): readonly string[] {
  const ids = previewIds.join(', ');
  const { l10n } = vscode;
  if (end === 'leftAlone' && failed.length === 0) {
    const unread =
      leftAlone.length === 0
        ? l10n.t(
            'Applying {0} may have been interrupted. What it was going to change can no longer be read, so no file was touched.',
            ids,
          )
        : l10n.t('Whether {0} was applied can no longer be read, so no file was touched.', ids);
    return [unread, ...named(leftAlone, list => l10n.t('Check these: {0}.', list))];
  }
  const isWhole = leftAlone.length + failed.length === 0;
  return [
    end === 'finished'
      ? l10n.t(
          'Redline was interrupted after it had written all files of {0}. They are recorded as applied.',
          ids,
        )
      : l10n.t('Applying {0} was interrupted.', ids),
    ...(end === 'rolledBack' && isWhole ? [l10n.t('All files were restored.')] : []),
    ...named(failed, list =>
      l10n.t('These files could not be restored; Redline tries again at the next start: {0}.', list),
    ),
    ...named(leftAlone, list => l10n.t('These have changed since and were left alone: {0}.', list)),
    ...(end === 'rolledBack' && !isWhole ? [l10n.t('All others were restored.')] : []),
  ];
}

/** A sentence about these paths, if there are any. */
function named(paths: readonly string[], sentence: (list: string) => string): readonly string[] {
  return paths.length === 0 ? [] : [sentence(shortList(paths))];
}
