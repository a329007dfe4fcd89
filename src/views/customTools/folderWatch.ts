import { watch, type FSWatcher } from 'node:fs';
import * as path from 'node:path';
import type { Disposable } from '../../agent/base/disposable.ts';

/** How many folders are watched at most: the system limits the number of watchers of all programs together. */
const MAX_FOLDERS = 256;

/**
 * Watches folders, without their subfolders. It complements VS Code's own watcher, which on Linux misses changes in a folder that
 * was created together with its parent, as `mkdir -p` and a checkout do.
 */
export class FolderWatch implements Disposable {
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches these folders and no others. Folders that are already watched stay so without a gap; folders beyond the limit are ignored. */
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
        // An event with the folder's own name: it was deleted or moved, and a new one may have replaced it.
        if (name === path.basename(folder)) this.#renew(folder);
        this.#onChange();
      });
      this.#watchers.set(folder, watcher);
      watcher.on('error', () => this.#end(folder));
    } catch {
      // It is gone, or the system's limit is reached. Each request checks the disk anyway.
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
