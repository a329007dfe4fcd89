import * as vscode from 'vscode';
import { Emitter, type Event } from '../../agent/base/event.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { NOTE, overviewTitle, type PreviewTabs } from './previewTabs.ts';
import type { FileUris } from '../workspace/previewUri.ts';

/**
 * Several previews in one multi-file diff: all pending ones, or those of a turn or another set. The tab belongs to no single
 * preview: the buttons of its title are for all of them, keys for the one at the cursor. The tab of all pending ones closes when
 * nothing is pending any more.
 */
export class Overview implements vscode.Disposable {
  readonly #files: FileUris;
  readonly #tabs: PreviewTabs;
  readonly #following: vscode.Disposable;
  readonly #opened = new Emitter<readonly string[]>();

  /** The user opened all of these by their ids, in any state. */
  readonly onDidOpenSet: Event<readonly string[]> = this.#opened.event;

  constructor(store: PreviewStore, files: FileUris, tabs: PreviewTabs) {
    this.#files = files;
    this.#tabs = tabs;
    this.#following = store.onDidChange(() => {
      if (!store.hasPending) void this.#close();
    });
  }

  /** Opens it at the user's request, with these previews in this order. */
  async open(previews: readonly Preview[]): Promise<void> {
    await this.#show(allPending(), previews);
  }

  /**
   * Opens these, in any state, as far as one diff holds them. The tab stays until the user closes it.
   * @param title their common title
   */
  async openSet(previews: readonly Preview[], title = vscode.l10n.t('Several Previews')): Promise<void> {
    this.noteOpened(await this.#show(title, previews));
  }

  /** The user opened these in another way. */
  noteOpened(previews: readonly Preview[]): void {
    this.#opened.fire(previews.map(({ id }) => id));
  }

  /** @returns the previews shown with all of their files, and always the first, since no other diff shows more of it */
  async #show(name: string, previews: readonly Preview[]): Promise<readonly Preview[]> {
    const { leftOutNote, MAX_FILES, shownFiles } = await import('./showDiff.ts');
    let count = 0;
    const whole = previews.filter(
      ({ changes }, index) => (count += changes?.length ?? 1) <= MAX_FILES || index === 0,
    );
    const resources = previews
      .slice(0, MAX_FILES)
      .flatMap(preview => shownFiles(preview, this.#files, MAX_FILES));
    const title = overviewTitle(name, leftOutNote(count));
    this.#tabs.noteTogether(
      title,
      whole.map(({ id }) => id),
    );
    await vscode.commands.executeCommand('vscode.changes', title, resources.slice(0, MAX_FILES));
    return whole;
  }

  dispose(): void {
    this.#following.dispose();
  }

  async #close(): Promise<void> {
    const title = overviewTitle(allPending());
    const tabs = vscode.window.tabGroups.all.flatMap(group => group.tabs);
    const ours = tabs.filter(({ label }) =>
      [' (', NOTE].some(next => `${label} (`.startsWith(`${title}${next}`)),
    );
    if (ours.length > 0) await vscode.window.tabGroups.close(ours, true);
  }
}

function allPending(): string {
  return vscode.l10n.t('All Pending');
}
