import * as vscode from 'vscode';
import { DisposableStore } from '../../../agent/base/disposable.ts';
import { sideOfBytes, sideOfText, type FileChange } from '../../../agent/preview/fileChange.ts';
import type { Preview } from '../../../agent/preview/preview.ts';
import type { Agent } from '../../agent.ts';
import { planOf, type Plan } from '../../../agent/session/planMode.ts';
import { hunksOf, patchText } from '../../../agent/text/hunks.ts';
import { keepLineEndings } from '../../../agent/text/lineEndings.ts';
import { PREVIEW_SCHEME } from '../../contributions.ts';
import { documentPath, parsePreviewUri, type PreviewAddress } from '../previewUri.ts';
import { changesFile } from '../shownChange.ts';

/** The most lines of an edit that the model is shown. */
const MAX_PATCH_LINES = 60;

/**
 * Knows the proposals that the user is editing. A manual save makes the edit the next revision of the preview and applies
 * nothing. What auto save writes is only kept as a draft; otherwise every half-typed word would become a revision.
 */
export class ProposalEdits implements vscode.Disposable {
  readonly #agent: Agent;
  readonly #owned = new DisposableStore();
  /** URIs of the proposals that are writable now, each with its draft, if auto save wrote one. */
  readonly #open = new Map<string, Uint8Array | undefined>();
  /** URIs that are being saved manually right now. */
  readonly #savedManually = new Set<string>();
  /** URIs whose unsaved edits are being dropped: their editor saves, and the bytes are ignored. */
  readonly #dropping = new Set<string>();
  /** How often unsaved edits of a proposal were reverted, by its URI. */
  readonly #reverts = new Map<string, number>();
  readonly #changed = this.#owned.add(new vscode.EventEmitter<vscode.Uri>());

  /** A proposal became writable or read-only, or got a draft. */
  readonly onDidChange = this.#changed.event;

  constructor(agent: Agent) {
    this.#agent = agent;
    // VS Code restores what was typed and not saved, after a reload too.
    for (const document of vscode.workspace.textDocuments) this.#adopt(document);
    this.#owned.add(vscode.workspace.onDidOpenTextDocument(document => this.#adopt(document)));
    this.#owned.add(vscode.workspace.onDidChangeTextDocument(({ document }) => this.#adopt(document)));
    this.#owned.add(vscode.workspace.onWillSaveTextDocument(event => this.#noteSaveReason(event)));
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

  /** How often unsaved edits of this proposal were reverted. Each time, its editor has to read it again. */
  timesReverted(uri: vscode.Uri): number {
    return this.#reverts.get(uri.toString()) ?? 0;
  }

  /** What auto save wrote and the user has not saved manually. */
  draftOf(uri: vscode.Uri): Uint8Array | undefined {
    return this.#open.get(uri.toString());
  }

  /** Whether the user has typed something into a proposal of this preview that is not part of it yet. */
  hasUnsaved(previewId: string): boolean {
    const isOurs = (uri: vscode.Uri): boolean => uri.scheme === PREVIEW_SCHEME && uri.authority === previewId;
    return (
      vscode.workspace.textDocuments.some(document => document.isDirty && isOurs(document.uri)) ||
      [...this.#open].some(([key, draft]) => draft !== undefined && isOurs(vscode.Uri.parse(key)))
    );
  }

  /**
   * Ends the editing of a resolved preview. If the user resolved it, unsaved edits are dropped; otherwise they stay in
   * their editor.
   * @returns whether the preview's editors can close
   */
  async settle({ id, state }: Preview): Promise<boolean> {
    const isByUser = !('by' in state) || state.by.actor === 'human';
    if (!isByUser && this.hasUnsaved(id)) return false;
    await this.drop(({ previewId }) => previewId === id);
    return true;
  }

  /** Drops what was typed into the proposals of a preview and not saved; their editors show what is stored again. */
  async revert(previewId: string): Promise<void> {
    const isOurs = (address: PreviewAddress | undefined): boolean => address?.previewId === previewId;
    const uris = vscode.workspace.textDocuments.flatMap(({ uri }) =>
      isOurs(parsePreviewUri(uri)) && this.isOpen(uri) ? [uri] : [],
    );
    for (const uri of uris) this.#reverts.set(uri.toString(), this.timesReverted(uri) + 1);
    await this.drop(isOurs);
  }

  /**
   * Ends the editing of the matching proposals and drops unsaved edits, so that VS Code does not ask whether to save
   * them. No command can revert a document that is not active: it is saved instead, and the bytes are ignored.
   */
  async drop(matches: (address: PreviewAddress) => boolean): Promise<void> {
    const isMatch = (uri: vscode.Uri): boolean => {
      const address = parsePreviewUri(uri);
      return address !== undefined && matches(address);
    };
    const dirty = vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && isMatch(uri));
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
      if (isMatch(uri)) this.end(uri);
    }
  }

  /**
   * Makes everything that the user has typed into proposals of this preview its next revision, as a manual save does.
   * @throws FileSystemError like {@link write}
   */
  async commitUnsaved(previewId: string): Promise<void> {
    const isOurs = (uri: vscode.Uri): boolean => uri.scheme === PREVIEW_SCHEME && uri.authority === previewId;
    for (const document of vscode.workspace.textDocuments.filter(each => isOurs(each.uri) && each.isDirty))
      await document.save();
    for (const [key, draft] of [...this.#open]) {
      const uri = vscode.Uri.parse(key);
      if (draft && isOurs(uri)) await this.replace(uri, draft);
    }
  }

  /**
   * Makes these bytes the next revision of a proposal, and it read-only again.
   * @throws FileSystemError if the preview is not pending, or the bytes are not text in a known encoding.
   */
  async replace(uri: vscode.Uri, bytes: Uint8Array): Promise<void> {
    const address = parsePreviewUri(uri);
    if (address) await this.#commit(address, bytes);
    this.end(uri);
  }

  /**
   * Receives what an editor saves.
   * @throws FileSystemError if the proposal is not writable, or the bytes are not text in a known encoding.
   */
  async write(uri: vscode.Uri, bytes: Uint8Array): Promise<void> {
    if (this.isDropping(uri)) return;
    if (!this.isOpen(uri)) throw vscode.FileSystemError.NoPermissions(uri);
    if (!this.#savedManually.delete(uri.toString())) {
      this.#open.set(uri.toString(), bytes);
      this.#changed.fire(uri);
      return;
    }
    await this.replace(uri, bytes);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** Makes a proposal writable that has unsaved edits. */
  #adopt({ isDirty, uri }: vscode.TextDocument): void {
    if (isDirty && uri.scheme === PREVIEW_SCHEME && !this.isOpen(uri)) this.begin(uri);
  }

  #noteSaveReason({ document, reason }: vscode.TextDocumentWillSaveEvent): void {
    const key = document.uri.toString();
    if (document.uri.scheme !== PREVIEW_SCHEME) return;
    if (reason === vscode.TextDocumentSaveReason.Manual) this.#savedManually.add(key);
    else this.#savedManually.delete(key);
  }

  /** @throws FileSystemError if nothing is left of the plan */
  async #commitPlan(id: string, plan: Plan, bytes: Uint8Array): Promise<void> {
    const text = sideOfBytes(bytes)?.text.trim();
    if (text === undefined) throw unsupportedEncoding();
    if (text === plan.text.trim()) return;
    if (text === '') throw vscode.FileSystemError.Unavailable(vscode.l10n.t('A plan cannot be empty.'));
    await this.#agent.store.revisePlan(id, { ...plan, text }, text);
  }

  async #commit({ previewId, path }: PreviewAddress, bytes: Uint8Array): Promise<void> {
    const { store, rebaser, files } = this.#agent;
    for (;;) {
      const preview = store.get(previewId);
      const plan = preview?.state.kind === 'pending' ? planOf(preview) : undefined;
      if (plan) return this.#commitPlan(previewId, plan, bytes);
      if (preview?.state.kind !== 'pending' || !changesFile(preview, path, files)) {
        throw vscode.FileSystemError.Unavailable(vscode.l10n.t('This preview is no longer pending.'));
      }
      const edited = await editedChanges(preview, change => documentPath(change.path, files) === path, bytes);
      if (!edited) {
        throw unsupportedEncoding();
      }
      if (store.get(previewId) !== preview) continue; // it was revised meanwhile: start over
      if (edited.patch === undefined) return;
      await store.revise(previewId, edited.changes, preview.dependsOn, 'user', edited.patch);
      void rebaser.refresh([previewId]);
      return;
    }
  }
}

function unsupportedEncoding(): vscode.FileSystemError {
  return vscode.FileSystemError.Unavailable(
    vscode.l10n.t('Redline does not support the encoding of this text.'),
  );
}

/** The changes with one proposal as the user left it, without a patch if it is unchanged; `undefined` if it is not text. */
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
