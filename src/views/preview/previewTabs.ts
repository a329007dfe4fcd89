import * as vscode from 'vscode';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { oneLine } from '../plainText.ts';
import { parsePreviewUri, type PreviewAddress } from './previewUri.ts';

/** The title of a preview's tab. The multi-diff has no other mark of ours that the stable API shows. */
export function tabTitle(name: string, previewId: string): string {
  return `${name} (Redline ${previewId})`;
}

/** The tabs that show previews, and which preview each of them shows. */
export class PreviewTabs {
  readonly #store: Pick<PreviewStore, 'get'>;

  constructor(store: Pick<PreviewStore, 'get'>) {
    this.#store = store;
  }

  /** The preview that a tab shows, if it shows one. */
  idOf(tab: vscode.Tab | undefined): string | undefined {
    return tab && (addressOf(tab)?.previewId ?? this.#idOfMultiDiff(tab));
  }

  /** The preview in the active editor. */
  activeId(): string | undefined {
    const editor = vscode.window.activeTextEditor;
    const shown = editor && parsePreviewUri(editor.document.uri);
    return shown?.previewId ?? this.idOf(vscode.window.tabGroups.activeTabGroup.activeTab);
  }

  /** Whether the active tab is a multi-file diff of ours. */
  get isMultiDiffActive(): boolean {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    return tab !== undefined && this.#idOfMultiDiff(tab) !== undefined;
  }

  /**
   * Where a preview may open by itself: in an empty group, in place of a preview that nobody touched, with other previews,
   * else beside; never over a person's work, which a preview that they read or edit is too.
   */
  quietColumn(isUntouched: (previewId: string) => boolean): vscode.ViewColumn {
    const { activeTabGroup: active, all } = vscode.window.tabGroups;
    const isFree = (group: vscode.TabGroup): boolean => {
      const shown = this.idOf(group.activeTab);
      return group.tabs.length === 0 || (shown !== undefined && isUntouched(shown));
    };
    const showsPreview = (group: vscode.TabGroup): boolean =>
      group !== active && this.idOf(group.activeTab) !== undefined && group.activeTab?.isDirty === false;
    const free = isFree(active) ? active : (all.find(isFree) ?? all.find(showsPreview));
    return free?.viewColumn ?? vscode.ViewColumn.Beside;
  }

  /** Closes the tabs of a preview that is resolved. */
  close(previewId: string): Promise<void> {
    return closeTabs(tab => this.idOf(tab) === previewId);
  }

  /** Closes the diffs of single files that their previews no longer change, since they were split off. */
  closeFiles(isGone: (address: PreviewAddress) => boolean): Promise<void> {
    return closeTabs(tab => {
      const address = addressOf(tab);
      return address !== undefined && isGone(address);
    });
  }

  /**
   * Closes the tabs of other previews in the same group where VS Code does not reuse one tab by itself
   * (`workbench.editor.enablePreview` is off), so that a stack of previews needs one tab. Pinned and edited ones stay.
   */
  async closeOthers(previewId: string): Promise<void> {
    if (vscode.workspace.getConfiguration('workbench.editor').get('enablePreview') !== false) return;
    const shows = (tab: vscode.Tab): boolean => this.idOf(tab) === previewId;
    await closeTabs(
      tab =>
        !tab.isPinned &&
        !tab.isDirty &&
        this.idOf(tab) !== undefined &&
        !shows(tab) &&
        tab.group.tabs.some(shows),
    );
  }

  /**
   * A multi-diff has no input whose type extensions know, so it is known by its title: the one that its preview's tab gets, to
   * which VS Code may add the number of files. Another tab that only mentions a preview is none of ours.
   */
  #idOfMultiDiff({ input, label }: vscode.Tab): string | undefined {
    if (!isUnnamed(input)) return undefined;
    const id = [...label.matchAll(/\(Redline (p[1-9]\d*)\)/g)].at(-1)?.[1];
    const preview = id === undefined ? undefined : this.#store.get(id);
    if (!preview) return undefined;
    const title = tabTitle(oneLine(preview.label), preview.id);
    return label === title || label.startsWith(`${title} (`) ? preview.id : undefined;
  }
}

/** No input, or that of a multi-diff, whose class the stable API does not name. */
function isUnnamed(input: unknown): boolean {
  return input === undefined || (typeof input === 'object' && input !== null && 'textDiffs' in input);
}

function addressOf({ input }: vscode.Tab): PreviewAddress | undefined {
  if (input instanceof vscode.TabInputTextDiff) return parsePreviewUri(input.modified);
  return input instanceof vscode.TabInputText ? parsePreviewUri(input.uri) : undefined;
}

async function closeTabs(matches: (tab: vscode.Tab) => boolean): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap(group => group.tabs).filter(matches);
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
}
