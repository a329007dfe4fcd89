import * as vscode from 'vscode';
import { detailOf, ToolError } from '../../../agent/base/errors.ts';
import { commitMessage, suggestedSubject } from '../../../agent/hold/external/applied/commitMessage.ts';
import { appliedPreviews } from '../../../agent/hold/external/applied/appliedChanges.ts';
import { stageApplied } from '../../../agent/hold/external/applied/stageApplied.ts';
import { standingApplies } from '../../../agent/hold/preview/ledger.ts';
import type { Preview } from '../../../agent/hold/preview/preview.ts';
import type { Ctx } from '../../ctx.ts';
import { oneLine, plural } from '../../plainText.ts';
import { showInfo, showWarning } from '../../toast.ts';
import { diskPathOf, locate } from '../../workspace/workspacePaths.ts';
import { reportLeftOut } from './report.ts';
import { chooseRepository, gitOf } from './repositories.ts';

/**
 * Stages the applied changes of previews in a repository, and puts a message into its empty message box.
 * @param arg the repository's row or title in Source Control; without one, that of the active editor, the only one, or the one that
 *   the user chooses.
 */
export async function stageChanges({ store, workspace, logger }: Ctx, arg: unknown): Promise<void> {
  const { rootUri: near = arg } = (arg ?? {}) as { readonly rootUri?: unknown };
  const open = await chooseRepository(near instanceof vscode.Uri ? near : undefined);
  if (!open) return;
  const fileOf = ({ roots }: Preview, at: string): string | undefined => {
    try {
      return diskPathOf(locate(at, roots ?? workspace.folderRoots()));
    } catch {
      return undefined; // for example, if no folder is open
    }
  };
  try {
    const { paths, previewIds, left } = await stageApplied({
      git: gitOf(open),
      previews: appliedPreviews(store),
      fileOf,
      unsaved: workspace.unsaved().map(at => workspace.uriOf(at).fsPath),
    });
    const entries = new Map(standingApplies(store.ledger()).map(entry => [entry.previewId, entry]));
    const applied = previewIds.flatMap(id => {
      const [preview, entry] = [store.get(id), entries.get(id)];
      return preview && entry ? [{ preview, entry }] : [];
    });
    const { inputBox } = open.repository;
    if (applied.length > 0 && inputBox.value.trim() === '')
      inputBox.value = commitMessage(suggestedSubject(applied, vscode.l10n), applied).trimEnd();
    await open.repository.status();
    reportLeftOut(left, vscode.l10n.t('Not staged'));
    const staged = plural(vscode.l10n.t('1 file was staged.|{0} files were staged.'), paths.length);
    if (paths.length > 0) void showInfo(staged);
    else if (left.length === 0)
      void showInfo(vscode.l10n.t('All applied changes in this repository are staged or committed already.'));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    logger.error(`Staging failed: ${detailOf(error.cause ?? error)}`);
    void showWarning(vscode.l10n.t('Nothing was staged: {0}', oneLine(error.message)));
  }
}
