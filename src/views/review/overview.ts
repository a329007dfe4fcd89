import * as vscode from 'vscode';
import { Emitter, type Event } from '../../agent/base/event.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { NOTE } from './previewTabs.ts';
import type { FileUris } from './previewUri.ts';

/**
 * Several previews in one multi-file diff: all that are pending, or those of a turn. The tab belongs to no single preview:
 * previews are resolved by the lenses above each change, not by its title. That of all pending ones closes when nothing is
 * pending any more.
 */
export class Overview implements vscode.Disposable {
  readonly #files: FileUris;
  readonly #following: vscode.Disposable;
  readonly #opened = new Emitter<readonly string[]>();

  /** The user opened these, by their ids, whatever their state. */
  readonly onDidOpenSet: Event<readonly string[]> = this.#opened.event;

  constructor(store: PreviewStore, files: FileUris) {
    this.#files = files;
    this.#following = store.onDidChange(() => {
      if (!store.hasPending) void this.#close();
    });
  }

  /**
   * Opens it at the user's request, with these previews in this order.
   * @param hidden how many are left out, because a filter hides them
   */
  async open(previews: readonly Preview[], hidden: number): Promise<void> {
    await this.#show(hidden > 0 ? filteredTitle() : overviewTitle(), previews);
  }

  /** Opens these, whatever their state. The tab stays until the user closes it. */
  openSet(previews: readonly Preview[]): Promise<void> {
    this.#opened.fire(previews.map(({ id }) => id));
    return this.#show(setTitle(), previews);
  }

  async #show(title: string, previews: readonly Preview[]): Promise<void> {
    const { leftOutNote, MAX_FILES, shownFiles } = await import('./showDiff.ts');
    const count = previews.reduce((sum, { changes }) => sum + (changes?.length ?? 1), 0);
    const resources = previews
      .slice(0, MAX_FILES)
      .flatMap(preview => shownFiles(preview, this.#files, MAX_FILES));
    const noted = [title, ...leftOutNote(count)].join(NOTE);
    await vscode.commands.executeCommand('vscode.changes', noted, resources.slice(0, MAX_FILES));
  }

  dispose(): void {
    this.#following.dispose();
  }

  async #close(): Promise<void> {
    const titles = [overviewTitle(), filteredTitle()];
    const tabs = vscode.window.tabGroups.all.flatMap(group => group.tabs);
    const ours = tabs.filter(({ label }) =>
      titles.some(title => [' (', NOTE].some(next => `${label} (`.startsWith(`${title}${next}`))),
    );
    if (ours.length > 0) await vscode.window.tabGroups.close(ours, true);
  }
}

function filteredTitle(): string {
  return vscode.l10n.t('Filtered Pending (Redline)');
}

function setTitle(): string {
  return vscode.l10n.t('Changes of One Turn (Redline)');
}

function overviewTitle(): string {
  return vscode.l10n.t('All Pending (Redline)');
}
