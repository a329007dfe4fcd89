import { watch, type FSWatcher } from 'node:fs';
import * as path from 'node:path';
import type { Disposable } from '../../agent/base/disposable.ts';

/** The most folders that are watched: there are only so many watchers for all programs together. */
const MAX_FOLDERS = 256;

/**
 * Watches folders, each without those in it. It stands beside VS Code's own watcher, which on Linux never hears of what lies
 * in a folder that was made together with the one around it, as `mkdir -p` and a checkout do.
 */
export class FolderWatch implements Disposable {
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches these folders and no others: those that it watches already without a gap, and of very many only the first. */
  watch(folders: readonly string[]): void {
    const wanted = new Set(folders.slice(0, MAX_FOLDERS));
    for (const folder of this.#watchers.keys()) if (!wanted.has(folder)) this.#end(folder);
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#begin(folder);
  }

  dispose(): void {
    this.watch([]);
  }

  #begin(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        // It tells so of itself when it is gone or moved away; there may be another one in its place.
        if (name === path.basename(folder)) this.#renew(folder);
        this.#onChange();
      });
      this.#watchers.set(folder, watcher);
      watcher.on('error', () => this.#end(folder));
    } catch {
      // Gone meanwhile, or one more than the system watches: each request looks at the disk all the same.
    }
  }

  #renew(folder: string): void {
    this.#end(folder);
    this.#begin(folder);
  }

  #end(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }
}
