import * as vscode from 'vscode';
import { parsePreviewUri } from './previewUri.ts';

/** The preview that a tab shows, if it shows one. */
export function previewIdOfTab(tab: vscode.Tab | undefined): string | undefined {
  const { input } = tab ?? {};
  if (input instanceof vscode.TabInputTextDiff) return parsePreviewUri(input.modified)?.previewId;
  if (input instanceof vscode.TabInputText) return parsePreviewUri(input.uri)?.previewId;
  return undefined;
}

/** The preview in the active editor. */
export function activePreviewId(): string | undefined {
  const shown =
    vscode.window.activeTextEditor && parsePreviewUri(vscode.window.activeTextEditor.document.uri);
  return shown?.previewId ?? previewIdOfTab(vscode.window.tabGroups.activeTabGroup.activeTab);
}

/** The group that holds a preview already, so that the next one opens beside its likes. */
export function groupWithPreview(): vscode.TabGroup | undefined {
  return vscode.window.tabGroups.all.find(group => group.tabs.some(tab => previewIdOfTab(tab) !== undefined));
}

/** Closes the tabs of a preview that is resolved. */
export async function closePreviewTabs(previewId: string): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap(group => group.tabs);
  await vscode.window.tabGroups.close(
    tabs.filter(tab => previewIdOfTab(tab) === previewId),
    true,
  );
}
