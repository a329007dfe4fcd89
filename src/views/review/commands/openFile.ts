import * as vscode from 'vscode';
import { succeeds } from '../../../agent/base/async.ts';
import { hunksOfChange, type FileChange } from '../../../agent/hold/preview/fileChange.ts';
import { isOpen, type Preview } from '../../../agent/hold/preview/preview.ts';
import { lineOnOtherSide } from '../../../agent/hold/text/hunks.ts';
import type { Agent } from '../../agent.ts';
import { oneLine } from '../../plainText.ts';
import { showInfo } from '../../toast.ts';
import { parsePreviewUri } from '../../workspace/previewUri.ts';
import { shownChange } from '../shownChange.ts';
import type { PreviewTarget } from './previewTargets.ts';

/**
 * Opens a file that a preview changes, as it is now: the one that was named or is shown, else the first.
 * @param document the preview document that was clicked or is active
 */
export async function openFileOf(
  { store, files }: Agent,
  target: PreviewTarget,
  document: vscode.Uri | undefined,
): Promise<void> {
  const address = document && parsePreviewUri(document);
  const shown = address?.previewId === target.id ? shownChange(store, files, address) : undefined;
  const preview = shown?.preview ?? store.get(target.id);
  const changes = preview?.changes ?? [];
  const change = shown?.change ?? changes.find(({ path }) => path === target.path) ?? changes[0];
  if (!preview || !change) return void showInfo(vscode.l10n.t('This preview does not change any file.'));
  for (const path of placesOf(change)) {
    const uri = files(path);
    if (!(await succeeds(vscode.workspace.fs.stat(uri)))) continue;
    const line = await lineIn(preview, change, document);
    const selection = new vscode.Range(line, 0, line, 0);
    await vscode.window.showTextDocument(uri, { selection });
    return;
  }
  void showInfo(missingText(preview, change));
}

/** The line of the file that the cursor of the preview document stands for, else the first one that changes. */
async function lineIn(
  preview: Preview,
  change: FileChange,
  document: vscode.Uri | undefined,
): Promise<number> {
  const hunks = await hunksOfChange(change);
  const isApplied = preview.state.kind === 'applied';
  const first = hunks[0];
  const editor = vscode.window.visibleTextEditors.find(
    one => one.document.uri.toString() === document?.toString(),
  );
  const address = editor && parsePreviewUri(editor.document.uri);
  if (!editor || address?.previewId !== preview.id)
    return Math.max(0, (isApplied ? first?.afterStart : first?.beforeStart) ?? 0);
  const { line } = editor.selection.active;
  const isProposal = address.side === 'proposal';
  return isProposal === isApplied ? line : lineOnOtherSide(hunks, line, isProposal ? 'after' : 'before');
}

/** Paths at which the file may be: until a rename is applied, it is at the old path. */
function placesOf(change: FileChange): readonly string[] {
  return change.kind === 'rename' ? [change.from, change.path] : [change.path];
}

function missingText(preview: Preview, { kind, path }: FileChange): string {
  return kind === 'create' && isOpen(preview)
    ? vscode.l10n.t('{0} does not exist yet. Applying the preview creates it.', oneLine(path))
    : vscode.l10n.t('{0} does not exist.', oneLine(path));
}
