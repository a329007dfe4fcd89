import type {
  DocumentEvent,
  Editors,
  EditorWatch,
  OpenDocument,
} from '../../src/agent/hold/preview/commit/landed/editors.ts';
import type { MemoryWorkspace } from '../support/memoryWorkspace.ts';

/**
 * The editors of a window over a workspace in memory, as VS Code's are: a clean one reads its file again some time after that
 * has changed, a dirty one never does; and a save that would overwrite what another has written is refused only if that has
 * another size.
 */
export class MemoryEditors implements Editors {
  readonly #workspace: MemoryWorkspace;
  readonly #documents = new Map<string, MemoryDocument>();
  readonly #watches = new Map<string, Set<(document: OpenDocument, event: DocumentEvent) => void>>();

  constructor(workspace: MemoryWorkspace) {
    this.#workspace = workspace;
  }

  watch(path: string, onEvent: (document: OpenDocument, event: DocumentEvent) => void): EditorWatch {
    const watches = this.#watches.get(path) ?? new Set();
    this.#watches.set(path, watches.add(onEvent));
    const documents = (): OpenDocument[] => [this.#documents.get(path)].flatMap(each => each ?? []);
    return {
      get documents() {
        return documents();
      },
      dispose: () => void watches.delete(onEvent),
    };
  }

  /** Whether a file is watched by anyone. */
  isWatched(path: string): boolean {
    return (this.#watches.get(path)?.size ?? 0) > 0;
  }

  /** What the editor of a file shows; `undefined` if none is open. */
  shown(path: string): string | undefined {
    return this.#documents.get(path)?.text;
  }

  open(path: string): void {
    if (this.#documents.has(path) || this.#workspace.now(path) === undefined) return;
    this.#documents.set(path, new MemoryDocument(path, this.#workspace, () => this.#tell(path, 'changed')));
    this.#tell(path, 'changed');
  }

  /** The user edits what the editor shows, and all that was there before is one Undo away. */
  type(path: string, edit: (text: string) => string): void {
    const document = this.#documents.get(path);
    if (!document) return;
    document.become(edit(document.text));
    this.#tell(path, 'changed');
  }

  /** The user takes back the last edit, whoever made it. */
  undo(path: string): void {
    if (this.#documents.get(path)?.undo() === true) this.#tell(path, 'changed');
  }

  /** The editor notices what has become of its file. */
  follow(path: string): void {
    if (this.#documents.get(path)?.readAgain() === true) this.#tell(path, 'changed');
  }

  /** @param overwrites what the file holds, whatever that is. */
  save(path: string, overwrites: boolean): void {
    if (this.#documents.get(path)?.save(overwrites) === true) this.#tell(path, 'saved');
  }

  revert(path: string): void {
    const document = this.#documents.get(path);
    if (!document?.isDirty) return;
    this.#workspace.closeEditor(path, false);
    document.readAgain();
    this.#tell(path, 'changed');
  }

  /** Closes the editor, without saving. */
  close(path: string): void {
    const document = this.#documents.get(path);
    if (!document) return;
    this.#workspace.closeEditor(path, false);
    this.#documents.delete(path);
    this.#tell(path, 'closed', document);
  }

  #tell(path: string, event: DocumentEvent, document = this.#documents.get(path)): void {
    if (document) for (const tell of [...(this.#watches.get(path) ?? [])]) tell(document, event);
  }
}

class MemoryDocument implements OpenDocument {
  readonly #path: string;
  readonly #workspace: MemoryWorkspace;
  readonly #onChange: () => void;
  readonly #past: string[] = [];
  /** What it shows while it is clean. */
  #clean: string;
  /** The size of the file when it was last read or saved. */
  #size: number;

  constructor(path: string, workspace: MemoryWorkspace, onChange: () => void) {
    this.#path = path;
    this.#workspace = workspace;
    this.#onChange = onChange;
    this.#clean = workspace.text(path) ?? '';
    this.#size = this.#clean.length;
  }

  get text(): string {
    return this.#workspace.typed(this.#path) ?? this.#clean;
  }

  get isDirty(): boolean {
    return this.#workspace.typed(this.#path) !== undefined;
  }

  async replace(from: string, to: string): Promise<boolean> {
    await Promise.resolve(); // VS Code answers later, and keys may come in between
    if (this.text !== from) return false;
    this.become(to);
    this.#onChange();
    return true;
  }

  become(text: string): void {
    this.#past.push(this.text);
    this.#workspace.type(this.#path, text);
  }

  undo(): boolean {
    const before = this.#past.pop();
    if (before === undefined) return false;
    this.#workspace.type(this.#path, before);
    return true;
  }

  readAgain(): boolean {
    const now = this.#workspace.text(this.#path);
    if (this.isDirty || now === undefined || now === this.#clean) return false;
    this.#past.push(this.#clean);
    this.#clean = now;
    this.#size = now.length;
    return true;
  }

  save(overwrites: boolean): boolean {
    const onDisk = this.#workspace.text(this.#path);
    const isRefused = onDisk !== undefined && onDisk.length !== this.#size && onDisk !== this.text;
    if (!this.isDirty || (isRefused && !overwrites)) return false;
    this.#clean = this.text;
    this.#size = this.#clean.length;
    this.#workspace.closeEditor(this.#path, true);
    return true;
  }
}
