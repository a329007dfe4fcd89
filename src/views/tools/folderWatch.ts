import { watch, type FSWatcher } from 'node:fs';
import type { Disposable } from '../../agent/base/disposable.ts';

/**
 * Watches folders, each without those in it. It stands beside VS Code's own watcher, which on Linux never hears of what lies
 * in a folder that was made together with the one around it, as `mkdir -p` and a checkout do.
 */
export class FolderWatch implements Disposable {
  readonly #onChange: () => void;
  #watchers: readonly FSWatcher[] = [];

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches these folders, as they are now, and no others. */
  watch(folders: readonly string[]): void {
    this.dispose();
    this.#watchers = folders.flatMap(folder => this.#begin(folder) ?? []);
  }

  dispose(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }

  #begin(folder: string): FSWatcher | undefined {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#onChange());
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      // Gone meanwhile, or one more than the system watches: each request looks at the disk all the same.
      return undefined;
    }
  }
}
