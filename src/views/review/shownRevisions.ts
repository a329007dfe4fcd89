import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { sha256 } from '../../agent/base/hash.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { PREVIEW_SCHEME } from '../contributions.ts';
import { parsePreviewUri, type FileUris } from './previewUri.ts';
import { shownChange } from './shownChange.ts';

/** The last revision that VS Code has read for a document. */
interface Read {
  readonly revision: number;
  /** Of its bytes. */
  readonly hash: string;
  /** Whether the document has changed since, and so holds what was read. */
  isLoaded: boolean;
  /** The revision that the document held before. */
  readonly before: number | undefined;
}

/**
 * The revisions that the visible preview documents show. A new revision is in the store before VS Code shows it, and a
 * vote by key or by a button in the title is for what was shown.
 */
export class ShownRevisions implements vscode.Disposable {
  readonly #store: Pick<PreviewStore, 'get' | 'all'>;
  readonly #files: FileUris;
  readonly #owned = new DisposableStore();
  readonly #reads = new Map<string, Read>();

  constructor(store: Pick<PreviewStore, 'get' | 'all'>, files: FileUris) {
    this.#store = store;
    this.#files = files;
    const noteLoaded = ({ uri }: vscode.TextDocument): void => {
      const read = uri.scheme === PREVIEW_SCHEME ? this.#reads.get(uri.toString()) : undefined;
      if (read) read.isLoaded = true;
    };
    this.#owned.add(vscode.workspace.onDidOpenTextDocument(noteLoaded));
    this.#owned.add(vscode.workspace.onDidChangeTextDocument(({ document }) => noteLoaded(document)));
    this.#owned.add(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => void this.#reads.delete(uri.toString())),
    );
  }

  /** VS Code reads a document, and will show it. */
  noteRead(uri: vscode.Uri, revision: number, bytes: Uint8Array): void {
    const last = this.#reads.get(uri.toString());
    const hash = sha256(bytes);
    if (last?.revision === revision) return void this.#reads.set(uri.toString(), { ...last, hash });
    // The document does not change if its bytes are the same: no event would say that it holds the new revision.
    const isSame = last?.hash === hash;
    const before = last?.isLoaded && !isSame ? last.revision : last?.before;
    this.#reads.set(uri.toString(), { revision, hash, isLoaded: isSame && last.isLoaded, before });
  }

  /** The oldest revision that a visible document of the preview shows; `undefined` if none says. */
  of(previewId: string): number | undefined {
    const shown = vscode.window.visibleTextEditors.flatMap(({ document }) =>
      document.uri.scheme === PREVIEW_SCHEME ? (this.#shownIn(document, previewId) ?? []) : [],
    );
    return shown.length === 0 ? undefined : Math.min(...shown);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #shownIn(document: vscode.TextDocument, previewId: string): number | undefined {
    const address = parsePreviewUri(document.uri);
    const shown = address && shownChange(this.#store, this.#files, address);
    // What the user is typing is no revision.
    if (shown?.preview.id !== previewId || document.isDirty) return undefined;
    const side = address?.side === 'proposal' ? shown.change.after : shown.change.before;
    if (isSameText(document.getText(), side?.text ?? '')) return shown.preview.revision;
    // The text may differ only because VS Code decodes the bytes in another way.
    const read = this.#reads.get(document.uri.toString());
    return read?.isLoaded ? read.revision : read?.before;
  }
}

/** Whether a document holds the text: VS Code gives all its lines the same ending. */
export function isSameText(one: string, other: string): boolean {
  return one === other || withLineFeeds(one) === withLineFeeds(other);
}

function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
