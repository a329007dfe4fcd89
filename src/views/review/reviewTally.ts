import * as vscode from 'vscode';
import { Owner } from '../../agent/base/disposable.ts';
import { Emitter, type Event } from '../../agent/base/event.ts';
import { isApplied, isUnsuccessful, type LedgerEntry } from '../../agent/hold/preview/ledger.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';

/** How long the line at the end of a review stays, in milliseconds. */
const SHOWN_MS = 30_000;

/**
 * Counts the user's applied and discarded changes, and the failed attempts, until nothing is pending; then shows the sum for a
 * while in one line. Undos and plans are not counted.
 */
export class ReviewTally extends Owner {
  readonly #store: PreviewStore;
  readonly #changed = new Emitter<void>();
  #applied = 0;
  #discarded = 0;
  #unsuccessful = 0;
  #line = '';
  #timer: NodeJS.Timeout | undefined;

  /** The line came or went. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(store: PreviewStore) {
    super();
    this.#store = store;
    // An undo is not a review.
    const isReviewed = ({ previewId }: LedgerEntry): boolean => store.get(previewId)?.undoes === undefined;
    this.own(store.onDidResolve(entries => this.#count(entries.filter(isReviewed), store.hasPending)));
    this.own(
      store.onDidChange(({ state }) => {
        if (store.hasPending) this.#show('');
        // The last pending preview expired without a decision.
        else if (state.kind === 'expired') this.#end();
      }),
    );
    this.own({ dispose: () => clearTimeout(this.#timer) });
  }

  /** `Review done: 3 applied, 1 discarded`; empty while something is pending, and again `SHOWN_MS` after the end. */
  get line(): string {
    return this.#line;
  }

  #count(entries: readonly LedgerEntry[], isAnyLeft: boolean): void {
    const byUser = entries.filter(({ actor }) => actor === 'human');
    const failed = byUser.some(({ outcome }) => outcome === 'failed');
    const counted = byUser.filter(({ previewId }) => this.#store.get(previewId)?.kind !== 'plan');
    this.#applied += counted.filter(isApplied).length;
    this.#unsuccessful += counted.filter(isUnsuccessful).length;
    this.#discarded += counted.filter(({ outcome }) => outcome === 'discarded').length;
    if (!isAnyLeft) this.#end(byUser.length > 0 && !failed);
  }

  #end(isShown = true): void {
    if (isShown && this.#applied + this.#discarded + this.#unsuccessful > 0) this.#show(this.#lineNow());
    this.#applied = this.#discarded = this.#unsuccessful = 0;
  }

  #lineNow(): string {
    const { l10n } = vscode;
    const counts = [
      ...(this.#applied > 0 ? [l10n.t('{0} applied', this.#applied)] : []),
      ...(this.#unsuccessful > 0 ? [l10n.t('{0} unsuccessful', this.#unsuccessful)] : []),
      ...(this.#discarded > 0 ? [l10n.t('{0} discarded', this.#discarded)] : []),
    ];
    return l10n.t('Review done: {0}', counts.join(', '));
  }

  #show(line: string): void {
    if (line === this.#line) return;
    this.#line = line;
    clearTimeout(this.#timer);
    if (line !== '') this.#timer = setTimeout(() => this.#show(''), SHOWN_MS);
    this.#changed.fire();
  }
}
