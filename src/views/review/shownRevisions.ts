import * as vscode from 'vscode';
import { Owner } from '../../agent/base/disposable.ts';
import { sha256 } from '../../agent/base/hash.ts';
import { withLineFeeds } from '../../agent/hold/text/lines.ts';
import type { ProposedChange } from '../../agent/hold/preview/pendingFiles.ts';
import type { FileChange } from '../../agent/hold/preview/fileChange.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { PREVIEW_SCHEME } from '../contributions.ts';
import { sideText } from './documents/sideDocument.ts';
import { parsePreviewUri, type FileUris } from '../workspace/previewUri.ts';
import { shownChange } from './shownChange.ts';
import { documentIn } from './documents/editorSaves.ts';

/** Content of a visible editor: the change of a file, or a preview without files. */
export interface VisibleChange {
  readonly preview: Preview;
  readonly change?: FileChange;
  /** The lines of the proposal that are in view; absent where that is not known, and all of it counts. */
  readonly lines?: readonly LineRange[];
}

/** Counted from 0; both ends are in view. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** The last revision that VS Code has read for a document. */
interface Read {
  readonly revision: number;
  /** Of its bytes. */
  readonly hash: string;
  /** Whether the document has changed since, and so holds the content read. */
  isLoaded: boolean;
  /** The revision that the document held before. */
  readonly before: number | undefined;
}

/**
 * The revisions that the visible preview documents show. A new revision is in the store before VS Code shows it, and a vote by key
 * or by a button in the title is for the revision shown.
 */
export class ShownRevisions extends Owner {
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #reads = new Map<string, Read>();
  readonly #appeared = this.own(new vscode.EventEmitter<void>());

  /** Fires when other preview documents become visible, or when visible ones show something else. */
  readonly onDidShow = this.#appeared.event;

  constructor(store: PreviewStore, files: FileUris) {
    super();
    this.#store = store;
    this.#files = files;
    const noteLoaded = ({ uri }: vscode.TextDocument): void => {
      if (uri.scheme !== PREVIEW_SCHEME) return;
      const read = this.#reads.get(uri.toString());
      if (read) read.isLoaded = true;
      this.#appeared.fire();
    };
    this.own(vscode.window.onDidChangeVisibleTextEditors(() => this.#appeared.fire()));
    this.own(
      vscode.window.onDidChangeTextEditorVisibleRanges(
        ({ textEditor }) => textEditor.document.uri.scheme === PREVIEW_SCHEME && this.#appeared.fire(),
      ),
    );
    this.own(vscode.window.onDidChangeActiveTextEditor(() => this.#appeared.fire()));
    this.own(vscode.window.tabGroups.onDidChangeTabs(() => this.#appeared.fire()));
    this.own(vscode.workspace.onDidOpenTextDocument(noteLoaded));
    this.own(vscode.workspace.onDidChangeTextDocument(({ document }) => noteLoaded(document)));
    this.own(vscode.workspace.onDidCloseTextDocument(({ uri }) => void this.#reads.delete(uri.toString())));
  }

  /** VS Code reads a document, and will show it. */
  noteRead(uri: vscode.Uri, revision: number, bytes: Uint8Array): void {
    const last = this.#reads.get(uri.toString());
    const hash = sha256(bytes);
    if (last?.revision === revision) return void this.#reads.set(uri.toString(), { ...last, hash });
    // The document does not change if its bytes are the same: VS Code fires no event for the new revision.
    const isSame = last?.hash === hash;
    const before = last?.isLoaded && !isSame ? last.revision : last?.before;
    this.#reads.set(uri.toString(), { revision, hash, isLoaded: isSame && last.isLoaded, before });
    // VS Code fires no event when a notebook was loaded.
    this.#appeared.fire();
  }

  /** The oldest revision that a visible document of the preview shows; `undefined` if none says. */
  of(previewId: string): number | undefined {
    const shown = vscode.window.visibleTextEditors.flatMap(({ document }) => {
      const found = document.uri.scheme === PREVIEW_SCHEME ? this.#shownIn(document) : undefined;
      return found?.preview.id === previewId ? (found.revision ?? []) : [];
    });
    shown.push(
      ...this.#notebooks().flatMap(({ preview, revision }) => (preview.id === previewId ? revision : [])),
    );
    return shown.length === 0 ? undefined : Math.min(...shown);
  }

  /** Changes that the visible editors show in their current revision. */
  visible(): readonly VisibleChange[] {
    const texts = vscode.window.visibleTextEditors.flatMap((editor): VisibleChange[] => {
      const { document } = editor;
      const address = parsePreviewUri(document.uri);
      if (!address || address.side === 'base') return [];
      const preview = this.#store.get(address.previewId);
      if (preview && !preview.changes) return [{ preview }];
      const shown = this.#shownIn(document);
      if (!shown || shown.revision !== shown.preview.revision) return [];
      // VS Code also lists a multi-file diff's editors that are scrolled out of view; only the one with the cursor is surely in
      // view.
      const isInView = editor === vscode.window.activeTextEditor || isInFront(document.uri);
      const lines = isInView
        ? editor.visibleRanges.map(({ start, end }) => ({ start: start.line, end: end.line }))
        : [];
      return [{ ...shown, lines }];
    });
    return [...texts, ...this.#notebooks().filter(({ preview, revision }) => revision === preview.revision)];
  }

  /**
   * The notebook diffs in front. VS Code does not say which revision a notebook diff shows; Redline takes it to be the last one
   * that VS Code read.
   */
  #notebooks(): (ProposedChange & { readonly revision: number })[] {
    return vscode.window.tabGroups.all.flatMap(({ activeTab }) => {
      const { input } = activeTab ?? {};
      if (!(input instanceof vscode.TabInputNotebookDiff)) return [];
      const address = parsePreviewUri(input.modified);
      const shown = address && shownChange(this.#store, this.#files, address);
      const read = this.#reads.get(input.modified.toString());
      return shown && read ? [{ ...shown, revision: read.revision }] : [];
    });
  }

  /** The change that a document belongs to, and the revision that it shows, if that is known. */
  #shownIn(document: vscode.TextDocument): (ProposedChange & { readonly revision?: number }) | undefined {
    const address = parsePreviewUri(document.uri);
    const shown = address && shownChange(this.#store, this.#files, address);
    // Unsaved typing is not a revision.
    if (!shown || document.isDirty) return undefined;
    const side = address.side === 'proposal' ? shown.change.after : shown.change.before;
    if (isSameText(document.getText(), sideText(side))) return { ...shown, revision: shown.preview.revision };
    // The text may differ only because VS Code decodes the bytes in another way.
    const read = this.#reads.get(document.uri.toString());
    const revision = read?.isLoaded ? read.revision : read?.before;
    return revision === undefined ? undefined : { ...shown, revision };
  }
}

/** Whether the document is in front in a tab of its own, not only in a multi-file diff. */
function isInFront(uri: vscode.Uri): boolean {
  return vscode.window.tabGroups.all.some(({ activeTab }) => documentIn(activeTab) === uri.toString());
}

/** Whether a document holds the text: VS Code gives all its lines the same ending. */
function isSameText(one: string, other: string): boolean {
  return one === other || withLineFeeds(one) === withLineFeeds(other);
}
