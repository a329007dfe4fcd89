import { DisposableStore, type Disposable } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import { Emitter, type Event } from '../../agent/base/event.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { setOf } from '../../agent/preview/changeSet.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import { contentsAfter } from '../../agent/preview/overlay.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Risk } from '../../agent/preview/reading/risks.ts';
import { planOf } from '../../agent/session/planMode.ts';
import type { TextSearch } from '../../agent/tools/files/searchText.ts';
import type { TextMatch } from '../../agent/tools/files/textReport.ts';
import { coalesce } from '../coalesce.ts';

/** How long what was found is collected before it is told, in milliseconds. */
const GATHER_MS = 100;
/** The most lines that are looked at for imports of one file, and how long they are searched for, in milliseconds. */
const MAX_LINES = 1_000;
const SEARCH_MS = 10_000;
const NONE: readonly Risk[] = [];

/** Finds the risks of pending previews in the background, one preview at a time, once for each revision. */
export class RiskMarks implements Disposable {
  readonly #store: PreviewStore;
  readonly #search: TextSearch['search'] | undefined;
  readonly #logger: Logger;
  readonly #owned = new DisposableStore();
  readonly #changed = new Emitter<void>();
  readonly #tell = coalesce(() => this.#changed.fire(), GATHER_MS);
  /** By what a revision proposes. */
  readonly #known = new WeakMap<NonNullable<Preview['changes']>, readonly Risk[]>();
  /** What is to be looked at again, since more or less is pending. */
  readonly #again = new WeakSet<NonNullable<Preview['changes']>>();
  #queue: Promise<void> = Promise.resolve();
  #isDisposed = false;

  /** More was found. */
  readonly onDidChange: Event<void> = this.#changed.event;

  /** @param search finds what still imports the files that previews delete */
  constructor(store: PreviewStore, logger: Logger, search?: TextSearch['search']) {
    this.#store = store;
    this.#logger = logger;
    this.#search = search;
    this.#owned.add({ dispose: this.#tell.cancel });
    this.#owned.add(store.onDidChange(changed => this.#lookAgain(changed)));
  }

  /** Those of a pending preview; none until they are found, which the first call starts. */
  of(preview: Preview): readonly Risk[] {
    const { changes, state } = preview;
    if (state.kind !== 'pending' || !changes) return NONE;
    const known = this.#known.get(changes);
    if (known && !this.#again.delete(changes)) return known;
    if (!known) this.#known.set(changes, NONE);
    this.#queue = this.#queue.then(() => this.#find(preview, changes));
    return known ?? NONE;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#owned.dispose();
  }

  async #find(preview: Preview, changes: NonNullable<Preview['changes']>): Promise<void> {
    if (this.#isDisposed) return;
    try {
      const { risksOf } = await import('../../agent/preview/reading/risks.ts');
      const risks = await risksOf(preview, this.#planFor(preview), word => this.#lines(word));
      const last = this.#known.get(changes);
      this.#known.set(changes, risks);
      if ((risks.length > 0 || last !== NONE) && !this.#isDisposed) this.#tell();
    } catch (error) {
      this.#logger.error(`Finding the risks of ${preview.id} failed: ${detailOf(error)}`);
    }
    // Each is a task of its own, so that many do not keep the window waiting.
    await new Promise(resolve => setImmediate(resolve));
  }

  /** Searches the workspace as if all that is pending were applied. */
  async #lines(query: string): Promise<readonly TextMatch[]> {
    if (!this.#search) return [];
    const pending = [...this.#store.open].filter(({ state }) => state.kind === 'pending');
    const contents = contentsAfter(pending, this.#store.blobs);
    return (
      await this.#search({ query, isRegex: false }, MAX_LINES, AbortSignal.timeout(SEARCH_MS), contents)
    ).matches;
  }

  /** What changes a file that imports what a preview deletes, or belongs to its set, may take away an import or bring it back. */
  #lookAgain(changed: Preview): void {
    const { setId } = setOf(changed);
    const paths = new Set(changed.changes?.map(({ path }) => path));
    for (const preview of paths.size > 0 ? this.#store.open : []) {
      const { changes } = preview;
      if (!changes?.some(({ kind }) => kind === 'delete' || kind === 'rename')) continue;
      const isImported = this.#known
        .get(changes)
        ?.some(risk => risk.kind === 'imported' && risk.by.some(path => paths.has(path)));
      if (isImported || setOf(preview).setId === setId) this.#again.add(changes);
    }
  }

  /** The text of the plan that the user approved for its change set. */
  #planFor(preview: Preview): string | undefined {
    const { setId } = setOf(preview);
    if (setId === undefined) return undefined;
    const plan = this.#store
      .all()
      .findLast(each => each.kind === 'plan' && each.state.kind === 'applied' && setOf(each).setId === setId);
    return plan && planOf(plan)?.text;
  }
}
