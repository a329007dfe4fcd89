import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import { isOpen, type Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Session } from '../../agent/session/session.ts';
import type { Settings } from '../host/settings.ts';
import { PREVIEW_SCHEME } from '../contributions.ts';
import { closePreviewTabs, groupWithPreview } from './previewTabs.ts';
import { changeUri, opaqueUri, type FileUris } from './previewUri.ts';

export interface PreviewOpenerOptions {
  readonly store: PreviewStore;
  readonly session: Session;
  readonly files: FileUris;
  readonly settings: Settings;
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
    this.#owned.add(vscode.workspace.onDidChangeTextDocument(event => this.#noteActivity(event.document)));
    this.#owned.add(
      vscode.window.onDidChangeTextEditorSelection(event => {
        if (event.kind !== undefined) this.#noteActivity(event.textEditor.document);
      }),
    );
  }

  /** A person asked for something in the chat: what is staged for it may show itself. */
  expectPreview(): void {
    this.#mayOpen = true;
  }

  /** Shows a preview because a person asked for it: it gets the focus. */
  open(preview: Preview): Promise<void> {
    return this.#show(preview, { preview: true });
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #follow(preview: Preview): void {
    if (!isOpen(preview)) {
      this.#quietly(closePreviewTabs(preview.id));
    } else if (this.#mayOpen && preview.state.kind === 'pending' && this.#opensByItself()) {
      this.#mayOpen = false;
      this.#quietly(this.#show(preview, { preview: true, preserveFocus: true, viewColumn: quietColumn() }));
    }
  }

  #opensByItself(): boolean {
    const { settings } = this.#options;
    return settings.open === 'auto' && settings.modelAuthority !== 'apply';
  }

  #noteActivity(document: vscode.TextDocument): void {
    if (document.uri.scheme !== PREVIEW_SCHEME && document.uri.scheme !== 'output') this.#mayOpen = false;
  }

  async #show(preview: Preview, options: vscode.TextDocumentShowOptions): Promise<void> {
    const { files } = this.#options;
    const { changes, id } = preview;
    if (!changes) {
      const title = `${preview.label} (Redline ${id})`;
      await vscode.commands.executeCommand(
        'vscode.diff',
        opaqueUri(preview, 'base'),
        opaqueUri(preview, 'proposal'),
        title,
        options,
      );
      return;
    }
    const [only, ...others] = changes;
    if (only && others.length === 0) {
      const title = `${only.path.split('/').at(-1) ?? only.path} (Redline ${id})`;
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
    await vscode.commands.executeCommand('vscode.changes', `${preview.label} (Redline ${id})`, resources);
  }

  #quietly(work: Promise<void>): void {
    work.catch((error: unknown) =>
      this.#options.logger.error(`Showing a preview failed: ${detailOf(error)}`),
    );
  }
}

/** Where a preview may open without getting in the way: with other previews, in an empty group, else beside. */
function quietColumn(): vscode.ViewColumn {
  const group = groupWithPreview();
  if (group) return group.viewColumn;
  const active = vscode.window.tabGroups.activeTabGroup;
  return active.tabs.length === 0 ? active.viewColumn : vscode.ViewColumn.Beside;
}
