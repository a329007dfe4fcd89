import { touchedSteps } from '../fileSteps.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { Workspace } from '../workspace.ts';
import { syncWritten, type Sides } from './syncWritten.ts';

/** Applied changes that are not synced yet. */
interface Batch {
  readonly ids: string[];
  readonly paths: Set<string>;
}

/**
 * Syncs the files of commits right after the ledger has recorded the commits, several together, and then has the log record the
 * sync. Files that fail stay unsynced in the log, and the next start compares them with their decided content.
 */
export class Syncs {
  readonly #store: PreviewStore;
  readonly #files: Workspace;
  #waiting: Batch = { ids: [], paths: new Set() };
  #running: Batch | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(store: PreviewStore, files: Workspace) {
    this.#store = store;
    this.#files = files;
  }

  /** Adds previews that the log has as applied. @param paths the files that they wrote to the disk */
  add(ids: readonly string[], paths: readonly string[]): void {
    this.#waiting.ids.push(...ids);
    for (const path of paths) this.#waiting.paths.add(path);
    if (!this.#running) this.#ended = this.#run();
  }

  /**
   * Settles once everything written to any of these paths before is synced: at most one commit's write to a file may be lost, so
   * that a power cut leaves states that can be told apart.
   */
  async settled(paths: readonly string[]): Promise<void> {
    const isOneOf = (batch: Batch | undefined): boolean => paths.some(path => batch?.paths.has(path));
    while (isOneOf(this.#running) || isOneOf(this.#waiting)) await this.#ended;
  }

  #sidesOf({ ids, paths }: Batch): Sides {
    const changes = ids.flatMap(id => this.#store.get(id)?.changes ?? []);
    const sides = new Map(touchedSteps(changes).map(({ path, after }) => [path, after]));
    return new Map(Array.from(paths, path => [path, sides.get(path) ?? null]));
  }

  async #run(): Promise<void> {
    while (this.#waiting.ids.length > 0) {
      const batch = (this.#running = this.#waiting);
      this.#waiting = { ids: [], paths: new Set() };
      const failed = await syncWritten(this.#files, this.#sidesOf(batch));
      if (failed.size === 0) void this.#store.recordSynced(batch.ids);
      else this.#store.tells.onUnsynced?.(batch.ids, failed);
    }
    this.#running = undefined;
  }
}
