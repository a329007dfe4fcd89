import { Owner } from '../../agent/base/disposable.ts';
import { Emitter, type Event } from '../../agent/base/event.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { Agent } from '../agent.ts';
import { byAgent } from './pending/pendingNode.ts';
import type { SetOrder } from './setOrder.ts';

/**
 * The open previews as the pending view shows them: grouped by agent and by change set, in reading order. Next and Previous follow
 * it.
 */
export class ReviewList extends Owner {
  readonly #agent: Agent;
  readonly #changed = new Emitter<void>();
  /** The list as it was computed last, until something changes. */
  #listed: readonly Preview[] | undefined;
  /** Loaded once there is something to order. */
  #order: SetOrder | undefined;
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
    const groups = byAgent(store.list(settings.order));
    return (this.#listed = [...groups.values()].flatMap(ofAgent => this.inOrder(ofAgent)));
  }

  /**
   * Previews in any state, those of each change set in reading order. The order setting applies to the sets, not to the previews
   * within one. While the order is being loaded, they stay as given; then {@link onDidChange} fires.
   */
  inOrder(previews: readonly Preview[]): readonly Preview[] {
    if (previews.length > 0) void this.loaded();
    return this.#order?.sorted(previews) ?? previews;
  }

  /** Settles once previews are in order. */
  loaded(): Promise<void> {
    return (this.#loading ??= this.#load());
  }

  /** Drops the list because something that it depends on has changed. */
  refresh(): void {
    this.#listed = undefined;
    this.#changed.fire();
  }

  async #load(): Promise<void> {
    try {
      const { SetOrder } = await import('./setOrder.ts');
      this.#order = new SetOrder(this.#agent.store);
      this.refresh();
    } catch (error) {
      this.#agent.logger.error(`Loading the reading order failed: ${detailOf(error)}`);
    }
  }
}
