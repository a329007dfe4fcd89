import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import { isOpen, type Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { planOf } from '../../agent/session/planMode.ts';
import type { Session } from '../../agent/session/session.ts';
import type { Settings } from '../host/settings.ts';
import { PREVIEW_SCHEME } from '../contributions.ts';
import { oneLine } from '../plainText.ts';
import { tabTitle, type PreviewTabs } from './previewTabs.ts';
import { changesFile } from './shownChange.ts';
import { changeUri, opaqueUri, type FileUris, type PreviewAddress } from './previewUri.ts';
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
 * one only for a prompt from the chat, only if no editor saw activity since, and never in the group that a person works
 * in.
 */
export class PreviewOpener implements vscode.Disposable {
  readonly #options: PreviewOpenerOptions;
  readonly #owned = new DisposableStore();
  /** A prompt was sent and no editor was touched since. */
  #mayOpen = false;

  constructor(options: PreviewOpenerOptions) {
    this.#options = options;
    this.#owned.add(options.store.onDidChange(preview => this.#follow(preview)));
    this.#owned.add(
      options.store.onDidRevise(({ preview, part }) => part && this.#quietly(this.#closeSplitOff(preview))),
    );
    this.#owned.add(vscode.workspace.onDidChangeTextDocument(event => this.#noteActivity(event.document)));
    this.#owned.add(
      vscode.window.onDidChangeTextEditorSelection(event => {
        if (event.kind !== undefined) this.#noteActivity(event.textEditor.document);
      }),
    );
    this.#owned.add(
      vscode.window.onDidChangeActiveTextEditor(editor => editor && this.#noteActivity(editor.document)),
    );
  }

  /** A person asked for something in the chat: what is staged for it may show itself. */
  expectPreview(): void {
    this.#mayOpen = true;
  }

  /** Shows a preview, or one of its files, because a person asked for it: it gets the focus. */
  open(preview: Preview, path?: string): Promise<void> {
    this.#mayOpen = false;
    return this.#show(preview, { preview: true }, path);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #follow(preview: Preview): void {
    if (!isOpen(preview)) {
      this.#quietly(this.#close(preview));
    } else if (this.#mayOpen && preview.state.kind === 'pending' && this.#opensByItself(preview)) {
      this.#mayOpen = false;
      this.#quietly(
        this.#show(preview, {
          preview: true,
          preserveFocus: true,
          viewColumn: this.#options.tabs.quietColumn(),
        }),
      );
    }
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
    return settings.open === 'auto' && (settings.modelAuthority !== 'apply' || planOf(preview) !== undefined);
  }

  /** Files that change on disk are no activity; what happens in the editor that a person is in is. */
  #noteActivity(document: vscode.TextDocument): void {
    if (document !== vscode.window.activeTextEditor?.document) return;
    if (document.uri.scheme !== PREVIEW_SCHEME && document.uri.scheme !== 'output') this.#mayOpen = false;
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
    if (options.preserveFocus) return; // `vscode.changes` always takes the focus: only on request.
    const resources = changes.map(change => [
      files(change.path),
      change.before ? changeUri(id, change, 'base', files) : undefined,
      change.after ? changeUri(id, change, 'proposal', files) : undefined,
    ]);
    await vscode.commands.executeCommand('vscode.changes', tabTitle(oneLine(preview.label), id), resources);
  }

  #quietly(work: Promise<void>): void {
    work.catch((error: unknown) =>
      this.#options.logger.error(`Showing a preview failed: ${detailOf(error)}`),
    );
  }
}
