import * as vscode from 'vscode';
import type { Disposable } from '../../agent/base/disposable.ts';
import type {
  DocumentEvent,
  Editors,
  EditorWatch,
  OpenDocument,
} from '../../agent/hold/preview/commit/landed/editors.ts';
import { withLineFeeds } from '../../agent/hold/text/lines.ts';
import { replaceText } from './editDirtyDocument.ts';
import { placeId } from './namesOnDisk.ts';

/** The text editors of the window, for listeners that follow applied changes. */
export class WindowEditors implements Editors {
  readonly #uriOf: (path: string) => vscode.Uri;
  readonly #watches = new Set<Watch>();
  readonly #documents = new WeakMap<vscode.TextDocument, OpenDocument>();

  /**
   * @param uriOf the URI of a workspace path.
   * @param disposables gets the listeners to VS Code.
   */
  constructor(uriOf: (path: string) => vscode.Uri, disposables: Disposable[]) {
    this.#uriOf = uriOf;
    const { workspace } = vscode;
    disposables.push(
      workspace.onDidOpenTextDocument(document => this.#tell(document, 'changed')),
      workspace.onDidChangeTextDocument(({ document }) => this.#tell(document, 'changed')),
      workspace.onDidSaveTextDocument(document => this.#tell(document, 'saved')),
      // A change of the language closes a document, too, and opens it again.
      workspace.onDidCloseTextDocument(document => document.isClosed && this.#tell(document, 'closed')),
    );
  }

  watch(path: string, onEvent: (document: OpenDocument, event: DocumentEvent) => void): EditorWatch {
    const watch = new Watch(this.#uriOf(path), (document, event) => onEvent(this.#open(document), event));
    this.#watches.add(watch);
    for (const document of vscode.workspace.textDocuments) watch.isOf(document);
    const open = (): OpenDocument[] => watch.documents.map(document => this.#open(document));
    return {
      get documents() {
        return open();
      },
      dispose: () => void this.#watches.delete(watch),
    };
  }

  #tell(document: vscode.TextDocument, event: DocumentEvent): void {
    if (this.#watches.size === 0 || document.uri.scheme !== 'file') return;
    for (const watch of this.#watches) if (watch.isOf(document)) watch.onEvent(document, event);
  }

  #open(document: vscode.TextDocument): OpenDocument {
    const open = this.#documents.get(document) ?? new EditorDocument(document);
    this.#documents.set(document, open);
    return open;
  }
}

/** Finds the documents of a file, also those whose editors know it by another name. */
class Watch {
  readonly onEvent: (document: vscode.TextDocument, event: DocumentEvent) => void;
  readonly #uri: vscode.Uri;
  /** Whether a document belongs to the file. The answer is kept: a deleted file no longer has a place. */
  readonly #known = new Map<vscode.TextDocument, boolean>();

  constructor(uri: vscode.Uri, onEvent: Watch['onEvent']) {
    this.#uri = uri;
    this.onEvent = onEvent;
  }

  get documents(): readonly vscode.TextDocument[] {
    return [...this.#known].flatMap(([document, isOwn]) => (isOwn && !document.isClosed ? [document] : []));
  }

  isOf(document: vscode.TextDocument): boolean {
    const known = this.#known.get(document);
    if (known !== undefined) return known;
    const isOwn =
      document.uri.toString() === this.#uri.toString() ||
      (document.uri.scheme === 'file' && placeNow(document.uri.fsPath) === placeNow(this.#uri.fsPath));
    this.#known.set(document, isOwn);
    return isOwn;
  }
}

let places: Map<string, string> | undefined;

/** The {@link placeId}, looked up once in all that is done without a pause: a commit may write thousands of files while many are open. */
function placeNow(file: string): string {
  if (!places) queueMicrotask(() => (places = undefined));
  places ??= new Map();
  const place = places.get(file) ?? placeId(file);
  places.set(file, place);
  return place;
}

class EditorDocument implements OpenDocument {
  readonly #document: vscode.TextDocument;

  constructor(document: vscode.TextDocument) {
    this.#document = document;
  }

  get text(): string {
    return withLineFeeds(this.#document.getText());
  }

  get isDirty(): boolean {
    return this.#document.isDirty && !this.#document.isClosed;
  }

  async replace(from: string, to: string): Promise<boolean> {
    if (this.text !== from) return false;
    const isCrlf = this.#document.eol === vscode.EndOfLine.CRLF;
    return replaceText(this.#document, isCrlf ? to.replaceAll('\n', '\r\n') : to);
  }
}
