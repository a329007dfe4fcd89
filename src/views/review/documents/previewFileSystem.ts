import * as vscode from 'vscode';
import { Owner } from '../../../agent/base/disposable.ts';
import { isBinary } from '../../../agent/hold/preview/fileChange.ts';
import type { Preview } from '../../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import {
  opaqueUri,
  parsePreviewUri,
  type FileUris,
  type PreviewAddress,
} from '../../workspace/previewUri.ts';
import { shownChange } from '../shownChange.ts';
import type { ShownRevisions } from '../shownRevisions.ts';
import type { ProposalEdits } from './proposalEdits.ts';
import { documentBytes, imageBytes, sideText } from './sideDocument.ts';

/** Content of a document: a preview, or the part that was split off it, and the bytes. */
interface Found {
  readonly preview: Preview;
  readonly bytes: Uint8Array;
}

/**
 * Serves preview documents from the store: `redline-preview://p3/path` is the proposal, and the same URI with `?base` is
 * the content that the proposal is based on. Documents are read-only, except for a proposal that the user is editing.
 * Their text is exactly that which the invoker checks and writes, in any encoding.
 */
export class PreviewFileSystem extends Owner implements vscode.FileSystemProvider {
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #edits: ProposalEdits;
  readonly #revisions: ShownRevisions;
  readonly #changed = this.own(new vscode.EventEmitter<vscode.FileChangeEvent[]>());
  readonly onDidChangeFile = this.#changed.event;
  /**
   * The documents that have been read, by preview id. Change events are sent only for these, since a preview may have
   * thousands of files. A closed document stays in the map, because it may be reopened.
   */
  readonly #read = new Map<string, Map<string, vscode.Uri>>();

  constructor(store: PreviewStore, files: FileUris, edits: ProposalEdits, revisions: ShownRevisions) {
    super();
    this.#store = store;
    this.#revisions = revisions;
    this.#files = files;
    this.#edits = edits;
    this.own(store.onDidChange(preview => this.#announce(preview)));
    this.own(edits.onDidChange(uri => this.#announceUris([uri])));
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const found = this.#find(uri);
    const { preview, bytes } = found instanceof Promise ? await found : found;
    const ctime = Date.parse(preview.stagedAt);
    return {
      type: vscode.FileType.File,
      ctime,
      // A later revision has a later time, and so does a proposal whose editor holds something else, so that open editors reload.
      // While one is being saved the time is early, or VS Code would not write: the typed text is merged here.
      mtime: this.#edits.isBeingSaved(uri) ? ctime : ctime + preview.revision + this.#edits.rereads(uri),
      size: bytes.length,
      ...(this.#edits.isOpen(uri) ? {} : { permissions: vscode.FilePermission.Readonly }),
    };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const read = this.#read.get(uri.authority) ?? new Map<string, vscode.Uri>();
    this.#read.set(uri.authority, read.set(uri.toString(), uri));
    const found = this.#find(uri);
    // Content in the store is read and noted without an await, or a revision could come in between.
    const { preview, bytes } = found instanceof Promise ? await found : found;
    this.#revisions.noteRead(uri, preview.revision, bytes);
    this.#edits.noteRead(uri, preview.revision);
    return bytes;
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

  #find(uri: vscode.Uri): Found | Promise<Found> {
    const address = parsePreviewUri(uri);
    const opaque = address && this.#store.get(address.previewId);
    if (opaque && opaque.kind !== 'files') {
      if (address.path !== opaqueUri(opaque, address.side).path)
        throw vscode.FileSystemError.FileNotFound(uri);
      const typed = address.side === 'proposal' ? this.#edits.draftOf(uri) : undefined;
      if (typed !== undefined) return { preview: opaque, bytes: documentBytes(uri, typed) };
      return address.side === 'proposal'
        ? describe(opaque, this.#store)
        : { preview: opaque, bytes: new Uint8Array() };
    }
    const draft = address?.side === 'proposal' ? this.#edits.draftOf(uri) : undefined;
    const shown = address && this.#shown(uri, address, draft);
    if (!shown) throw vscode.FileSystemError.FileNotFound(uri);
    return shown;
  }

  /** @param draft the user's unsaved text of the proposal */
  #shown(
    uri: vscode.Uri,
    address: PreviewAddress,
    draft: string | undefined,
  ): Found | Promise<Found> | undefined {
    const { side } = address;
    const shown = shownChange(this.#store, this.#files, address);
    if (!shown) return undefined;
    const content = side === 'proposal' ? shown.change.after : shown.change.before;
    const { preview } = shown;
    if (address.isImage && content && isBinary(content))
      return imageBytes(content, this.#store.blobs).then(bytes => ({ preview, bytes }));
    return { preview, bytes: documentBytes(uri, draft ?? sideText(content), content) };
  }

  /** A part is also shown at the URI of the preview that it was split off from. */
  #announce({ id, part }: Preview): void {
    const ids = part ? [id, part.previewId] : [id];
    this.#announceUris(ids.flatMap(each => [...(this.#read.get(each)?.values() ?? [])]));
  }

  #announceUris(uris: readonly vscode.Uri[]): void {
    if (uris.length === 0) return;
    this.#changed.fire(uris.map(uri => ({ type: vscode.FileChangeType.Changed, uri })));
  }
}

/** Description of an action as a document. */
async function describe(preview: Preview, store: PreviewStore): Promise<Found> {
  const { opaqueDocument } = await import('./opaqueDocument.ts');
  const last = store.ledger().findLast(({ previewId }) => previewId === preview.id);
  return { preview, bytes: Buffer.from(opaqueDocument(preview, last)) };
}
