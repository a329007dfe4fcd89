import * as vscode from 'vscode';
import { Owner } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import { isOpen, type Preview } from '../../agent/hold/preview/preview.ts';
import type { SessionEvent } from './sessionPort.ts';
import { planOf } from '../../agent/hold/preview/plan.ts';
import type { Agent } from '../agent.ts';
import { contextKeys } from '../contributions.ts';
import type { PreviewTabs } from './previewTabs.ts';
import { documentPath, parsePreviewUri, type PreviewAddress } from '../workspace/previewUri.ts';
import type { ProposalEdits } from './documents/proposalEdits.ts';
import type { ReviewList } from './reviewList.ts';
import type { Place, Stop } from './reviewOrder.ts';
import { changesFile, shownChange } from './shownChange.ts';

/** Further dependencies. */
interface ReviewParts {
  readonly tabs: PreviewTabs;
  readonly review: ReviewList;
  readonly edits: ProposalEdits;
}

/** How a preview is shown. */
interface Showing extends vscode.TextDocumentShowOptions {
  /** The file to show. Without it, a preview of several files is shown as one multi-file diff. */
  readonly path?: string | undefined;
}

/** A vote of the user that ends a preview that they see. */
interface Ending {
  /** The list that the preview was in. Once the preview is resolved, the list no longer tells its place. */
  readonly listed: readonly Preview[];
  /** Whether the focus is where it was when the vote was cast, in the editor. If so, the next preview gets it. */
  inEditor: boolean;
}

/**
 * Opens previews as diffs, on request or automatically, and closes their tabs once they are resolved.
 *
 * After a chat prompt, the first preview that was staged for it opens automatically as soon as one answer's tool calls have
 * all run: at most once for each prompt, only if no editor saw activity since, and never on top of the user's
 * work. Once the user has resolved the preview that they see, the next pending one takes its tab.
 */
export class PreviewOpener extends Owner {
  readonly #ctx: Agent & ReviewParts;
  /** Set while a preview may open automatically; `after` is the last preview that was staged before the prompt. */
  #promptSent: { readonly after: string | undefined } | undefined;
  /** The preview that opened automatically and that the user has not touched since. */
  #untouched: string | undefined;
  /** The stop that was shown last, with its files as they were then. */
  #last: Stop | undefined;
  /** The votes in progress that were cast by keys or buttons of an editor, unless the user has gone to the chat since. */
  readonly #votesInEditor = new Set<symbol>();
  /** Settles once the last vote of the active editor is cast. */
  #queue = Promise.resolve();
  #goesOn = false;
  #goOnVoting: () => void = () => undefined;
  /** Settles once all pending openings and closings of tabs are done. */
  #shown: Promise<unknown> = Promise.resolve();
  /** Votes on the previews that the user sees, by preview id. */
  readonly #endings = new Map<string, Ending>();
  /** The previews whose tabs close at the end, while many previews are resolved at once. */
  #waiting: Preview[] | undefined;

  constructor(ctx: Agent & ReviewParts) {
    super();
    this.#ctx = ctx;
    this.own(ctx.store.onDidChange(preview => this.#follow(preview)));
    this.own(
      ctx.store.onDidRevise(({ preview, part }) => part && this.#logFailure(this.#closeSplitOff(preview))),
    );
    this.own(ctx.session.onDidEmit(event => this.#followSession(event)));
    this.own(
      vscode.workspace.onDidChangeTextDocument(({ document, reason }) => {
        // If the document has no unsaved changes, VS Code has read it again, unless the user has undone their edits.
        if (document.isDirty || reason !== undefined) this.#noteActivity(document);
      }),
    );
    this.own(
      vscode.window.onDidChangeTextEditorSelection(event => {
        // Opening a diff puts the cursor on its first change, which counts as a command: that is not the user's activity.
        const { Keyboard, Mouse } = vscode.TextEditorSelectionChangeKind;
        if (event.kind === Keyboard || event.kind === Mouse) this.#noteActivity(event.textEditor.document);
      }),
    );
    this.own(
      vscode.window.onDidChangeActiveTextEditor(editor => {
        // A preview that opens automatically becomes the active editor if there was none.
        const shown = editor && parsePreviewUri(editor.document.uri);
        if (editor && shown?.previewId !== this.#untouched) this.#noteActivity(editor.document);
      }),
    );
  }

  /** The user sent a prompt in the chat: a preview that is staged for it may open automatically. */
  expectPreview(): void {
    this.#promptSent = { after: this.#ctx.store.all().at(-1)?.id };
  }

  /** Opens a preview, or one of its files, at the user's request: it gets the focus, unless the options say otherwise. */
  open(preview: Preview, path?: string, options: vscode.TextDocumentShowOptions = {}): Promise<void> {
    this.#promptSent = undefined;
    this.#untouched = undefined;
    return this.#show(preview, { ...options, path });
  }

  /**
   * Opens the preview, or the file, after or before a place: by default the one that is shown or was shown last. If that one still
   * has a visible tab, but no preview is active, it comes first.
   */
  async step(direction: 1 | -1, from?: Place): Promise<void> {
    const { stepFrom } = await reviewOrder();
    const { tabs, store } = this.#ctx;
    const last = from || tabs.activeId() !== undefined ? undefined : this.#last;
    const shown = last && tabs.columnShowing(last.preview.id) && store.get(last.preview.id);
    if (last && shown && isOpen(shown))
      return this.open(shown, last.path, { viewColumn: tabs.columnShowing(shown.id) });
    const stop = stepFrom(this.#ctx.review.list(), from ?? this.#place(), direction);
    if (stop) await this.open(stop.preview, stop.path);
  }

  /**
   * Casts a vote of the active editor, once earlier votes are cast and their next stops are shown: if the review goes on, the
   * focus goes with it. A vote that runs something does not hold up the others. Meanwhile the keys also work where nothing has
   * the focus, such as while one diff replaces another.
   */
  async voteInEditor<T>(cast: () => Promise<T>): Promise<T> {
    const before = this.#queue;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue = promise;
    this.#setGoesOn(true);
    void promise.then(() => this.#queue === promise && this.#setGoesOn(false));
    await before;
    const vote = Symbol();
    this.#votesInEditor.add(vote);
    this.#goOnVoting = resolve;
    try {
      return await cast();
    } finally {
      await this.#shown;
      this.#votesInEditor.delete(vote);
      resolve();
    }
  }

  /** Whether a vote is being cast, and VS Code has emptied its diff for the next one. */
  get isBetweenDiffs(): boolean {
    return this.#goesOn && vscode.window.activeTextEditor === undefined;
  }

  /** The user has gone to the chat: votes that end from now on leave the focus there. */
  leaveFocus(): void {
    this.#setGoesOn(false);
    this.#votesInEditor.clear();
    for (const ending of this.#endings.values()) ending.inEditor = false;
  }

  /** Resolves many previews: their tabs close at the end, and the review goes on with the rest. */
  async together<T>(resolveAll: () => Promise<T>): Promise<T> {
    if (this.#waiting) return resolveAll();
    const waiting: Preview[] = (this.#waiting = []);
    try {
      return await resolveAll();
    } finally {
      this.#waiting = undefined;
      for (const preview of waiting) await this.#close(preview);
    }
  }

  #setGoesOn(goesOn: boolean): void {
    if (goesOn === this.#goesOn) return;
    this.#goesOn = goesOn;
    void vscode.commands.executeCommand('setContext', contextKeys.goesOn, goesOn);
  }

  #follow(preview: Preview): void {
    if (preview.state.kind === 'applying') this.#noteEnding(preview);
    if (preview.state.kind === 'pending') this.#endings.delete(preview.id);
    if (isOpen(preview)) return;
    if (this.#waiting) this.#waiting.push(preview);
    else this.#logFailure(this.#close(preview));
  }

  #noteEnding({ id, state, kind }: Preview): void {
    const { review, tabs } = this.#ctx;
    if (kind !== 'files') this.#goOnVoting();
    if (state.kind !== 'applying' || state.actor !== 'human' || tabs.columnShowing(id) === undefined) return;
    this.#endings.set(id, { listed: review.list(), inEditor: this.#votesInEditor.size > 0 });
  }

  /** All calls of an answer have run when the next request begins or the session stops running. */
  #followSession(event: SessionEvent): void {
    const stopped = event.type === 'state_changed' && event.state !== 'running';
    if (event.type !== 'message_start' && !stopped) return;
    this.#openExpected();
    if (stopped) this.#promptSent = undefined;
  }

  /** Opens the first preview staged for the user's prompt, if there is one. */
  #openExpected(): void {
    const staged = this.#promptSent ? this.#stagedAfter(this.#promptSent.after) : new Set<string>();
    if (staged.size === 0) return;
    this.#promptSent = undefined;
    this.#logFailure(this.#openFirst(staged));
  }

  async #openFirst(staged: ReadonlySet<string>): Promise<void> {
    const { review } = this.#ctx;
    await review.loaded();
    // Not the head: the preview that the user asked for may build on a preview that they have seen before.
    const first = review
      .list()
      .find(preview => staged.has(preview.id) && this.#mayOpenAutomatically(preview));
    if (first) await this.#openAutomatically(first);
  }

  /** The previews that the session has staged after `id` and that are still open. */
  #stagedAfter(id: string | undefined): ReadonlySet<string> {
    const { store, session } = this.#ctx;
    const previews = store.all();
    const since = previews.slice(previews.findIndex(preview => preview.id === id) + 1);
    const staged = since.filter(
      preview => preview.origin?.sessionId === session.id && preview.origin.call && isOpen(preview),
    );
    return new Set(staged.map(preview => preview.id));
  }

  async #openAutomatically(preview: Preview): Promise<void> {
    const { firstStop } = await reviewOrder();
    const viewColumn = this.#ctx.tabs.quietColumn(id => id === this.#untouched);
    await this.#showQuietly(firstStop(preview), { preserveFocus: true, viewColumn });
    if (viewColumn !== vscode.ViewColumn.Beside) await this.#ctx.tabs.closeWelcome(viewColumn);
  }

  /** Shows a preview without being asked to. `vscode.changes` always takes the focus, so it shows a single file. */
  async #showQuietly({ preview, path }: Stop, options: vscode.TextDocumentShowOptions): Promise<void> {
    this.#untouched = preview.id;
    await this.#show(preview, { ...options, path });
  }

  /**
   * Shows the next file of a preview in place of a single file's diff when that file was split off. A multi-file diff stays
   * and shows the outcome of the file.
   */
  async #closeSplitOff(preview: Preview): Promise<void> {
    const { tabs, edits, files, settings } = this.#ctx;
    const isGone = ({ previewId, path }: PreviewAddress): boolean =>
      previewId === preview.id && !changesFile(preview, path, files);
    const viewColumn = tabs.columnShowingFile(isGone);
    const inEditor = this.#votesInEditor.size > 0;
    await edits.drop(isGone);
    if (viewColumn !== undefined && settings.open === 'auto' && !this.#waiting && preview.changes) {
      const { fileAfter } = await reviewOrder();
      const before = this.#last?.preview.id === preview.id ? (this.#last.preview.changes ?? []) : [];
      const next = fileAfter(before, this.#last?.path ?? '', preview.changes) ?? preview.changes[0];
      const stop = { preview, ...(preview.changes.length > 1 && next ? { path: next.path } : {}) };
      await this.#showQuietly(stop, { preserveFocus: !inEditor, viewColumn });
    }
    await tabs.closeFiles(isGone);
  }

  async #close(preview: Preview): Promise<void> {
    const { tabs, edits } = this.#ctx;
    const ending = this.#endings.get(preview.id);
    const isClosing = await edits.settle(preview);
    if (isClosing) {
      if (ending) await this.#goOn(preview.id, ending);
      await tabs.close(preview.id);
    }
    // Sending a plan back asks for another one, which may open automatically.
    const { state } = preview;
    const isKnown = this.#ctx.store.get(preview.id) !== undefined;
    if (isKnown && planOf(preview) && state.kind === 'discarded' && state.by.actor === 'human') {
      this.#promptSent = { after: preview.id };
      // The model may have submitted it while the tab of this one closed.
      this.#openExpected();
    }
    this.#endings.delete(preview.id);
    // If nothing took its place, nothing would have the focus.
    if (isClosing && ending?.inEditor)
      await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
  }

  /** Shows the next pending preview where it is already in front, else in the tab of the one that the user has resolved. */
  async #goOn(resolvedId: string, ending: Ending): Promise<void> {
    const { store, settings, tabs } = this.#ctx;
    const viewColumn = tabs.columnShowing(resolvedId);
    if (viewColumn === undefined || settings.open !== 'auto') return;
    const { firstStop, idsAfter } = await reviewOrder();
    const next = idsAfter(ending.listed, resolvedId)
      .map(id => store.get(id))
      .find(preview => preview?.state.kind === 'pending');
    if (!next) return;
    // It may already be in front beside the resolved one: one diff of it is enough.
    const shownIn = tabs.columnShowing(next.id);
    if (shownIn !== undefined && !ending.inEditor) return;
    const options = { preserveFocus: !ending.inEditor, viewColumn: shownIn ?? viewColumn };
    await this.#showQuietly(firstStop(next), options);
  }

  /** In Auto mode only a plan opens automatically, since it always waits for the user. */
  #mayOpenAutomatically(preview: Preview): boolean {
    const { settings } = this.#ctx;
    if (preview.state.kind !== 'pending') return false;
    return (
      settings.open === 'auto' &&
      (!['apply', 'checked'].includes(settings.modelAuthority) || planOf(preview) !== undefined)
    );
  }

  /** Only the active editor counts: files that change on disk are not the user's activity. */
  #noteActivity(document: vscode.TextDocument): void {
    if (document !== vscode.window.activeTextEditor?.document) return;
    if (document.uri.scheme === 'output') return;
    this.#promptSent = undefined;
    if (parsePreviewUri(document.uri)?.previewId === this.#untouched) this.#untouched = undefined;
  }

  /** The place of the review: the preview of the active tab, or the one shown last. */
  #place(): Place | undefined {
    const { store, files, tabs } = this.#ctx;
    const address = tabs.activeAddress();
    if (address) {
      const path = shownChange(store, files, address)?.change.path;
      return { previewId: address.previewId, path };
    }
    const previewId = tabs.activeId();
    if (previewId !== undefined) return { previewId };
    return this.#last && { ...this.#last, previewId: this.#last.preview.id };
  }

  async #show(preview: Preview, { path, ...options }: Showing): Promise<void> {
    const { store, files, tabs } = this.#ctx;
    const wasOpen = isOpen(preview);
    const isFirst = !this.#last;
    this.#last = { preview, path };
    const { rehearseKeys, showDiff } = await import('./showDiff.ts');
    if (isFirst) rehearseKeys();
    // A tab that already shows it, in any group, is enough.
    const isIt = (shown: PreviewAddress): boolean =>
      shown.previewId === preview.id && (path === undefined || shown.path === documentPath(path, files));
    const viewColumn = options.viewColumn ?? tabs.columnOf(isIt);
    await showDiff(preview, files, tabs, { preview: true, ...options, viewColumn }, path);
    const now = store.get(preview.id);
    // It may have been resolved while its tab was opening.
    if (wasOpen && now && !isOpen(now)) await tabs.close(preview.id);
    else await tabs.closeOthers(preview.id);
  }

  #logFailure(work: Promise<void>): void {
    const ended = work.catch((error: unknown) =>
      this.#ctx.logger.error(`Opening or closing a preview failed: ${detailOf(error)}`),
    );
    this.#shown = Promise.all([this.#shown, ended]);
  }
}

function reviewOrder() {
  return import('./reviewOrder.ts');
}
