import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { Emitter, type Event } from '../base/event.ts';
import type { LedgerEntry } from '../preview/ledger.ts';
import type { Preview } from '../preview/preview.ts';
import type { PreviewStore, Revision } from '../preview/previewStore.ts';
import { outcomeText, revisionText } from '../preview/resolve/resolveTexts.ts';
import { plural } from '../text/plural.ts';

/** The most characters of decisions that one result tells; the rest waits for the next one. */
const MAX_TOLD_CHARS = 20_000;

/** One thing that an agent has to be told. */
interface News {
  readonly previewId: string;
  readonly text: string;
  readonly kind: 'outcome' | 'rebase' | 'edit';
  /** Of an outcome: its place in the ledger, from 0. */
  readonly place?: number;
}

/**
 * What was decided on the previews of one agent, by whom and why, and what the user changed in them, until the agent was told.
 * Everything is told once, in the order in which it happened. The agent's own votes are left out: their results tell it.
 */
export class Decisions implements Disposable {
  readonly #store: PreviewStore;
  readonly #isOwn: (preview: Preview) => boolean;
  readonly #owned = new DisposableStore();
  readonly #happened: Emitter<void>;
  #news: News[] = [];

  /** Fires when there is something to tell. */
  readonly onDidHappen: Event<void>;

  /**
   * @param isOwn whether a preview is the agent's.
   * @param heard where an earlier connection of the same agent stopped, see {@link heard}; by default the present.
   */
  constructor(store: PreviewStore, isOwn: (preview: Preview) => boolean, heard?: number) {
    this.#store = store;
    this.#isOwn = isOwn;
    this.#happened = this.#owned.add(new Emitter());
    this.onDidHappen = this.#happened.event;
    const ledger = store.ledger();
    // A position that this ledger does not have is of another one: telling twice is better than never.
    const from = heard === undefined ? ledger.length : heard > ledger.length ? 0 : Math.max(0, heard);
    this.#addOutcomes(ledger.slice(from));
    if (heard !== undefined) this.#addUnheardRevisions();
    this.#owned.add(store.onDidResolve(entries => this.#addOutcomes(entries)));
    this.#owned.add(store.onDidRevise(revision => this.#addRevision(revision)));
  }

  /**
   * How much of the ledger the agent has heard: a number that a later connection of the same agent can go on from. What is
   * not told yet comes after it.
   */
  get heard(): number {
    const next = this.#news.find(({ place }) => place !== undefined);
    return next?.place ?? this.#store.ledger().length;
  }

  get hasNews(): boolean {
    return this.#news.length > 0;
  }

  /** Whether the preview was changed since the agent was last told about it: a vote of the agent would be for an older one. */
  isChanged(previewId: string): boolean {
    return this.#news.some(news => news.previewId === previewId && news.kind !== 'outcome');
  }

  /** What the agent has to be told, which counts as told from now on; empty if there is nothing. */
  take(): string {
    let length = 0;
    const count = this.#news.findIndex(({ text }) => (length += text.length) > MAX_TOLD_CHARS);
    const told = this.#news.splice(0, count < 0 ? Infinity : Math.max(1, count));
    const lines = told.map(({ text }) => text);
    if (this.#news.length > 0)
      lines.push(`${plural(this.#news.length, 'more decision')} will be told with your next call.`);
    return lines.join('\n');
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** @param entries the last ones of the ledger. */
  #addOutcomes(entries: readonly LedgerEntry[]): void {
    const first = this.#store.ledger().length - entries.length;
    for (const [at, entry] of entries.entries()) {
      const preview = this.#store.get(entry.previewId);
      if (!preview || !this.#isOwn(preview)) continue;
      // The result of the agent's own vote told it, unless the call was cancelled.
      if (entry.actor === 'model' && !entry.interrupted) continue;
      const text = textOf(entry, preview);
      this.#add({ kind: 'outcome', previewId: preview.id, text, place: first + at });
    }
  }

  /** The ledger does not tell which revision an earlier connection was told about. Told twice is better than never. */
  #addUnheardRevisions(): void {
    for (const preview of this.#store.all()) {
      const { id, label, revision, state } = preview;
      if (!this.#isOwn(preview) || state.kind !== 'pending' || revision === 1) continue;
      const text = `${id} (${label}) is at revision ${revision}. It may have changed since you last heard of it.`;
      this.#add({ kind: 'rebase', previewId: id, text });
    }
  }

  #addRevision({ preview, by, patch }: Revision): void {
    // Of a split, the outcome of the part tells.
    if (!this.#isOwn(preview) || by === 'split') return;
    const isOlderRebase = (news: News): boolean => news.kind === 'rebase' && news.previewId === preview.id;
    if (by === 'rebase') this.#news = this.#news.filter(news => !isOlderRebase(news));
    const kind = by === 'rebase' ? 'rebase' : 'edit';
    this.#add({ kind, previewId: preview.id, text: revisionText(preview, by, patch) });
  }

  #add(news: News): void {
    this.#news.push(news);
    this.#happened.fire();
  }
}

/** An outcome; of a part also what it is a part of. */
function textOf(entry: LedgerEntry, { part }: Preview): string {
  const text = outcomeText(entry, part ? { part } : {});
  return part
    ? `${text}\n(${entry.previewId} is a part of ${part.previewId}; the rest of it is decided separately.)`
    : text;
}
