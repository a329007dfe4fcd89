import type { Disposable } from '../base/disposable.ts';
import type { Event } from '../base/event.ts';
import { plural } from '../base/phrases.ts';
import { FeedCursor, type Fact } from '../hold/preview/feed.ts';
import { nameOf, type Preview } from '../hold/preview/preview.ts';
import type { PreviewStore } from '../hold/preview/previewStore.ts';
import { isMoot, waitsForAttempt } from '../hold/preview/resolve/moot.ts';
import { factText } from '../hold/preview/resolve/resolveTexts.ts';

/** The most characters of decisions in one result; the rest waits for the next one. */
const MAX_TOLD_CHARS = 20_000;

/** Whether there is something to tell an agent, and when. */
export interface News {
  readonly hasNews: boolean;
  /** Fires when there may be something to tell. */
  readonly onDidHappen: Event<void>;
}

/**
 * Decisions on one agent's previews, with actor and reason, and the user's edits, kept until the agent is told. The agent is told
 * everything once, in the order in which it happened. Its own votes are left out: their results tell it.
 */
export class Decisions implements Disposable, News {
  readonly #store: PreviewStore;
  readonly #cursor: FeedCursor;
  /** Previews that had a new revision when the agent reconnected: it is not known which revision it had heard of. */
  #mayBeNew: readonly Preview[] = [];

  readonly onDidHappen: Event<void>;

  /**
   * @param isOwn whether a preview is the agent's.
   * @param heard where an earlier connection of the same agent stopped, see {@link heard}; by default at the end of the ledger.
   */
  constructor(store: PreviewStore, isOwn: (preview: Preview) => boolean, heard?: number) {
    this.#store = store;
    // A position beyond this ledger belongs to another one: telling twice is better than never.
    const from = heard === undefined ? Infinity : heard > store.feed.attempts ? 0 : heard;
    this.#cursor = new FeedCursor(
      store,
      (fact, preview) => isOwn(preview) && isNews(fact),
      ({ kind, place }) => (kind === 'attempt' || kind === 'expiry') && place >= from,
    );
    this.onDidHappen = this.#cursor.onDidHappen;
    if (heard !== undefined)
      this.#mayBeNew = store
        .all()
        .filter(preview => isOwn(preview) && preview.state.kind === 'pending' && preview.revision > 1);
  }

  /**
   * How much of the ledger the agent has heard: a number that a later connection of the same agent can go on from. News that is not
   * told yet comes after it.
   */
  get heard(): number {
    const next = this.#cursor.untold.find(({ kind }) => kind === 'attempt');
    return next?.place ?? this.#store.feed.attempts;
  }

  get hasNews(): boolean {
    return this.#news.length + this.#mayBeNew.length > 0;
  }

  /** News that the agent has not been told and that still holds. */
  get #news(): readonly Fact[] {
    return this.#cursor.untold.filter(fact => !isPassed(fact, this.#store) && !this.#waits(fact));
  }

  /** Whether it is told once an attempt on its preview has ended. */
  #waits(fact: Fact): boolean {
    return waitsForAttempt(fact, this.#store.get(fact.previewId));
  }

  /** Whether the preview was changed since the agent was last told about it: a vote of the agent would be for an older revision. */
  isChanged(previewId: string): boolean {
    const { untold } = this.#cursor;
    const isUntold = untold.some(fact => fact.kind === 'revision' && fact.previewId === previewId);
    return isUntold || this.#mayBeNew.some(({ id }) => id === previewId);
  }

  /** Takes the news for the agent, which counts as told from now on; empty if there is none. */
  take(): string {
    const news = this.#news;
    const texts = news.map(fact => this.#textOf(fact));
    let length = 0;
    const over = texts.findIndex(text => (length += text.length) > MAX_TOLD_CHARS);
    const count = over < 0 ? texts.length : Math.max(1, over);
    const lines = texts.slice(0, count);
    this.#cursor.noteTold(news[count], fact => this.#waits(fact));
    if (count === texts.length) {
      lines.push(...this.#mayBeNew.map(mayBeNewText));
      this.#mayBeNew = [];
    } else {
      const left = texts.length - count + this.#mayBeNew.length;
      lines.push(`${plural(left, 'more decision')} will come with your next call.`);
    }
    return lines.join('\n');
  }

  dispose(): void {
    this.#cursor.dispose();
  }

  #textOf(fact: Fact): string {
    const preview = this.#cursor.previewOf(fact);
    if (!preview) return '';
    return factText(fact, preview);
  }
}

/** Whether no result has told the agent of this fact. */
function isNews(fact: Fact): boolean {
  // The result of the agent's own vote told it, unless the call was cancelled.
  if (fact.kind === 'attempt') {
    const { actor, interrupted, lost } = fact.entry;
    return actor !== 'model' || interrupted === true || lost !== undefined;
  }
  // The outcome of the part that was split off tells the agent of the split.
  return fact.kind !== 'revision' || fact.by !== 'split';
}

/** Whether the preview has changed since this fact. */
function isPassed(fact: Fact, store: PreviewStore): boolean {
  return (fact.kind === 'stale' || fact.kind === 'fresh') && isMoot(fact, store.get(fact.previewId));
}

function mayBeNewText(preview: Preview): string {
  return `${nameOf(preview)} is at revision ${preview.revision}. It may have changed since you last heard of it: read its files again before you vote on it.`;
}
