import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { bytesOfSide } from '../../agent/preview/fileChange.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { opaqueDocument } from './opaqueDocument.ts';
import type { ProposalEdits } from './proposalEdits.ts';
import { shownChange } from './shownChange.ts';
import { opaqueUri, parsePreviewUri, type FileUris, type PreviewAddress } from './previewUri.ts';

/**
 * Serves preview documents from the store: `redline-preview://p3/path` is the proposal, the same with `?base` what it was
 * made on. Read-only but for a proposal that a person edits. The bytes are the exact bytes that the invoker checks and writes.
 */
export class PreviewFileSystem implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #edits: ProposalEdits;
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new vscode.EventEmitter<vscode.FileChangeEvent[]>());
  readonly onDidChangeFile = this.#changed.event;
  /**
   * Documents that were ever read, by preview: of no other has anybody to hear that it changed, and a preview may have
   * thousands. None is forgotten when it is closed, for it may be on its way back.
   */
  readonly #read = new Map<string, Map<string, vscode.Uri>>();

  constructor(store: PreviewStore, files: FileUris, edits: ProposalEdits) {
    this.#store = store;
    this.#files = files;
    this.#edits = edits;
    this.#owned.add(store.onDidChange(preview => this.#announce(preview)));
    this.#owned.add(edits.onDidChange(uri => this.#announceUris([uri])));
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { preview, bytes } = this.#find(uri);
    const ctime = Date.parse(preview.stagedAt);
    return {
      type: vscode.FileType.File,
      ctime,
      // A later revision is a later time, so that open editors take it up; what is dropped is in conflict with nothing.
      mtime: this.#edits.isDropping(uri) ? ctime : ctime + preview.revision,
      size: bytes.length,
      ...(this.#edits.isOpen(uri) ? {} : { permissions: vscode.FilePermission.Readonly }),
    };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    const read = this.#read.get(uri.authority) ?? new Map<string, vscode.Uri>();
    this.#read.set(uri.authority, read.set(uri.toString(), uri));
    return this.#find(uri).bytes;
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    return this.#edits.write(uri, content);
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #find(uri: vscode.Uri): { preview: Preview; bytes: Uint8Array } {
    const address = parsePreviewUri(uri);
    const shown = address && this.#shown(address);
    if (!shown) throw vscode.FileSystemError.FileNotFound(uri);
    const draft = address.side === 'proposal' ? this.#edits.draftOf(uri) : undefined;
    return draft ? { ...shown, bytes: draft } : shown;
  }

  #shown(address: PreviewAddress): { preview: Preview; bytes: Uint8Array } | undefined {
    const { previewId, side, path } = address;
    const opaque = this.#store.get(previewId);
    if (opaque && !opaque.changes) {
      if (path !== opaqueUri(opaque, side).path) return undefined;
      return { preview: opaque, bytes: Buffer.from(side === 'proposal' ? opaqueDocument(opaque) : '') };
    }
    const shown = shownChange(this.#store, this.#files, address);
    if (!shown) return undefined;
    const content = side === 'proposal' ? shown.change.after : shown.change.before;
    return { preview: shown.preview, bytes: content ? bytesOfSide(content) : new Uint8Array() };
  }

  /** A part is shown under the address of what it was split off, too. */
  #announce({ id, part }: Preview): void {
    const ids = part ? [id, part.previewId] : [id];
    this.#announceUris(ids.flatMap(each => [...(this.#read.get(each)?.values() ?? [])]));
  }

  #announceUris(uris: readonly vscode.Uri[]): void {
    if (uris.length === 0) return;
    this.#changed.fire(uris.map(uri => ({ type: vscode.FileChangeType.Changed, uri })));
  }
}
