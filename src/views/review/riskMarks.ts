import { DisposableStore, type Disposable } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import { Emitter, type Event } from '../../agent/base/event.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { setOf } from '../../agent/preview/changeSet.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Risk } from '../../agent/preview/reading/risks.ts';
import { planOf } from '../../agent/session/planMode.ts';
import { coalesce } from '../coalesce.ts';

/** How long what was found is collected before it is told, in milliseconds. */
const GATHER_MS = 100;
const NONE: readonly Risk[] = [];

/** Finds the risks of pending previews in the background, one preview at a time, once for each revision. */
export class RiskMarks implements Disposable {
  readonly #store: Pick<PreviewStore, 'all'>;
  readonly #logger: Logger;
  readonly #owned = new DisposableStore();
  readonly #changed = new Emitter<void>();
  readonly #tell = coalesce(() => this.#changed.fire(), GATHER_MS);
  /** By what a revision proposes. */
  readonly #known = new WeakMap<NonNullable<Preview['changes']>, readonly Risk[]>();
  #queue: Promise<void> = Promise.resolve();
  #isDisposed = false;

  /** More was found. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(store: Pick<PreviewStore, 'all'>, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
    this.#owned.add({ dispose: this.#tell.cancel });
  }

  /** Those of a pending preview; none until they are found, which the first call starts. */
  of(preview: Preview): readonly Risk[] {
    const { changes, state } = preview;
    if (state.kind !== 'pending' || !changes) return NONE;
    const known = this.#known.get(changes);
    if (known) return known;
    this.#known.set(changes, NONE);
    this.#queue = this.#queue.then(() => this.#find(preview, changes));
    return NONE;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#owned.dispose();
  }

  async #find(preview: Preview, changes: NonNullable<Preview['changes']>): Promise<void> {
    if (this.#isDisposed) return;
    try {
      const { risksOf } = await import('../../agent/preview/reading/risks.ts');
      const risks = await risksOf(preview, this.#planFor(preview));
      this.#known.set(changes, risks);
      if (risks.length > 0 && !this.#isDisposed) this.#tell();
    } catch (error) {
      this.#logger.error(`Finding the risks of ${preview.id} failed: ${detailOf(error)}`);
    }
    // Each is a task of its own, so that many do not keep the window waiting.
    await new Promise(resolve => setImmediate(resolve));
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
