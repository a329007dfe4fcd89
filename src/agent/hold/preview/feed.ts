import { Owner } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/event.ts';
import type { LedgerEntry } from './ledger.ts';
import type { RevisedBy } from './log/previewLog.ts';
import type { CallRef, Preview } from './preview.ts';

/** An event of a preview. Each listener that waits for it gets it once. */
export type Fact = {
  /** Identifies it, also after a reload. */
  readonly key: string;
  readonly previewId: string;
  /** Number of attempts to resolve in the ledger before it. */
  readonly place: number;
} & (
  | { readonly kind: 'attempt'; readonly entry: LedgerEntry }
  | {
      readonly kind: 'revision';
      readonly revision: number;
      readonly by: RevisedBy;
      /** The preview that was split off. */
      readonly partId?: string;
      /** The user's edit of the proposal, as a patch; for a plan, its whole text. Not stored. */
      readonly patch?: string;
      /** For an amendment: the call that made it. */
      readonly call?: CallRef;
      /** It creates or deletes a whole text that the revision before did not: the file is gone, or has changed. */
      readonly isWider?: true;
    }
  | { readonly kind: 'expiry' }
  /** The files no longer match the preview's base, and no rebase could follow. */
  | {
      readonly kind: 'stale';
      readonly paths: readonly string[];
      /** The previews that it builds on and that were not applied, if they are why it is stale. */
      readonly lost: readonly string[];
      /** The files to read again; see `LostBeneath.toRead`. */
      readonly toRead: readonly string[];
      /** The pending previews that it builds on at `paths`, if none was lost: then these have changed, not the files. */
      readonly beneath: readonly string[];
      /** Whether the attempt just before it failed for that reason, and says so. */
      readonly isSaid: boolean;
    }
  /** The files match the preview's base again, without a new revision. */
  | { readonly kind: 'fresh' }
);

/** A preview that has a new revision, and why. */
export interface Revision {
  readonly preview: Preview;
  readonly by: RevisedBy;
  /** The preview that was split off. */
  readonly part?: Preview;
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** Facts about the previews of a log, in the order in which they happened. */
export class Feed {
  readonly #facts: Fact[] = [];
  /** How often each key was requested. */
  readonly #keys = new Map<string, number>();
  readonly #happened = new Emitter<readonly Fact[]>();
  #attempts = 0;

  /** Fires with the facts of one change, after the store's own events. */
  readonly onDidHappen: Event<readonly Fact[]> = this.#happened.event;

  /** The oldest first. */
  get facts(): readonly Fact[] {
    return this.#facts;
  }

  /** Number of attempts to resolve, including those whose facts are no longer here. */
  get attempts(): number {
    return this.#attempts;
  }

  /** Counts this many attempts before the facts that are added next. */
  skip(attempts: number): void {
    this.#attempts += attempts;
  }

  /** Adds the fact that an entry of the log states; {@link tell} follows once it is recorded. */
  add(fact: DistributiveOmit<Fact, 'key' | 'place'>): void {
    const name = factKey(fact);
    const count = (this.#keys.get(name) ?? 0) + 1;
    this.#keys.set(name, count);
    this.#facts.push({ ...fact, key: count === 1 ? name : `${name} ${count}`, place: this.#attempts });
    if (fact.kind === 'attempt') this.#attempts++;
  }

  /** Tells the listeners all facts after the first `since`. */
  tell(since: number): void {
    const facts = this.#facts.slice(since);
    if (facts.length > 0) this.#happened.fire(facts);
  }
}

/** Name of a fact, which several facts of one preview may share. */
function factKey(fact: DistributiveOmit<Fact, 'key' | 'place'>): string {
  const { kind, previewId } = fact;
  switch (kind) {
    case 'attempt':
      return `${previewId} ${fact.entry.at}`;
    case 'revision':
      return `${previewId} r${fact.revision}`;
    case 'expiry':
      return `${previewId} expired`;
    case 'stale':
    case 'fresh':
      return `${previewId} ${kind}`;
  }
}

/** What a cursor needs of a store. */
interface FactStore {
  readonly feed: Feed;
  get(id: string): Preview | undefined;
}

/** One listener's place in the feed: facts about some previews that it was not told yet. */
export class FeedCursor extends Owner {
  readonly #store: FactStore;
  readonly #happened = this.own(new Emitter<void>());
  /** The previews of untold facts as they were then. */
  readonly #previews = new Map<string, Preview>();
  #untold: Fact[] = [];

  /** Fires when there is something to tell. */
  readonly onDidHappen: Event<void> = this.#happened.event;

  /**
   * @param wants whether the listener gets this fact, asked when it happens.
   * @param from whether a past fact is new to the listener; by default, none is.
   */
  constructor(
    store: FactStore,
    wants: (fact: Fact, preview: Preview) => boolean,
    from: (fact: Fact) => boolean = () => false,
  ) {
    super();
    this.#store = store;
    const take = (facts: readonly Fact[]): void => {
      const wanted = facts.filter(fact => {
        const preview = store.get(fact.previewId);
        if (!preview || !wants(fact, preview)) return false;
        this.#previews.set(preview.id, preview);
        return true;
      });
      this.#untold.push(...wanted);
      if (wanted.length > 0) this.#happened.fire();
    };
    take(store.feed.facts.filter(from));
    this.own(store.feed.onDidHappen(take));
  }

  /**
   * Untold facts, the oldest first; only the last of several rebases of a preview, and nothing about a staleness that has passed.
   */
  get untold(): readonly Fact[] {
    return this.#untold.filter(fact => !this.#isOlderRebase(fact) && !this.#isPassed(fact));
  }

  /** The preview of an untold fact; one that was forgotten since is as it was then. */
  previewOf({ previewId }: Fact): Preview | undefined {
    return this.#store.get(previewId) ?? this.#previews.get(previewId);
  }

  /**
   * Counts everything before `next` as told from now on; by default everything.
   * @param waits whether a fact is to be told later.
   */
  noteTold(next: Fact | undefined, waits: (fact: Fact) => boolean): void {
    const index = next ? this.#untold.indexOf(next) : -1;
    const later = index < 0 ? [] : this.#untold.slice(index);
    this.#untold = [...this.#untold.slice(0, this.#untold.length - later.length).filter(waits), ...later];
    const untold = new Set(this.#untold.map(({ previewId }) => previewId));
    for (const id of this.#previews.keys()) if (!untold.has(id)) this.#previews.delete(id);
  }

  /** Whether the preview became stale and fresh again with nothing told in between. */
  #isPassed(fact: Fact): boolean {
    if (fact.kind !== 'stale' && fact.kind !== 'fresh') return false;
    const own = this.#untold.filter(
      other => other.previewId === fact.previewId && (other.kind === 'stale' || other.kind === 'fresh'),
    );
    const at = own.indexOf(fact);
    return fact.kind === 'fresh' ? own[at - 1]?.kind === 'stale' : own[at + 1]?.kind === 'fresh';
  }

  #isOlderRebase(fact: Fact): boolean {
    if (fact.kind !== 'revision' || fact.by !== 'rebase') return false;
    const last = this.#untold.findLast(
      other => other.kind === 'revision' && other.by === 'rebase' && other.previewId === fact.previewId,
    );
    return last !== fact;
  }
}
