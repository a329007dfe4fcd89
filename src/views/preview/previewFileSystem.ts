import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { bytesOfSide } from '../../agent/preview/fileChange.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { opaqueDocument } from './opaqueDocument.ts';
import { changeUri, opaqueUri, parsePreviewUri, type FileUris, type PreviewAddress } from './previewUri.ts';

/**
 * Serves preview documents from the store: `redline-preview://p3/path` is the proposal, the same with `?base` what it was
 * made on. Read-only. The bytes are the exact bytes that the invoker checks and writes.
 */
export class PreviewFileSystem implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new vscode.EventEmitter<vscode.FileChangeEvent[]>());
  readonly onDidChangeFile = this.#changed.event;

  constructor(store: PreviewStore, files: FileUris) {
    this.#store = store;
    this.#files = files;
    this.#owned.add(store.onDidChange(preview => this.#announce(preview)));
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
      // A later revision is a later time, so that open editors take it up.
      mtime: ctime + preview.revision,
      size: bytes.length,
      permissions: vscode.FilePermission.Readonly,
    };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.#find(uri).bytes;
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  writeFile(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
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
    const preview = address && this.#store.get(address.previewId);
    const bytes = preview && this.#bytes(preview, address);
    if (!bytes) throw vscode.FileSystemError.FileNotFound(uri);
    return { preview, bytes };
  }

  #bytes(preview: Preview, { side, path }: PreviewAddress): Uint8Array | undefined {
    if (!preview.changes) {
      if (path !== opaqueUri(preview, side).path) return undefined;
      return Buffer.from(side === 'base' ? '' : opaqueDocument(preview));
    }
    const change = preview.changes.find(candidate => this.#files(candidate.path).path === path);
    if (!change) return undefined;
    const content = side === 'base' ? change.before : change.after;
    return content ? bytesOfSide(content) : new Uint8Array();
  }

  #announce(preview: Preview): void {
    const uris = preview.changes
      ? preview.changes.flatMap(change => [
          changeUri(preview.id, change, 'proposal', this.#files),
          changeUri(preview.id, change, 'base', this.#files),
        ])
      : [opaqueUri(preview, 'proposal')];
    this.#changed.fire(uris.map(uri => ({ type: vscode.FileChangeType.Changed, uri })));
  }
}
