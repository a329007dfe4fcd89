import { posix } from 'node:path';
import * as vscode from 'vscode';
import { titleOf, type Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { oneLine } from '../plainText.ts';
import { IMAGE_MARK, parsePreviewUri, type PreviewAddress } from '../workspace/previewUri.ts';

/** Mark of a multi-file diff in its title, with its suffixes: notes, and the number of files that VS Code may append. */
const MARK = / \(Redline(?: (?<number>[1-9]\d*))?\)(?=$| \(| · )/g;

/** Comes before a note in a title. */
export const NOTE = ' · ';

/** The title of a tab of several previews, which no single preview has. @param name their common title */
export function overviewTitle(name: string, notes: readonly string[] = []): string {
  return [oneLine(name), 'Redline', ...notes].join(NOTE);
}

/** Finds and closes the tabs that show previews. */
export class PreviewTabs {
  readonly #store: PreviewStore;
  /** By the title of a tab, the ids of the previews that it shows together. */
  readonly #together = new Map<string, readonly string[]>();
  /** By the name of a tab, the ids of the previews that have been shown under it, in the order of their numbers. */
  readonly #named = new Map<string, readonly string[]>();

  constructor(store: PreviewStore) {
    this.#store = store;
  }

  /**
   * The number of a preview among those whose tabs have this name, from 1: a title has no id. After a reload, only the first is known
   * by it.
   * @param name its title or, of images, the name of their file
   */
  numberOf({ id }: Preview, name: string): number {
    const ids = [...new Set([...(this.#named.get(name) ?? [this.#firstNamed(name)?.id ?? id]), id])];
    this.#named.set(name, ids);
    return ids.indexOf(id) + 1;
  }

  /** The id of the preview that a tab shows, if any. */
  idOf(tab: vscode.Tab | undefined): string | undefined {
    return tab && (addressOf(tab)?.previewId ?? this.#idOfMultiDiff(tab) ?? this.#ofImages(tab)?.id);
  }

  /** The id of the preview in the active editor, if any. */
  activeId(): string | undefined {
    const editor = vscode.window.activeTextEditor;
    const shown = editor && parsePreviewUri(editor.document.uri);
    return shown?.previewId ?? this.idOf(vscode.window.tabGroups.activeTabGroup.activeTab);
  }

  /** The document that the active tab shows. */
  activeAddress(): PreviewAddress | undefined {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    return tab && addressOf(tab);
  }

  /** The column where a preview is in front; `undefined` if it is in none. */
  columnShowing(previewId: string): vscode.ViewColumn | undefined {
    const { activeTabGroup, all } = vscode.window.tabGroups;
    return [activeTabGroup, ...all].find(group => this.idOf(group.activeTab) === previewId)?.viewColumn;
  }

  /** The column where a file that was split off its preview is in front; `undefined` if it is in none. */
  columnShowingFile(isGone: (address: PreviewAddress) => boolean): vscode.ViewColumn | undefined {
    const shows = ({ activeTab }: vscode.TabGroup): boolean =>
      activeTab !== undefined && this.#showsGone(activeTab, isGone);
    return vscode.window.tabGroups.all.find(shows)?.viewColumn;
  }

  /** The column with a tab that matches, even behind others; `undefined` if none has. */
  columnOf(matches: (address: PreviewAddress) => boolean): vscode.ViewColumn | undefined {
    const shows = (tab: vscode.Tab): boolean => {
      const address = addressOf(tab);
      return address !== undefined && matches(address);
    };
    const { activeTabGroup, all } = vscode.window.tabGroups;
    return [activeTabGroup, ...all].find(({ tabs }) => tabs.some(shows))?.viewColumn;
  }

  /** Whether a preview is in front in any group. */
  get isAnyInFront(): boolean {
    return vscode.window.tabGroups.all.some(group => this.idOf(group.activeTab) !== undefined);
  }

  /** Whether the active tab is the multi-file diff of a preview, or of several. */
  get isMultiDiffActive(): boolean {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    return tab !== undefined && (this.#idOfMultiDiff(tab) !== undefined || this.togetherIn(tab).length > 0);
  }

  /** A tab with this title shows all of these. */
  noteTogether(title: string, ids: readonly string[]): void {
    this.#together.set(title, ids);
  }

  /** The ids of the previews that a tab shows together; VS Code may append the number of files to its title. */
  togetherIn(tab = vscode.window.tabGroups.activeTabGroup.activeTab): readonly string[] {
    if (!tab || !mayBeMultiDiff(tab.input)) return [];
    return this.#together.get(tab.label) ?? this.#together.get(tab.label.replace(/ \([^()]*\)$/, '')) ?? [];
  }

  /**
   * The column in which a preview may open automatically: a group that is empty, has only VS Code's Welcome page or shows an
   * untouched preview, else another group that shows previews, else a new one beside the active group. It never covers the user's
   * work, which includes a preview that they are reading or editing.
   */
  quietColumn(isUntouched: (previewId: string) => boolean): vscode.ViewColumn {
    const { activeTabGroup: active, all } = vscode.window.tabGroups;
    const isFree = (group: vscode.TabGroup): boolean => {
      const shown = this.idOf(group.activeTab);
      return group.tabs.every(isWelcome) || (shown !== undefined && isUntouched(shown));
    };
    const showsPreview = (group: vscode.TabGroup): boolean =>
      group !== active && this.idOf(group.activeTab) !== undefined && group.activeTab?.isDirty === false;
    const free = isFree(active) ? active : (all.find(isFree) ?? all.find(showsPreview));
    return free?.viewColumn ?? vscode.ViewColumn.Beside;
  }

  /** Closes VS Code's Welcome page in a column where a preview was opened. */
  closeWelcome(viewColumn: vscode.ViewColumn): Promise<void> {
    return closeTabs(tab => isWelcome(tab) && tab.group.viewColumn === viewColumn);
  }

  /** Closes the tabs of a preview that is resolved. */
  close(previewId: string): Promise<void> {
    return closeTabs(tab => this.idOf(tab) === previewId);
  }

  /** Closes the single-file diffs whose file was split off its preview. */
  closeFiles(isGone: (address: PreviewAddress) => boolean): Promise<void> {
    return closeTabs(tab => this.#showsGone(tab, isGone));
  }

  /**
   * Closes the tabs of unknown previews: those of another window on the folder, which VS Code restores here, and forgotten ones. A
   * multi-file diff and a diff of images can only be recognized by their titles.
   */
  closeForgotten(): Promise<void> {
    const isForgotten = (id: string | undefined): boolean => id !== undefined && !this.#store.get(id);
    return closeTabs(
      tab =>
        isForgotten(addressOf(tab)?.previewId) ||
        (mayBeMultiDiff(tab.input) &&
          tab.label.search(MARK) >= 0 &&
          this.#idOfMultiDiff(tab) === undefined) ||
        (imagesIn(tab) !== undefined && this.#ofImages(tab) === undefined),
    );
  }

  /**
   * Closes the tabs of other previews in the same group if VS Code does not reuse one tab itself
   * (`workbench.editor.enablePreview` is off), so that a stack of previews uses one tab. Pinned and edited tabs stay.
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

  #showsGone(tab: vscode.Tab, isGone: (address: PreviewAddress) => boolean): boolean {
    const address = addressOf(tab);
    if (address) return isGone(address);
    const images = this.#ofImages(tab);
    return images?.changes !== undefined && !hasFile(images, imagesIn(tab)?.name);
  }

  /** The preview whose images a tab compares, by the name that VS Code gives it: the API has no input type for it either. */
  #ofImages(tab: vscode.Tab): Preview | undefined {
    const shown = imagesIn(tab);
    return shown && this.#numbered(shown.name, shown.number);
  }

  #numbered(name: string, number = '1'): Preview | undefined {
    const ids = this.#named.get(name) ?? [this.#firstNamed(name)?.id];
    return this.#store.get(ids[Number(number) - 1] ?? '');
  }

  /** Recognises a multi-file diff by its title; a tab that merely mentions a preview does not match. */
  #idOfMultiDiff({ input, label }: vscode.Tab): string | undefined {
    if (!mayBeMultiDiff(input)) return undefined;
    for (const { index, groups } of [...label.matchAll(MARK)].reverse()) {
      const name = label.slice(0, index);
      const preview = this.#numbered(name, groups?.['number']);
      if (preview && oneLine(titleOf(preview)) === name) return preview.id;
    }
    return undefined;
  }

  #firstNamed(name: string): Preview | undefined {
    return this.#store
      .all()
      .find(one => (one.kind === 'files' && oneLine(titleOf(one)) === name) || hasFile(one, name));
  }
}

/** The API has no input type for the page, only the name that VS Code gives it in its language. */
function isWelcome({ input, label, isPinned }: vscode.Tab): boolean {
  return input === undefined && !isPinned && label === vscode.l10n.t('Welcome');
}

/** Parses VS Code's label for the diff of an image: `logo.png ↔ logo.png (Redline 2).png`. */
function imagesIn({ input, label }: vscode.Tab): { name: string; number: string | undefined } | undefined {
  const mark = input === undefined ? IMAGE_MARK.exec(label) : null;
  const [name = '', marked] = label.slice(0, mark?.index).split(' ↔ ');
  return mark && name === marked ? { name, number: mark[1] } : undefined;
}

function hasFile({ changes }: Preview, name: string | undefined): boolean {
  return changes?.some(({ path }) => posix.basename(path) === name) ?? false;
}

/** A multi-file diff has no input, or one whose class is not in the stable API. */
function mayBeMultiDiff(input: unknown): boolean {
  return input === undefined || (typeof input === 'object' && input !== null && 'textDiffs' in input);
}

/** The document that a tab shows, if it is a diff of one file or an opaque preview's. */
export function addressOf({ input }: vscode.Tab): PreviewAddress | undefined {
  if (input instanceof vscode.TabInputTextDiff || input instanceof vscode.TabInputNotebookDiff)
    return parsePreviewUri(input.modified);
  return input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom
    ? parsePreviewUri(input.uri)
    : undefined;
}

async function closeTabs(matches: (tab: vscode.Tab) => boolean): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap(group => group.tabs).filter(matches);
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
}
