import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { sideOfBytes, sideOfText, type FileChange } from '../../agent/preview/fileChange.ts';
import { hunksOf, patchText } from '../../agent/preview/hunks.ts';
import { keepLineEndings } from '../../agent/preview/lineEndings.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Rebaser } from '../../agent/preview/rebaser.ts';
import { PREVIEW_SCHEME } from '../contributions.ts';
import { changesFile } from './shownChange.ts';
import { documentPath, parsePreviewUri, type FileUris, type PreviewAddress } from './previewUri.ts';

/** The most lines of an edit that the model is told. */
const MAX_PATCH_LINES = 60;

export interface ProposalEditsOptions {
  readonly store: PreviewStore;
  readonly rebaser: Pick<Rebaser, 'check'>;
  readonly files: FileUris;
}

/**
 * The proposals that a person edits. Saving by hand makes the edit the preview's next revision; it applies nothing. What
 * auto save writes is held until then: it would make a revision of every half-typed word.
 */
export class ProposalEdits implements vscode.Disposable {
  readonly #options: ProposalEditsOptions;
  readonly #owned = new DisposableStore();
  /** URIs of proposals that are writable now, with what auto save wrote of them. */
  readonly #open = new Map<string, Uint8Array | undefined>();
  /** URIs that are saved right now because a person asked for it. */
  readonly #byHand = new Set<string>();
  /** URIs whose typed text is being dropped: it is taken from the editor, and goes nowhere. */
  readonly #dropping = new Set<string>();
  readonly #changed = this.#owned.add(new vscode.EventEmitter<vscode.Uri>());

  /** A proposal became writable, or read-only again, or holds something that is not saved by hand. */
  readonly onDidChange = this.#changed.event;

  constructor(options: ProposalEditsOptions) {
    this.#options = options;
    this.#owned.add(vscode.workspace.onWillSaveTextDocument(event => this.#noteReason(event)));
    this.#owned.add(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === PREVIEW_SCHEME) this.end(uri);
      }),
    );
  }

  /** Makes a proposal writable until it is saved or its editor closes. */
  begin(uri: vscode.Uri): void {
    if (this.#open.has(uri.toString())) return;
    this.#open.set(uri.toString(), undefined);
    this.#changed.fire(uri);
  }

  end(uri: vscode.Uri): void {
    if (this.#open.delete(uri.toString())) this.#changed.fire(uri);
  }

  isOpen(uri: vscode.Uri): boolean {
    return this.#open.has(uri.toString()) || this.isDropping(uri);
  }

  isDropping(uri: vscode.Uri): boolean {
    return this.#dropping.has(uri.toString());
  }

  /** What auto save wrote and nobody saved by hand. */
  draftOf(uri: vscode.Uri): Uint8Array | undefined {
    return this.#open.get(uri.toString());
  }

  /** Whether a person typed something into a proposal of this preview that is not part of it yet. */
  hasUnsaved(previewId: string): boolean {
    const isOurs = (uri: vscode.Uri): boolean => uri.scheme === PREVIEW_SCHEME && uri.authority === previewId;
    return (
      vscode.workspace.textDocuments.some(document => document.isDirty && isOurs(document.uri)) ||
      [...this.#open].some(([key, draft]) => draft !== undefined && isOurs(vscode.Uri.parse(key)))
    );
  }

  /**
   * Ends the editing of a preview that is resolved. What was typed and not saved goes with the person's own vote; a vote of
   * anybody else leaves it in its editor.
   * @returns whether the preview's editors can close
   */
  async settle({ id, state }: Preview): Promise<boolean> {
    const isPersons = !('by' in state) || state.by.actor === 'human';
    if (!isPersons && this.hasUnsaved(id)) return false;
    await this.drop(({ previewId }) => previewId === id);
    return true;
  }

  /**
   * Ends the editing of some proposals and drops what was typed, so that VS Code asks nobody whether to save it. No command
   * reverts a document that is not in front: it is saved, and the bytes are let go.
   */
  async drop(matches: (address: PreviewAddress) => boolean): Promise<void> {
    const isMeant = (uri: vscode.Uri): boolean => {
      const address = parsePreviewUri(uri);
      return address !== undefined && matches(address);
    };
    const dirty = vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && isMeant(uri));
    for (const document of dirty) {
      const key = document.uri.toString();
      this.#dropping.add(key);
      try {
        await document.save();
      } finally {
        this.#dropping.delete(key);
      }
    }
    for (const key of [...this.#open.keys()]) {
      const uri = vscode.Uri.parse(key);
      if (isMeant(uri)) this.end(uri);
    }
  }

  /**
   * Takes what an editor saves.
   * @throws FileSystemError when the proposal is not writable, or the bytes are no text in a known encoding.
   */
  async write(uri: vscode.Uri, bytes: Uint8Array): Promise<void> {
    if (this.isDropping(uri)) return;
    if (!this.isOpen(uri)) throw vscode.FileSystemError.NoPermissions(uri);
    if (!this.#byHand.delete(uri.toString())) {
      this.#open.set(uri.toString(), bytes);
      this.#changed.fire(uri);
      return;
    }
    const address = parsePreviewUri(uri);
    if (address) await this.#commit(address, bytes);
    this.end(uri);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #noteReason({ document, reason }: vscode.TextDocumentWillSaveEvent): void {
    const key = document.uri.toString();
    if (document.uri.scheme !== PREVIEW_SCHEME) return;
    if (reason === vscode.TextDocumentSaveReason.Manual) this.#byHand.add(key);
    else this.#byHand.delete(key);
  }

  async #commit({ previewId, path }: PreviewAddress, bytes: Uint8Array): Promise<void> {
    const { store, rebaser, files } = this.#options;
    for (;;) {
      const preview = store.get(previewId);
      if (preview?.state.kind !== 'pending' || !changesFile(preview, path, files)) {
        throw vscode.FileSystemError.Unavailable(vscode.l10n.t('This preview is no longer pending.'));
      }
      const edited = await editedChanges(preview, change => documentPath(change.path, files) === path, bytes);
      if (!edited) {
        throw vscode.FileSystemError.Unavailable(
          vscode.l10n.t('This is not text in an encoding that Redline knows.'),
        );
      }
      if (store.get(previewId) !== preview) continue; // it was about a preview that looks different by now
      if (edited.patch === undefined) return;
      await store
        .revise(previewId, edited.changes, preview.dependsOn, 'user', edited.patch)
        .catch(() => undefined);
      void rebaser.check([previewId]);
      return;
    }
  }
}

/** The changes with one proposal as a person left it; no patch when that is as it was. */
async function editedChanges(
  { changes }: Preview,
  isEdited: (change: FileChange) => boolean,
  bytes: Uint8Array,
): Promise<{ readonly changes: readonly FileChange[]; readonly patch?: string } | undefined> {
  const change = changes?.find(isEdited);
  const side = sideOfBytes(bytes, change?.after?.encoding);
  if (!side || !changes || !change?.after) return undefined;
  const text = await keepLineEndings(change.after.text, side.text);
  const after = text === side.text ? side : sideOfText(text, side.encoding);
  if (after.hash === change.after.hash) return { changes };
  const patch = patchText(change.path, await hunksOf(change.after.text, after.text), MAX_PATCH_LINES);
  const next: FileChange = { ...change, after };
  return { changes: changes.map(candidate => (candidate === change ? next : candidate)), patch };
}
