import type { Preview } from '../../../agent/hold/preview/preview.ts';
import type { Lineage } from '../../../agent/hold/preview/resolve/lineage.ts';
import { MAX_TURN_PREVIEWS, type ItemOf } from '../protocol.ts';

/** Collects what the model applied by itself, turn by turn, for the line below each turn. */
export class TurnSummaries {
  readonly #lineage: Lineage;
  #key = '';
  #applied: Preview[] = [];

  constructor(lineage: Lineage) {
    this.#lineage = lineage;
  }

  /** Adds what the calls of one answer staged. */
  add(messageKey: string, staged: readonly Preview[]): void {
    for (const preview of staged) {
      const { kind, state } = preview;
      if (kind !== 'files' || state.kind !== 'applied' || state.by.actor !== 'model') continue;
      if (preview.origin?.agent) continue;
      this.#applied.push(preview);
      this.#key = messageKey;
    }
  }

  /** Ends the turn. @returns its line, if the model applied something in it. */
  end(): readonly ItemOf<'turn'>[] {
    // The order of the applies, which an undo reverses.
    const applied = this.#applied
      .sort((a, b) => timeOf(a).localeCompare(timeOf(b)))
      .slice(-MAX_TURN_PREVIEWS);
    this.#applied = [];
    if (applied.length === 0) return [];
    const files = new Set(applied.flatMap(({ changes }) => (changes ?? []).map(({ path }) => path))).size;
    const undone = applied.filter(preview => this.#lineage.undoneBy(preview)).length;
    return [{ kind: 'turn', key: `${this.#key}.t`, files, undone, ids: applied.map(({ id }) => id) }];
  }
}

function timeOf({ state }: Preview): string {
  return state.kind === 'applied' ? state.by.at : '';
}
