import { Owner } from '../../agent/base/disposable.ts';
import { Emitter, type Event } from '../../agent/base/event.ts';
import { detailOf } from '../../agent/base/errors.ts';
import { inSets } from '../../agent/hold/preview/changeSet.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { Agent } from '../agent.ts';
import { byAgent } from './pending/pendingNode.ts';

type ReadingOrder = (previews: readonly Preview[]) => readonly Preview[];

/**
 * The open previews as the pending view shows them: grouped by agent and by change set, in reading order. Next and Previous follow
 * it.
 */
export class ReviewList extends Owner {
  readonly #agent: Agent;
  readonly #changed = new Emitter<void>();
  /** The list as it was computed last, until something changes. */
  #listed: readonly Preview[] | undefined;
  /** The reading order is loaded once there is something to read. */
  #inReadingOrder: ReadingOrder | undefined;
  #loading: Promise<void> | undefined;

  /** The list, or something that its rows show, may have changed. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(agent: Agent) {
    super();
    this.#agent = agent;
    for (const { onDidChange } of [agent.store, agent.settings]) this.own(onDidChange(() => this.refresh()));
  }

  list(): readonly Preview[] {
    const { store, settings } = this.#agent;
    if (this.#listed) return this.#listed;
    const all = store.list(settings.order);
    const groups = byAgent(all);
    const read = this.#readingOrder(all.length);
    const sets = [...groups.values()].flatMap(inSets);
    return (this.#listed = sets.flatMap(({ previews }) => read?.(previews) ?? previews));
  }

  /** Drops the list because something that it depends on has changed. */
  refresh(): void {
    this.#listed = undefined;
    this.#changed.fire();
  }

  #readingOrder(open: number): ReadingOrder | undefined {
    if (open > 0)
      this.#loading ??= import('../../agent/hold/preview/reading/readingOrder.ts').then(
        ({ inReadingOrder }) => {
          this.#inReadingOrder = inReadingOrder;
          this.refresh();
        },
        (error: unknown) => this.#agent.logger.error(`Loading the reading order failed: ${detailOf(error)}`),
      );
    return this.#inReadingOrder;
  }
}
