import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import { isOpen, type Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { planOf } from '../../agent/session/planMode.ts';
import type { SessionEvent } from '../../agent/session/events.ts';
import type { Session } from '../../agent/session/session.ts';
import type { Settings } from '../host/settings.ts';
import { oneLine } from '../plainText.ts';
import { tabTitle, type PreviewTabs } from './previewTabs.ts';
import { changesFile } from './shownChange.ts';
import {
  changeUri,
  documentPath,
  opaqueUri,
  parsePreviewUri,
  type FileUris,
  type PreviewAddress,
} from './previewUri.ts';
import type { ProposalEdits } from './proposalEdits.ts';

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
 * Opens previews as diffs, on request or by itself, and closes their tabs once they are resolved. By itself it opens
 * the head, once for a prompt from the chat that staged something, as soon as all that one answer calls for is staged; only
 * if no editor saw activity since, and never in front of what a person works on.
 */
export class PreviewOpener implements vscode.Disposable {
  readonly #options: PreviewOpenerOptions;
  readonly #owned = new DisposableStore();
  /** A prompt was sent when this preview was the last one staged, and no editor was touched since. */
  #asked: { readonly after: string | undefined } | undefined;
  /** The preview that opened by itself and was not touched since. */
  #untouched: string | undefined;

  constructor(options: PreviewOpenerOptions) {
    this.#options = options;
    this.#owned.add(options.store.onDidChange(preview => this.#follow(preview)));
    this.#owned.add(
      options.store.onDidRevise(({ preview, part }) => part && this.#quietly(this.#closeSplitOff(preview))),
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
        // What opens by itself becomes the active editor where there was none.
        const shown = editor && parsePreviewUri(editor.document.uri);
        if (editor && shown?.previewId !== this.#untouched) this.#noteActivity(editor.document);
      }),
    );
  }

  /** A person asked for something in the chat: what is staged for it may show itself. */
  expectPreview(): void {
    this.#asked = { after: this.#options.store.all().at(-1)?.id };
  }

  /** Shows a preview, or one of its files, because a person asked for it: it gets the focus. */
  open(preview: Preview, path?: string): Promise<void> {
    this.#asked = undefined;
    this.#untouched = undefined;
    return this.#show(preview, { preview: true }, path);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #follow(preview: Preview): void {
    if (!isOpen(preview)) this.#quietly(this.#close(preview));
  }

  /** An answer's calls are all carried out when the next request begins, or the session comes to rest. */
  #followSession(event: SessionEvent): void {
    const rests = event.type === 'state_changed' && event.state !== 'running';
    if (event.type !== 'message_start' && !rests) return;
    const { store, settings } = this.#options;
    if (this.#asked && this.#stagedAfter(this.#asked.after)) {
      this.#asked = undefined;
      const head = store.list(settings.order).find(preview => this.#opensByItself(preview));
      if (head) this.#quietly(this.#openByItself(head));
    }
    if (rests) this.#asked = undefined;
  }

  /** Whether the session staged something since, that is still open. */
  #stagedAfter(id: string | undefined): boolean {
    const { store, session } = this.#options;
    const previews = store.all();
    const since = previews.slice(previews.findIndex(preview => preview.id === id) + 1);
    return since.some(preview => preview.origin?.sessionId === session.id && isOpen(preview));
  }

  async #openByItself(head: Preview): Promise<void> {
    // `vscode.changes`, which shows several files, always takes the focus: only on request.
    if ((head.changes?.length ?? 0) > 1) return;
    const viewColumn = this.#options.tabs.quietColumn(id => id === this.#untouched);
    this.#untouched = head.id;
    await this.#show(head, { preview: true, preserveFocus: true, viewColumn });
  }

  /** The diff of a single file closes when that file goes its own way; a multi-file diff says what became of it. */
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
    // A plan that is sent back is a request for the next one.
    const { state } = preview;
    const isKnown = this.#options.store.get(preview.id) !== undefined;
    if (isKnown && planOf(preview) && state.kind === 'discarded' && state.by.actor === 'human')
      this.expectPreview();
  }

  /** In Auto mode only a plan: it waits for a person all the same. */
  #opensByItself(preview: Preview): boolean {
    const { settings } = this.#options;
    if (preview.state.kind !== 'pending') return false;
    return settings.open === 'auto' && (settings.modelAuthority !== 'apply' || planOf(preview) !== undefined);
  }

  /** Files that change on disk are no activity; what happens in the editor that a person is in is. */
  #noteActivity(document: vscode.TextDocument): void {
    if (document !== vscode.window.activeTextEditor?.document) return;
    if (document.uri.scheme === 'output') return;
    this.#asked = undefined;
    if (parsePreviewUri(document.uri)?.previewId === this.#untouched) this.#untouched = undefined;
  }

  async #show(preview: Preview, options: vscode.TextDocumentShowOptions, path?: string): Promise<void> {
    const wasOpen = isOpen(preview);
    await this.#showDiff(preview, options, path);
    const now = this.#options.store.get(preview.id);
    // It may have been resolved while its tab opened.
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
      const title = tabTitle(only.path.split('/').at(-1) ?? only.path, id);
      await vscode.commands.executeCommand(
        'vscode.diff',
        changeUri(id, only, 'base', files),
        changeUri(id, only, 'proposal', files),
        title,
        options,
      );
      return;
    }
    await vscode.commands.executeCommand(
      'vscode.changes',
      tabTitle(oneLine(preview.label), id),
      shownFiles(preview, files),
    );
  }

  #quietly(work: Promise<void>): void {
    work.catch((error: unknown) =>
      this.#options.logger.error(`Showing a preview failed: ${detailOf(error)}`),
    );
  }
}

/** What `vscode.changes` takes for each file of a preview, or for an opaque one as a whole. */
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
