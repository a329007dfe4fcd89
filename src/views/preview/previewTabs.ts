import * as vscode from 'vscode';
import { parsePreviewUri } from './previewUri.ts';

/** The title of a preview's tab. The multi-diff has no other mark of ours that the stable API shows. */
export function tabTitle(name: string, previewId: string): string {
  return `${name} (Redline ${previewId})`;
}

/** The preview that a tab shows, if it shows one. */
export function previewIdOfTab(tab: vscode.Tab | undefined): string | undefined {
  if (!tab) return undefined;
  const { input, label } = tab;
  if (input instanceof vscode.TabInputTextDiff) return parsePreviewUri(input.modified)?.previewId;
  if (input instanceof vscode.TabInputText) return parsePreviewUri(input.uri)?.previewId;
  // A multi-diff has no input that extensions see. VS Code adds the number of files to its title.
  return input === undefined ? [...label.matchAll(/\(Redline (p[1-9]\d*)\)/g)].at(-1)?.[1] : undefined;
}

/** The preview in the active editor. */
export function activePreviewId(): string | undefined {
  const shown =
    vscode.window.activeTextEditor && parsePreviewUri(vscode.window.activeTextEditor.document.uri);
  return shown?.previewId ?? previewIdOfTab(vscode.window.tabGroups.activeTabGroup.activeTab);
}

/** Where a preview may open by itself: with other previews, in an empty group, else beside; never over a person's work. */
export function quietColumn(): vscode.ViewColumn {
  const { activeTabGroup: active, all } = vscode.window.tabGroups;
  const isFree = (group: vscode.TabGroup): boolean =>
    group.tabs.length === 0 || previewIdOfTab(group.activeTab) !== undefined;
  const holdsPreview = (group: vscode.TabGroup): boolean =>
    group.tabs.some(tab => previewIdOfTab(tab) !== undefined);
  const free = isFree(active) ? active : all.find(group => group !== active && holdsPreview(group));
  return free?.viewColumn ?? vscode.ViewColumn.Beside;
}

/** Closes the tabs of a preview that is resolved. */
export function closePreviewTabs(previewId: string): Promise<void> {
  return closeTabs(tab => previewIdOfTab(tab) === previewId);
}

/**
 * Closes the tabs of other previews where VS Code does not reuse one tab by itself (`workbench.editor.enablePreview`
 * is off), so that a stack of previews needs one tab. Pinned ones stay.
 */
export async function closeOtherPreviewTabs(previewId: string): Promise<void> {
  if (vscode.workspace.getConfiguration('workbench.editor').get('enablePreview') !== false) return;
  await closeTabs(tab => !tab.isPinned && ![undefined, previewId].includes(previewIdOfTab(tab)));
}

async function closeTabs(matches: (tab: vscode.Tab) => boolean): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap(group => group.tabs).filter(matches);
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
}
