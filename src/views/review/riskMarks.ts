import { coalesce } from '../../agent/base/async.ts';
import { Owner } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import { Emitter, type Event } from '../../agent/base/event.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { setOf } from '../../agent/hold/preview/changeSet.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import type { Risk } from '../../agent/hold/preview/reading/risks.ts';
import type { TextSearch } from '../../agent/hold/preview/textSearch.ts';

/** How long new risks are collected before listeners are told, in milliseconds. */
const GATHER_MS = 100;
const NONE: readonly Risk[] = [];

/** Finds the risks of pending previews in the background, one preview at a time, once for each revision. */
export class RiskMarks extends Owner {
  readonly #store: PreviewStore;
  readonly #search: TextSearch['search'] | undefined;
  readonly #logger: Logger;
  readonly #changed = new Emitter<void>();
  readonly #tell = coalesce(() => this.#changed.fire(), GATHER_MS);
  /** Risks by the proposal of a revision, see {@link proposedBy}. */
  readonly #known = new WeakMap<object, readonly Risk[]>();
  /** Proposals to search again, because more or fewer changes are pending now. */
  readonly #again = new WeakSet<object>();
  /** Proposals queued for the search. */
  readonly #queued = new WeakSet<object>();
  #queue: Promise<void> = Promise.resolve();
  #isDisposed = false;

  /** More was found. */
  readonly onDidChange: Event<void> = this.#changed.event;

  /** @param search finds the files that still import those that previews delete */
  constructor(store: PreviewStore, logger: Logger, search?: TextSearch['search']) {
    super();
    this.#store = store;
    this.#logger = logger;
    this.#search = search;
    this.own({ dispose: this.#tell.cancel });
    this.own(store.onDidChange(changed => this.#lookAgain(changed)));
  }

  /** Risks of a pending preview; none until they are found, which the first call starts. */
  of(preview: Preview): readonly Risk[] {
    const proposed = proposedBy(preview);
    if (preview.state.kind !== 'pending' || !proposed) return NONE;
    const known = this.#known.get(proposed);
    if (known && !this.#again.delete(proposed)) return known;
    if (!known) this.#known.set(proposed, NONE);
    if (!this.#queued.has(proposed)) {
      this.#queued.add(proposed);
      this.#queue = this.#queue.then(() => this.#find(preview.id, proposed));
    }
    return known ?? NONE;
  }

  /** The files that import files deleted by pending previews, as far as they were found. */
  importers(): readonly string[] {
    return [...this.#store.open].flatMap(preview => this.#importersOf(preview));
  }

  /** These files changed, on disk or in an editor: they may import less than before. */
  filesChanged(paths: readonly string[]): void {
    const changed = new Set(paths);
    let isAny = false;
    for (const preview of this.#store.open) {
      if (!preview.changes || !this.#importersOf(preview).some(path => changed.has(path))) continue;
      this.#again.add(preview.changes);
      isAny = true;
    }
    if (isAny) this.#tell();
  }

  override dispose(): void {
    this.#isDisposed = true;
    super.dispose();
  }

  #importersOf({ changes, state }: Preview): readonly string[] {
    const risks = state.kind === 'pending' && changes ? this.#known.get(changes) : undefined;
    return risks?.flatMap(risk => (risk.kind === 'imported' ? risk.by : [])) ?? [];
  }

  async #find(id: string, proposed: object): Promise<void> {
    this.#queued.delete(proposed);
    if (this.#isDisposed) return;
    const preview = this.#store.get(id);
    // The preview was decided or revised meanwhile. If a decision fails, its risks are searched for again.
    if (preview?.state.kind !== 'pending' || proposedBy(preview) !== proposed)
      return void this.#again.add(proposed);
    try {
      const { findRisks } = await import('./findRisks.ts');
      const risks = await findRisks(preview, this.#store, this.#search);
      const last = this.#known.get(proposed);
      this.#known.set(proposed, risks);
      if ((risks.length > 0 || last !== NONE) && !this.#isDisposed) this.#tell();
    } catch (error) {
      this.#logger.error(`Finding the risks of ${id} failed: ${detailOf(error)}`);
    }
    // Each search is its own task, so that many do not block the window.
    await new Promise(resolve => setImmediate(resolve));
  }

  /** A change to a file that imports a deleted file or export, or a change in the same set, may remove or restore an import. */
  #lookAgain(changed: Preview): void {
    if (changed.state.kind === 'applying') return; // its outcome fires the event, too
    const { setId } = setOf(changed);
    const paths = new Set(changed.changes?.map(({ path }) => path));
    for (const preview of paths.size > 0 ? this.#store.open : []) {
      const { changes } = preview;
      if (!changes?.some(({ kind }) => kind === 'delete' || kind === 'rename')) continue;
      if (this.#importersOf(preview).some(path => paths.has(path)) || setOf(preview).setId === setId)
        this.#again.add(changes);
    }
  }
}

/** The files that a preview changes, or the command that it runs. */
function proposedBy({ changes, details, purpose }: Preview): object | undefined {
  if (changes) return changes;
  return purpose === 'command' && typeof details === 'object' && details ? details : undefined;
}
