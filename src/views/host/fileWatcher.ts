import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { stepsOf } from '../../agent/preview/fileChange.ts';
import type { Invoker } from '../../agent/preview/invoker.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Rebaser } from '../../agent/preview/rebaser.ts';
import type { FileUris } from '../preview/previewUri.ts';

/** How long nothing may change before the previews are looked at, in milliseconds. */
const QUIET_MS = 100;
/** And how long that may take at most while somebody types on. */
const MAX_WAIT_MS = 500;

export interface FileWatcherOptions {
  readonly store: PreviewStore;
  readonly invoker: Pick<Invoker, 'onDidFailApply'>;
  readonly rebaser: Pick<Rebaser, 'check' | 'filesChanged'>;
  readonly files: FileUris;
}

/**
 * Tells the rebaser which files changed: on disk, in an editor, or unnoticed while no window was open. What Redline
 * itself writes is looked at only once it has landed or was rolled back, for it moves the bases of none but its own.
 */
export class FileWatcher implements vscode.Disposable {
  readonly #options: FileWatcherOptions;
  readonly #owned = new DisposableStore();
  /** URIs of files and folders that changed. */
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #since = 0;

  constructor(options: FileWatcherOptions) {
    this.#options = options;
    const { store, invoker, rebaser } = options;
    const watcher = this.#owned.add(vscode.workspace.createFileSystemWatcher('**/*'));
    const note = (uri: vscode.Uri): void => this.#note(uri);
    this.#owned.add(watcher.onDidChange(note));
    this.#owned.add(watcher.onDidCreate(note));
    this.#owned.add(watcher.onDidDelete(note));
    this.#owned.add(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === 'file') note(document.uri);
      }),
    );
    this.#owned.add(
      store.onDidResolve(() => {
        if (this.#changed.size > 0) this.#schedule();
      }),
    );
    this.#owned.add(invoker.onDidFailApply(({ id, dependsOn }) => void rebaser.check([id, ...dependsOn])));
    void rebaser.check(store.list('oldestFirst').map(preview => preview.id));
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#owned.dispose();
  }

  #note(uri: vscode.Uri): void {
    if (!this.#options.store.hasPending) return;
    if (this.#changed.size === 0) this.#since = Date.now();
    this.#changed.add(uri.toString());
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const left = Math.max(0, this.#since + MAX_WAIT_MS - Date.now());
    this.#timer = setTimeout(() => this.#tell(), Math.min(QUIET_MS, left));
  }

  #tell(): void {
    const { store, rebaser, files } = this.#options;
    const open = store.list('oldestFirst');
    if (open.some(({ state, changes }) => state.kind === 'applying' && changes)) return; // asked again at its end
    const paths = new Set(
      open
        .flatMap(({ changes }) => changes ?? [])
        .flatMap(stepsOf)
        .map(step => step.path),
    );
    const touched = [...paths].filter(path => this.#isTouched(files, path));
    this.#changed.clear();
    if (touched.length > 0) void rebaser.filesChanged(touched);
  }

  /** A folder that comes or goes is one event for all that it holds. */
  #isTouched(files: FileUris, path: string): boolean {
    let uri: vscode.Uri;
    try {
      uri = files(path);
    } catch {
      return false; // its folder is no longer open
    }
    for (let at = uri; at.path !== '/'; at = vscode.Uri.joinPath(at, '..')) {
      if (this.#changed.has(at.toString())) return true;
    }
    return false;
  }
}
