import { StalePreviewError } from '../errors.ts';
import type { FileStep } from '../fileChange.ts';
import { touchedSteps } from '../fileSteps.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { Workspace } from '../workspace.ts';
import { syncWritten, writeAgain, type Sides } from './syncWritten.ts';

/** Applied changes that are not synced yet. */
interface Batch {
  readonly ids: Set<string>;
  readonly paths: Set<string>;
  /** Those that may hold what an earlier sync failed for, so that they are written again before the next one. */
  readonly again: Set<string>;
}

/**
 * Syncs the files of commits right after the ledger has recorded the commits, several together, and then has the log record the
 * sync. Files that fail stay unsynced in the log until a commit touches them again, or the next start compares them with their
 * decided content.
 */
export class Syncs {
  readonly #store: PreviewStore;
  readonly #files: Workspace;
  #waiting = newBatch();
  #running: Batch | undefined;
  #ended: Promise<void> = Promise.resolve();
  /** The files whose failed sync was told. */
  readonly #told = new Set<string>();

  constructor(store: PreviewStore, files: Workspace) {
    this.#store = store;
    this.#files = files;
  }

  /** Adds previews that the log has as applied. @param paths the files that they wrote to the disk */
  add(ids: readonly string[], paths: readonly string[]): void {
    this.#addFailed(paths, ids);
    for (const id of ids) this.#waiting.ids.add(id);
    for (const path of paths) this.#waiting.paths.add(path);
    if (!this.#running) this.#ended = this.#run();
  }

  /**
   * Settles once everything written to any of these paths before is synced, or was tried once more: at most one commit's write to a
   * file may be lost, so that a power cut leaves states that can be told apart.
   */
  async settled(paths: readonly string[]): Promise<void> {
    if (this.#addFailed(paths)) this.add([], []);
    const isOneOf = (batch: Batch | undefined): boolean => paths.some(path => batch?.paths.has(path));
    while (isOneOf(this.#running) || isOneOf(this.#waiting)) await this.#ended;
  }

  /**
   * Adds the earlier commits on these paths whose sync failed: a sync of the same file that succeeds later, under whatever name,
   * proves nothing about the bytes that they wrote.
   * @returns whether there are any
   */
  #addFailed(paths: readonly string[], but: readonly string[] = []): boolean {
    const isUnderWay = (id: string): boolean =>
      this.#waiting.ids.has(id) || this.#running?.ids.has(id) === true || but.includes(id);
    let isAny = false;
    for (const { ids, rollback } of this.#store.unsyncedCommits) {
      if (ids.some(isUnderWay)) continue;
      const written = this.#stepsOf(ids).map(({ path }) => path);
      if (!paths.some(path => written.includes(path))) continue;
      for (const id of ids) this.#waiting.ids.add(id);
      for (const path of written) if (!rollback?.editors?.includes(path)) this.#waiting.paths.add(path);
      for (const path of [...written, ...paths]) this.#waiting.again.add(path);
      isAny = true;
    }
    return isAny;
  }

  #stepsOf(ids: readonly string[]): readonly FileStep[] {
    return touchedSteps(ids.flatMap(id => this.#store.get(id)?.changes ?? []));
  }

  #sidesOf({ ids, paths }: Batch): Sides {
    const sides = new Map(this.#stepsOf([...ids]).map(({ path, after }) => [path, after]));
    return new Map(Array.from(paths, path => [path, sides.get(path) ?? null]));
  }

  async #run(): Promise<void> {
    while (this.#waiting.ids.size > 0) {
      const batch = (this.#running = this.#waiting);
      this.#waiting = newBatch();
      const sides = this.#sidesOf(batch);
      const failed = await this.#renew(new Map([...sides].filter(([path]) => batch.again.has(path))));
      for (const [path, error] of await syncWritten(this.#files, sides)) failed.set(path, error);
      if (failed.size === 0) void this.#store.recordSynced([...batch.ids]);
      this.#tell(batch, failed);
    }
    this.#running = undefined;
  }

  /** Writes files again. Of a file that was changed on the disk since, nothing of the commit is left to lose. */
  async #renew(sides: Sides): Promise<Map<string, unknown>> {
    const failed = await writeAgain(this.#files, sides);
    for (const [path, error] of failed) {
      if (!(error instanceof StalePreviewError)) continue;
      const place = await this.#files.placeOf(path).catch(() => undefined);
      if (place && !place.isUnsaved) failed.delete(path);
    }
    return failed;
  }

  /** Each file is told once, until it is synced. */
  #tell({ ids, paths }: Batch, failed: ReadonlyMap<string, unknown>): void {
    const news = new Map([...failed].filter(([path]) => !this.#told.has(path)));
    for (const path of paths) if (!failed.has(path)) this.#told.delete(path);
    for (const path of news.keys()) this.#told.add(path);
    if (news.size > 0) this.#store.tells.onUnsynced?.([...ids], news);
  }
}

function newBatch(): Batch {
  return { ids: new Set(), paths: new Set(), again: new Set() };
}
