import * as vscode from 'vscode';
import { Owner } from '../../agent/base/disposable.ts';
import { Emitter, type Event } from '../../agent/base/event.ts';
import { detailOf } from '../../agent/base/errors.ts';
import { inSets } from '../../agent/preview/changeSet.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { Agent } from '../agent.ts';
import { byAgent } from '../pending/pendingNodes.ts';

/** How the user has arranged the list of pending previews. */
export interface Arrangement {
  /** The previews that are shown, in their order. Must not change its argument. */
  arrange(previews: readonly Preview[]): readonly Preview[];
  /** Whether each change set is in reading order, and what is arranged only counts where that leaves the order open. */
  readonly isReading: boolean;
  /** A description of the filter for the user; `undefined` if everything is shown. */
  readonly filter: string | undefined;
}

type ReadingOrder = (previews: readonly Preview[]) => readonly Preview[];

/**
 * The open previews as the pending view shows them: those of one agent, and of one change set, together, in reading order, or sorted and
 * filtered as the user has arranged them. Next and Previous follow it.
 */
export class ReviewList extends Owner {
  readonly #agent: Agent;
  readonly #changed = new Emitter<void>();
  #arrangement: Arrangement | undefined;
  /** The list as it was computed last, until something changes. */
  #listed: readonly Preview[] | undefined;
  /** What tells the reading order is loaded once there is something to read. */
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
    const groups = byAgent(this.#arrangement?.arrange(all) ?? all);
    const read = (this.#arrangement?.isReading ?? true) ? this.#readingOrder(all.length) : undefined;
    const sets = [...groups.values()].flatMap(inSets);
    return (this.#listed = sets.flatMap(({ previews }) => read?.(previews) ?? previews));
  }

  /** How many open previews the filter hides. */
  get hidden(): number {
    return this.#agent.store.openCount - this.list().length;
  }

  /** `12 of 200 shown: src/`; empty if there is no filter. */
  get filterNote(): string {
    const filter = this.#arrangement?.filter;
    if (filter === undefined) return '';
    return vscode.l10n.t('{0} of {1} shown: {2}', this.list().length, this.#agent.store.openCount, filter);
  }

  /** `undefined`: all of them, in the order of the setting. */
  setArrangement(arrangement: Arrangement | undefined): void {
    this.#arrangement = arrangement;
    this.refresh();
  }

  /** Drops the list because something that it depends on has changed. */
  refresh(): void {
    this.#listed = undefined;
    this.#changed.fire();
  }

  #readingOrder(open: number): ReadingOrder | undefined {
    if (open > 0)
      this.#loading ??= import('../../agent/preview/reading/readingOrder.ts').then(
        ({ inReadingOrder }) => {
          this.#inReadingOrder = inReadingOrder;
          this.refresh();
        },
        (error: unknown) => this.#agent.logger.error(`Loading the reading order failed: ${detailOf(error)}`),
      );
    return this.#inReadingOrder;
  }
}
