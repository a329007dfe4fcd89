import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { shortList } from '../plainText.ts';
import { showWarning } from '../toast.ts';

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
