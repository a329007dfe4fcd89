import * as vscode from 'vscode';
import type { FileChange } from '../../agent/hold/preview/fileChange.ts';
import { goneFiles } from '../../agent/hold/preview/fileSteps.ts';
import type { LedgerEntry } from '../../agent/hold/preview/ledger.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { placeId } from '../workspace/namesOnDisk.ts';
import type { FileUris } from '../workspace/previewUri.ts';

/** Moves the tabs of files that applied changes renamed or deleted. */
export async function moveTabsAfter(
  entries: readonly LedgerEntry[],
  store: PreviewStore,
  files: FileUris,
): Promise<void> {
  const applied = entries.filter(({ outcome }) => outcome === 'applied');
  const changes = applied.flatMap(({ previewId }) => store.get(previewId)?.changes ?? []);
  if (changes.length > 0) await moveTabs(changes, files);
}

/**
 * Moves the tabs of files that changes have renamed to the new names, as VS Code does for its own renames, and closes those of
 * files that are no longer there. A tab with unsaved changes stays, and VS Code marks its file as deleted.
 */
async function moveTabs(changes: readonly FileChange[], files: FileUris): Promise<void> {
  const targets = new Map<string, vscode.Uri | undefined>();
  for (const [from, to] of goneFiles(changes))
    targets.set(placeId(files(from).fsPath), to === undefined ? undefined : files(to));
  const isLeft = (tab: vscode.Tab): boolean => {
    const uri = fileOf(tab);
    return uri !== undefined && !tab.isDirty && targets.has(placeId(uri.fsPath));
  };
  const tabs = (): vscode.Tab[] => vscode.window.tabGroups.all.flatMap(group => group.tabs).filter(isLeft);
  for (const tab of tabs()) {
    const target = targets.get(placeId(fileOf(tab)?.fsPath ?? ''));
    if (target) await openInstead(tab, target);
  }
  const left = tabs();
  if (left.length > 0) await vscode.window.tabGroups.close(left, true);
}

/** The file that a tab edits, or shows on the side of a diff that can be edited. */
function fileOf({ input }: vscode.Tab): vscode.Uri | undefined {
  const uri = isEditor(input)
    ? input.uri
    : input instanceof vscode.TabInputTextDiff || input instanceof vscode.TabInputNotebookDiff
      ? input.modified
      : undefined;
  return uri?.scheme === 'file' ? uri : undefined;
}

type Editor = vscode.TabInputText | vscode.TabInputNotebook | vscode.TabInputCustom;

function isEditor(input: unknown): input is Editor {
  return (
    input instanceof vscode.TabInputText ||
    input instanceof vscode.TabInputNotebook ||
    input instanceof vscode.TabInputCustom
  );
}

/** Opens a file in place of a tab, in the same kind of editor, and takes over the tab's own state. */
async function openInstead(tab: vscode.Tab, target: vscode.Uri): Promise<void> {
  const { input, group, isActive, isPinned, isPreview } = tab;
  if (!isEditor(input)) return;
  const shown = vscode.window.visibleTextEditors.find(
    ({ document, viewColumn }) =>
      isActive && viewColumn === group.viewColumn && document.uri.toString() === input.uri.toString(),
  );
  const { selections, visibleRanges } = shown ?? {};
  const options = {
    viewColumn: group.viewColumn,
    preserveFocus: true,
    preview: isPreview,
    // An option of `vscode.open`: the tab does not come to the front.
    background: !isActive,
  };
  if (input instanceof vscode.TabInputText)
    await vscode.commands.executeCommand('vscode.open', target, options);
  else {
    const type = input instanceof vscode.TabInputNotebook ? input.notebookType : input.viewType;
    await vscode.commands.executeCommand('vscode.openWith', target, type, options);
  }
  const moved = vscode.window.visibleTextEditors.find(
    ({ document, viewColumn }) =>
      viewColumn === group.viewColumn && document.uri.toString() === target.toString(),
  );
  if (moved && selections) {
    moved.selections = selections;
    const [first] = visibleRanges ?? [];
    if (first) moved.revealRange(first, vscode.TextEditorRevealType.AtTop);
  }
  if (isPinned) await vscode.commands.executeCommand('workbench.action.pinEditor', target);
}
