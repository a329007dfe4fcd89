import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { isOpen, type Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { SessionEvent } from '../../agent/session/events.ts';
import { planOf } from '../../agent/session/planMode.ts';
import type { Session } from '../../agent/session/session.ts';
import { oneLine } from '../plainText.ts';
import type { Settings } from '../settings.ts';
import { tabTitle, type PreviewTabs } from './previewTabs.ts';
import {
  changeUri,
  documentPath,
  opaqueUri,
  parsePreviewUri,
  type FileUris,
  type PreviewAddress,
} from './previewUri.ts';
import type { ProposalEdits } from './proposalEdits.ts';
import { changesFile } from './shownChange.ts';

export interface PreviewOpenerOptions {
  readonly store: PreviewStore;
  readonly session: Session;
  readonly files: FileUris;
  readonly settings: Settings;
  readonly tabs: PreviewTabs;
  readonly edits: Pick<ProposalEdits, 'settle' | 'drop'>;
  readonly logger: Logger;
}

/**
 * Opens previews as diffs, on request or automatically, and closes their tabs once they are resolved.
 *
 * After a chat prompt, the head opens automatically as soon as one answer's tool calls have all run and staged something:
 * at most once for each prompt, only if no editor saw activity since, and never on top of what the user is working on.
 */
export class PreviewOpener implements vscode.Disposable {
  readonly #options: PreviewOpenerOptions;
  readonly #owned = new DisposableStore();
  /** Set while a preview may open automatically; `after` is the last preview that was staged before the prompt. */
  #promptSent: { readonly after: string | undefined } | undefined;
  /** The preview that opened automatically and that the user has not touched since. */
  #untouched: string | undefined;

  constructor(options: PreviewOpenerOptions) {
    this.#options = options;
    this.#owned.add(options.store.onDidChange(preview => this.#follow(preview)));
    this.#owned.add(
      options.store.onDidRevise(
        ({ preview, part }) => part && this.#logFailure(this.#closeSplitOff(preview)),
      ),
    );
    this.#owned.add(options.session.onDidEmit(event => this.#followSession(event)));
    this.#owned.add(vscode.workspace.onDidChangeTextDocument(event => this.#noteActivity(event.document)));
    this.#owned.add(
      vscode.window.onDidChangeTextEditorSelection(event => {
        if (event.kind !== undefined) this.#noteActivity(event.textEditor.document);
      }),
    );
    this.#owned.add(
      vscode.window.onDidChangeActiveTextEditor(editor => {
        // A preview that opens automatically becomes the active editor if there was none.
        const shown = editor && parsePreviewUri(editor.document.uri);
        if (editor && shown?.previewId !== this.#untouched) this.#noteActivity(editor.document);
      }),
    );
  }

  /** The user sent a prompt in the chat: a preview that is staged for it may open automatically. */
  expectPreview(): void {
    this.#promptSent = { after: this.#options.store.all().at(-1)?.id };
  }

  /** Opens a preview, or one of its files, at the user's request: it gets the focus. */
  open(preview: Preview, path?: string): Promise<void> {
    this.#promptSent = undefined;
    this.#untouched = undefined;
    return this.#show(preview, { preview: true }, path);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #follow(preview: Preview): void {
    if (!isOpen(preview)) this.#logFailure(this.#close(preview));
  }

  /** All calls of an answer have run when the next request begins or the session stops running. */
  #followSession(event: SessionEvent): void {
    const stopped = event.type === 'state_changed' && event.state !== 'running';
    if (event.type !== 'message_start' && !stopped) return;
    const { store, settings } = this.#options;
    if (this.#promptSent && this.#stagedAfter(this.#promptSent.after)) {
      this.#promptSent = undefined;
      const head = store.list(settings.order).find(preview => this.#mayOpenAutomatically(preview));
      if (head) this.#logFailure(this.#openAutomatically(head));
    }
    if (stopped) this.#promptSent = undefined;
  }

  /** Whether the session has staged a preview after `id` that is still open. */
  #stagedAfter(id: string | undefined): boolean {
    const { store, session } = this.#options;
    const previews = store.all();
    const since = previews.slice(previews.findIndex(preview => preview.id === id) + 1);
    return since.some(
      preview => preview.origin?.sessionId === session.id && preview.origin.call && isOpen(preview),
    );
  }

  async #openAutomatically(head: Preview): Promise<void> {
    // `vscode.changes`, which shows several files, always takes the focus, so it is only used on request.
    if ((head.changes?.length ?? 0) > 1) return;
    const viewColumn = this.#options.tabs.quietColumn(id => id === this.#untouched);
    this.#untouched = head.id;
    await this.#show(head, { preview: true, preserveFocus: true, viewColumn });
  }

  /** Closes the diff of a single file that was split off. A multi-file diff stays and shows the file's outcome. */
  async #closeSplitOff(preview: Preview): Promise<void> {
    const { tabs, edits, files } = this.#options;
    const isGone = ({ previewId, path }: PreviewAddress): boolean =>
      previewId === preview.id && !changesFile(preview, path, files);
    await edits.drop(isGone);
    await tabs.closeFiles(isGone);
  }

  async #close(preview: Preview): Promise<void> {
    const { tabs, edits } = this.#options;
    if (await edits.settle(preview)) await tabs.close(preview.id);
    // Sending a plan back asks for another one, which may open automatically.
    const { state } = preview;
    const isKnown = this.#options.store.get(preview.id) !== undefined;
    if (isKnown && planOf(preview) && state.kind === 'discarded' && state.by.actor === 'human')
      this.expectPreview();
  }

  /** In Auto mode only a plan does, since it always waits for the user. */
  #mayOpenAutomatically(preview: Preview): boolean {
    const { settings } = this.#options;
    if (preview.state.kind !== 'pending') return false;
    return settings.open === 'auto' && (settings.modelAuthority !== 'apply' || planOf(preview) !== undefined);
  }

  /** Only the active editor counts: files that change on disk are not the user's activity. */
  #noteActivity(document: vscode.TextDocument): void {
    if (document !== vscode.window.activeTextEditor?.document) return;
    if (document.uri.scheme === 'output') return;
    this.#promptSent = undefined;
    if (parsePreviewUri(document.uri)?.previewId === this.#untouched) this.#untouched = undefined;
  }

  async #show(preview: Preview, options: vscode.TextDocumentShowOptions, path?: string): Promise<void> {
    const wasOpen = isOpen(preview);
    await this.#showDiff(preview, options, path);
    const now = this.#options.store.get(preview.id);
    // It may have been resolved while its tab was opening.
    if (wasOpen && now && !isOpen(now)) await this.#options.tabs.close(preview.id);
    else await this.#options.tabs.closeOthers(preview.id);
  }

  async #showDiff(preview: Preview, options: vscode.TextDocumentShowOptions, path?: string): Promise<void> {
    const { files } = this.#options;
    const { changes, id } = preview;
    const plan = planOf(preview);
    if (plan) {
      const title = tabTitle(vscode.l10n.t('Plan: {0}', oneLine(plan.title)), id);
      await vscode.commands.executeCommand('vscode.open', opaqueUri(preview, 'proposal'), options, title);
      return;
    }
    if (!changes) {
      const title = tabTitle(oneLine(preview.label), id);
      await vscode.commands.executeCommand(
        'vscode.diff',
        opaqueUri(preview, 'base'),
        opaqueUri(preview, 'proposal'),
        title,
        options,
      );
      return;
    }
    const only = changes.length === 1 ? changes[0] : changes.find(change => change.path === path);
    if (only) {
      const { titleNotes } = await import('./titleNotes.ts');
      const name = oneLine(only.path.split('/').at(-1) ?? only.path);
      const title = tabTitle(name, id, await titleNotes(only));
      await vscode.commands.executeCommand(
        'vscode.diff',
        changeUri(id, only, 'base', files),
        changeUri(id, only, 'proposal', files),
        title,
        options,
      );
      return;
    }
    const { overviewNotes } = await import('./titleNotes.ts');
    await vscode.commands.executeCommand(
      'vscode.changes',
      tabTitle(oneLine(preview.label), id, await overviewNotes(changes)),
      shownFiles(preview, files),
    );
  }

  #logFailure(work: Promise<void>): void {
    work.catch((error: unknown) =>
      this.#options.logger.error(`Opening or closing a preview failed: ${detailOf(error)}`),
    );
  }
}

/** The entries for `vscode.changes`: one for each file, or a single one for an opaque preview. */
export function shownFiles(
  preview: Preview,
  files: FileUris,
): readonly [label: vscode.Uri, base: vscode.Uri | undefined, proposal: vscode.Uri | undefined][] {
  const { changes, id } = preview;
  if (!changes) {
    const proposal = opaqueUri(preview, 'proposal');
    return [[proposal, opaqueUri(preview, 'base'), proposal]];
  }
  return changes.map(change => [
    vscode.Uri.from({ scheme: 'file', path: documentPath(change.path, files) }),
    change.before ? changeUri(id, change, change.after ? 'base' : 'deleted', files) : undefined,
    change.after ? changeUri(id, change, 'proposal', files) : undefined,
  ]);
}
