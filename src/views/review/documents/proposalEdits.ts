import * as vscode from 'vscode';
import { Owner } from '../../../agent/base/disposable.ts';
import { isText, type FileChange } from '../../../agent/hold/preview/fileChange.ts';
import type { Preview } from '../../../agent/hold/preview/preview.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import { decodeText } from '../../../agent/hold/text/encodings.ts';
import type { Agent } from '../../agent.ts';
import { PREVIEW_SCHEME } from '../../contributions.ts';
import { documentPath, parsePreviewUri, type PreviewAddress } from '../../workspace/previewUri.ts';
import type { Draft, Drafts } from './drafts.ts';
import { documentIn, EditorSaves, holds, openDocument } from './editorSaves.ts';

/** Result of committing a person's edits. */
export interface CommittedEdits {
  /** Of the preview, with these edits. */
  readonly revision: number;
  /** Whether the proposal had changed since the typing began: then the result is text that no one has seen. */
  readonly isMerged: boolean;
  /** Whether the person went on typing during the commit: that text is still unsaved. */
  readonly isTypedOn: boolean;
}

/**
 * Knows the proposals that the user is editing. A manual save makes the edit the next revision of the preview and applies nothing.
 * Auto save only stores a draft; otherwise every half-typed word would become a revision. A draft knows the text that it was typed
 * on: if the proposal has changed since, the two are merged, with conflict markers where needed.
 */
export class ProposalEdits extends Owner {
  readonly #agent: Agent;
  readonly #drafts: Drafts;
  /** URIs of the proposals that are writable now. */
  readonly #open = new Set<string>();
  /** Proposals as VS Code has read them, by URI, and the revision that they had. */
  readonly #shown = new Map<string, Draft>();
  /** URIs of editors about to write their text, and whether a person saves them. */
  readonly #beingSaved = new Map<string, boolean>();
  /**
   * URIs whose editor must save without storing its text, with the text that is stored already; none if all edits are being
   * dropped.
   */
  readonly #dropping = new Map<string, string | undefined>();
  readonly #saves = new EditorSaves();
  /** URIs of editors that do not show the stored text: their text was merged when they were saved. */
  readonly #outdated = new Set<string>();
  /** How often the editor of a proposal had to read it again although it has no newer revision, by its URI. */
  readonly #rereads = new Map<string, number>();
  readonly #changed = this.own(new vscode.EventEmitter<vscode.Uri>());

  /** A proposal became writable or read-only, or got a draft. */
  readonly onDidChange = this.#changed.event;

  readonly #unsavedChanged = this.own(new vscode.EventEmitter<void>());
  /** The previews that had unsaved edits when the event last fired. */
  #told = '';

  /** A preview got unsaved edits, or no longer has any. */
  readonly onDidChangeUnsaved = this.#unsavedChanged.event;

  constructor(agent: Agent, drafts: Drafts) {
    super();
    this.#agent = agent;
    this.#drafts = drafts;
    for (const [key] of drafts.entries()) this.#open.add(key);
    // VS Code restores unsaved typing, after a reload too.
    for (const document of vscode.workspace.textDocuments) this.#adopt(document);
    this.own(vscode.workspace.onDidOpenTextDocument(document => this.#adopt(document)));
    this.own(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        this.#saves.noteChanged(document.uri);
        this.#adopt(document);
      }),
    );
    this.own(vscode.workspace.onWillSaveTextDocument(event => this.#noteSaveReason(event)));
    this.own(vscode.workspace.onDidSaveTextDocument(document => this.#noteSaved(document)));
    this.own(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        this.#saves.noteClosed(uri);
        this.#shown.delete(uri.toString());
        this.#outdated.delete(uri.toString());
        this.#beingSaved.delete(uri.toString());
        // Text written by auto save waits for the person: closing a tab is not a decision on it.
        if (uri.scheme === PREVIEW_SCHEME && this.draftOf(uri) === undefined) this.end(uri);
      }),
    );
    const tell = ({ scheme }: vscode.Uri): void => void (scheme === PREVIEW_SCHEME && this.#tellUnsaved());
    this.own(vscode.workspace.onDidChangeTextDocument(({ document }) => tell(document.uri)));
    this.own(vscode.workspace.onDidSaveTextDocument(({ uri }) => tell(uri)));
    this.own(vscode.workspace.onDidCloseTextDocument(({ uri }) => tell(uri)));
    this.own(this.onDidChange(tell));
    this.#tellUnsaved();
    this.own(agent.store.onDidRevise(({ preview }) => void this.#followRevision(preview)));
  }

  /** Makes a proposal writable until it is saved or its editor closes. */
  begin(uri: vscode.Uri): void {
    if (this.#open.has(uri.toString())) return;
    this.#open.add(uri.toString());
    this.#changed.fire(uri);
  }

  end(uri: vscode.Uri): void {
    this.#drafts.delete(uri.toString());
    if (this.#open.delete(uri.toString())) this.#changed.fire(uri);
  }

  /** VS Code reads a proposal, and will show it unless its editor has unsaved edits. */
  noteRead(uri: vscode.Uri, revision: number): void {
    const isKept = parsePreviewUri(uri)?.side === 'proposal' && !this.#saves.isDirtyAt(uri);
    const base = isKept ? this.#textOf(uri) : undefined;
    if (base !== undefined) this.#shown.set(uri.toString(), { revision, base });
  }

  isOpen(uri: vscode.Uri): boolean {
    return this.#open.has(uri.toString()) || this.isDropping(uri);
  }

  isDropping(uri: vscode.Uri): boolean {
    return this.#dropping.has(uri.toString());
  }

  /** Whether an editor is about to write its text, which may have been typed on an older revision. */
  isBeingSaved(uri: vscode.Uri): boolean {
    return this.#beingSaved.has(uri.toString()) || this.isDropping(uri);
  }

  /** How often the editor of this proposal had to read it again although it has no newer revision. */
  rereads(uri: vscode.Uri): number {
    return this.#rereads.get(uri.toString()) ?? 0;
  }

  /** Text that auto save wrote and the user has not saved manually. */
  draftOf(uri: vscode.Uri): string | undefined {
    return this.#drafts.get(uri.toString())?.text;
  }

  /** Whether this proposal has edits by the user that are not part of it yet. */
  isEdited(document: vscode.TextDocument): boolean {
    return this.#saves.isDirty(document) || this.draftOf(document.uri) !== undefined;
  }

  /** Whether a proposal of this preview has edits by the user that are not part of it yet. */
  hasUnsaved(previewId: string): boolean {
    return this.#unsaved().has(previewId);
  }

  /** The ids of all previews that {@link hasUnsaved} holds for. */
  #unsaved(): ReadonlySet<string> {
    const dirty = vscode.workspace.textDocuments
      .filter(each => this.#saves.isDirty(each))
      .map(({ uri }) => uri);
    const drafts = this.#drafts.entries().filter(([, { text }]) => text !== undefined);
    const uris = [...dirty, ...drafts.map(([key]) => vscode.Uri.parse(key))];
    return new Set(uris.filter(({ scheme }) => scheme === PREVIEW_SCHEME).map(({ authority }) => authority));
  }

  #tellUnsaved(): void {
    const now = [...this.#unsaved()].sort().join(' ');
    if (now === this.#told) return;
    this.#told = now;
    this.#unsavedChanged.fire();
  }

  /**
   * Ends the editing of a resolved preview. If the user discarded it, unsaved edits are dropped; otherwise they stay in
   * their editor. An apply by the user is refused while there are any: those of an applied preview were typed meanwhile.
   * @returns whether the preview's editors can close
   */
  async settle({ id, state }: Preview): Promise<boolean> {
    const isKept = 'by' in state && (state.kind === 'applied' || state.by.actor !== 'human');
    if (isKept && this.hasUnsaved(id)) return false;
    await this.drop(({ previewId }) => previewId === id);
    return true;
  }

  /** Drops unsaved edits of the proposals of a preview; their editors show the stored text again. */
  async revert(previewId: string): Promise<void> {
    const isOurs = (address: PreviewAddress | undefined): boolean => address?.previewId === previewId;
    const uris = [...this.#open]
      .map(key => vscode.Uri.parse(key))
      .filter(uri => isOurs(parsePreviewUri(uri)));
    for (const uri of uris) this.#rereads.set(uri.toString(), this.rereads(uri) + 1);
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
    const { textDocuments } = vscode.workspace;
    for (const document of textDocuments.filter(each => isMatch(each.uri) && this.#saves.isDirty(each)))
      await this.#saveNothing(document);
    for (const key of [...this.#open]) {
      const uri = vscode.Uri.parse(key);
      if (isMatch(uri)) this.end(uri);
    }
  }

  /**
   * Makes everything that the user has typed into proposals of this preview its next revision, as a manual save does.
   * @param seen the revision that the user saw.
   * @throws FileSystemError like {@link write}
   */
  async commitUnsaved(previewId: string, seen: number): Promise<CommittedEdits> {
    const isOurs = (uri: vscode.Uri): boolean => uri.scheme === PREVIEW_SCHEME && uri.authority === previewId;
    for (const document of vscode.workspace.textDocuments)
      if (isOurs(document.uri) && this.#saves.isDirty(document)) this.#keep(document.uri, document.getText());
    let revision = seen;
    let isMerged = false;
    for (const [key, { text }] of this.#drafts.entries()) {
      const uri = vscode.Uri.parse(key);
      if (text === undefined || !isOurs(uri)) continue;
      const committed = await this.replace(uri, text);
      const isNext = committed.revision <= revision + 1;
      revision = committed.revision;
      isMerged ||= committed.isMerged || !isNext;
      const document = openDocument(uri);
      // Everything is saved.
      if (document && this.#saves.isDirty(document) && holds(document, text))
        await this.#saveNothing(document, text);
    }
    for (const key of [...this.#open]) {
      const uri = vscode.Uri.parse(key);
      const document = openDocument(uri);
      const isLeft = document ? this.isEdited(document) : this.draftOf(uri) !== undefined;
      if (isOurs(uri) && !isLeft) this.end(uri);
    }
    return { revision, isMerged, isTypedOn: this.hasUnsaved(previewId) };
  }

  /**
   * Makes this text the next revision of a proposal, which becomes read-only again unless the user has typed into it meanwhile.
   * @param made the text that this one was made from; by default the one that was typed on.
   * @throws FileSystemError if the preview is not pending, or its encoding lacks a character of the text.
   */
  async replace(uri: vscode.Uri, text: string, made?: string): Promise<Omit<CommittedEdits, 'isTypedOn'>> {
    const key = uri.toString();
    const address = parsePreviewUri(uri);
    if (!address) throw vscode.FileSystemError.FileNotFound(uri);
    const typedOn = this.#drafts.get(key) ?? this.#shown.get(key);
    const { previewId } = address;
    const preview = this.#agent.store.get(previewId);
    const path = preview && this.#changeOf(preview, address)?.path;
    const { commitTyped } = await import('./commitTyped.ts');
    const typed = { previewId, path, text, base: made ?? typedOn?.base };
    const { revision, isMerged, base } = await commitTyped(this.#agent, typed);
    const document = openDocument(uri);
    const isDirty = document !== undefined && this.#saves.isDirty(document);
    // VS Code does not read back a text that it has saved.
    if (document && (isDirty || holds(document, text))) this.#shown.set(key, { revision, base });
    if (document && isMerged) this.#outdated.add(key);
    const draft = this.#drafts.get(key);
    const isStored = draft?.text === undefined || [text, this.#textOf(uri)].includes(draft.text);
    // Until it is saved, it may be typed into.
    if (isDirty) this.#drafts.set(key, { revision, base });
    // Auto save has written more meanwhile.
    else if (draft && draft !== typedOn && !isStored) this.#drafts.set(key, { ...draft, revision, base });
    else this.end(uri);
    return { revision, isMerged };
  }

  /**
   * Receives the text that an editor saves.
   * @throws FileSystemError if the proposal is not writable, the bytes are not text, or the proposal's encoding lacks a character
   *   of it.
   */
  async write(uri: vscode.Uri, bytes: Uint8Array): Promise<void> {
    const key = uri.toString();
    const isManual = this.#beingSaved.get(key) === true;
    this.#beingSaved.delete(key);
    const text = decodeText(bytes)?.text;
    if (text !== undefined) this.#saves.noteSaving(uri, text);
    if (this.isDropping(uri)) {
      const stored = this.#dropping.get(key);
      if (stored !== undefined && text !== undefined && text !== stored.toWellFormed()) this.#keep(uri, text);
      return;
    }
    if (!this.isOpen(uri)) throw vscode.FileSystemError.NoPermissions(uri);
    if (text === undefined) throw unsupportedEncoding();
    if (!isManual) return this.#keep(uri, text);
    await this.replace(uri, text);
  }

  /** Makes a proposal with unsaved edits writable, and keeps the text that they were typed on. */
  #adopt(document: vscode.TextDocument): void {
    const { uri } = document;
    if (uri.scheme !== PREVIEW_SCHEME || !this.#saves.isDirty(document) || this.isDropping(uri)) return;
    if (!this.isOpen(uri)) this.begin(uri);
    const shown = this.#shown.get(uri.toString());
    if (shown && !this.#drafts.get(uri.toString())) this.#drafts.set(uri.toString(), shown);
  }

  /** Keeps a text as the draft of a proposal. */
  #keep(uri: vscode.Uri, text: string): void {
    const { store } = this.#agent;
    const drafts = this.#drafts;
    const key = uri.toString();
    const known = drafts.get(key) ?? this.#shown.get(key);
    const { revision = 1 } = store.get(uri.authority) ?? {};
    drafts.set(key, { ...(known ?? { revision, base: this.#textOf(uri) ?? '' }), text });
    this.#open.add(key);
    this.#changed.fire(uri);
  }

  /** Current text of the proposal at a URI. */
  #textOf(uri: vscode.Uri): string | undefined {
    const address = parsePreviewUri(uri);
    const preview = address && this.#agent.store.get(address.previewId);
    if (!preview) return undefined;
    const after = this.#changeOf(preview, address)?.after;
    return planOf(preview)?.text ?? (after && isText(after) ? after.text : undefined);
  }

  #changeOf({ changes }: Preview, { path }: PreviewAddress): FileChange | undefined {
    return changes?.find(change => documentPath(change.path, this.#agent.files) === path);
  }

  /** Moves the drafts of a preview onto its new revision. Those in an editor with unsaved edits are merged when it saves. */
  async #followRevision({ id, revision }: Preview): Promise<void> {
    const drafts = this.#drafts;
    for (const [key, draft] of drafts.entries()) {
      const uri = vscode.Uri.parse(key);
      const now = uri.authority === id && !this.#saves.isDirtyAt(uri) ? this.#textOf(uri) : undefined;
      if (now === undefined || draft.text === undefined || now === draft.base) continue;
      const { mergedText } = await import('../../../agent/hold/preview/commitText.ts');
      const text = await mergedText(draft.base, now, draft.text);
      // The user typed, saved or dropped edits meanwhile, or there is a newer revision, which is followed next.
      if (drafts.get(key) !== draft || this.#textOf(uri) !== now) continue;
      drafts.set(key, { revision, base: now, text });
      this.#changed.fire(uri);
    }
  }

  #noteSaveReason({ document, reason }: vscode.TextDocumentWillSaveEvent): void {
    if (document.uri.scheme !== PREVIEW_SCHEME) return;
    this.#beingSaved.set(document.uri.toString(), reason === vscode.TextDocumentSaveReason.Manual);
  }

  /** An editor was saved. The user may have typed into it meanwhile, or it may not show the stored text. */
  #noteSaved(document: vscode.TextDocument): void {
    const { uri } = document;
    const key = uri.toString();
    const isOutdated = this.#outdated.delete(key);
    const isTypedOn = this.#saves.noteSaved(document);
    if (isTypedOn === undefined) return;
    if (isTypedOn) {
      this.#adopt(document);
      return this.#changed.fire(uri);
    }
    if (isOutdated) this.#rereads.set(key, this.rereads(uri) + 1);
    if (this.draftOf(uri) === undefined) this.end(uri);
  }

  /**
   * Makes an editor save its text without storing it as the proposal, so that it has no unsaved changes any more.
   * @param stored the text stored already: another saved text is kept as a draft. Without it, every text is dropped.
   */
  async #saveNothing(document: vscode.TextDocument, stored?: string): Promise<void> {
    const key = document.uri.toString();
    this.#dropping.set(key, stored);
    try {
      await (stored === undefined ? document.save() : saveUnchanged(document));
    } finally {
      this.#dropping.delete(key);
    }
    if (stored !== undefined) this.#adopt(document);
  }
}

/**
 * Saves a document without running save participants, which VS Code can do only for the active tab. A tab of several files would
 * save all of them: there, and in a tab that is not active, they run.
 */
async function saveUnchanged(document: vscode.TextDocument): Promise<void> {
  if (documentIn(vscode.window.tabGroups.activeTabGroup.activeTab) === document.uri.toString())
    await vscode.commands.executeCommand('workbench.action.files.saveWithoutFormatting');
  if (document.isDirty) await document.save();
}

function unsupportedEncoding(): vscode.FileSystemError {
  return vscode.FileSystemError.Unavailable(
    vscode.l10n.t('Redline does not support the encoding of this text.'),
  );
}
