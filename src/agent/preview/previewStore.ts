import { Emitter, type Event } from '../base/event.ts';
import type { LedgerEntry } from './ledger.ts';
import type { LandingGround } from './landingGround.ts';
import { isOpen, type Actor, type Preview, type ResolveAction, type ResolveOrder } from './preview.ts';
import type { FileChange } from './fileChange.ts';
import { wasOverBefore, withoutForgotten } from './forgetPreviews.ts';
import { idsOf, reduce, type PreviewLogEntry, type RevisedBy, type StagedPreview } from './previewLog.ts';

/** Where the store writes what happened. `JsonLog<PreviewLogEntry>` is one. */
export interface PreviewLogSink {
  append(entry: PreviewLogEntry): Promise<void>;
  /** Settles when all that was appended outlives even a crash of the machine. */
  flush(): Promise<void>;
  /** Puts what `rewrite` gives in the place of each entry, for good. */
  compact(rewrite: (entry: PreviewLogEntry) => readonly PreviewLogEntry[]): Promise<void>;
}

/** Previews that were to land together. */
export interface InterruptedLanding {
  readonly ids: readonly string[];
  readonly ground?: LandingGround | undefined;
}

/** A preview that is at another revision now, and why. */
export interface Revision {
  readonly preview: Preview;
  readonly by: RevisedBy;
  /** What was split off. */
  readonly part?: Preview;
  /** What a person changed in the proposal, as a patch. */
  readonly patch?: string;
}

/**
 * The one owner of every preview's state. Each change is a log entry that is reduced into memory at once and
 * written in the order of the calls. Only the invoker resolves; everybody else reads and listens.
 */
export class PreviewStore {
  readonly #previews = new Map<string, Preview>();
  /** Ids of the open ones in the order of staging, so that thousands of resolved ones cost nothing. */
  readonly #open = new Set<string>();
  readonly #ledger: LedgerEntry[] = [];
  readonly #log: PreviewLogSink;
  readonly #onLogFailure: (error: unknown) => void;
  readonly #changed = new Emitter<Preview>();
  readonly #resolved = new Emitter<readonly LedgerEntry[]>();
  readonly #revised = new Emitter<Revision>();
  readonly #expired = new Emitter<Preview>();
  /** For each preview, the open ones that are made on it. */
  readonly #dependents = new Map<string, Set<string>>();
  /** Landings that have begun and of which nothing else is known. */
  #landings: InterruptedLanding[] = [];
  #lastId = 0;

  /**
   * Fires after every change of a preview, with its new state; also when it was forgotten, with its last one: `get` does
   * not know it any more.
   */
  readonly onDidChange: Event<Preview> = this.#changed.event;
  /** Fires once for each attempt to resolve, after `onDidChange`, with one entry for each preview of a chain. */
  readonly onDidResolve: Event<readonly LedgerEntry[]> = this.#resolved.event;

  /** Fires after each new revision, after `onDidChange`. */
  readonly onDidRevise: Event<Revision> = this.#revised.event;

  /** Fires for each preview that {@link expire} ends, after `onDidChange`. */
  readonly onDidExpire: Event<Preview> = this.#expired.event;

  constructor(log: PreviewLogSink, onLogFailure: (error: unknown) => void) {
    this.#log = log;
    this.#onLogFailure = onLogFailure;
  }

  /** Rebuilds the state from a log that was just read. Opaque previews lost their callbacks and expire. */
  restore(entries: readonly PreviewLogEntry[]): void {
    for (const entry of entries) this.#reduce(entry);
    for (const preview of this.all()) {
      if (!isOpen(preview) || preview.changes !== null) continue;
      const interrupted = this.#landings.some(({ ids }) => ids.includes(preview.id));
      void this.#record({ type: 'expired', id: preview.id, ...(interrupted ? { interrupted } : {}) });
    }
  }

  /** Landings that have begun and not ended; right after {@link restore} those that a crash cut off. */
  get interruptedLandings(): readonly InterruptedLanding[] {
    return this.#landings;
  }

  /** Registers a new preview under the next id. The promise of the log entry is for those who must not lose it. */
  stage(draft: Omit<StagedPreview, 'id'>): { readonly preview: Preview; readonly stored: Promise<void> } {
    const staged: StagedPreview = { ...draft, id: this.#nextId() };
    const stored = this.#record({ type: 'staged', preview: staged });
    return { preview: this.#require(staged.id), stored };
  }

  /**
   * Makes the next revision of a pending preview. Every vote on an older one is refused from now on.
   * @param patch what a person changed in the proposal, for those who listen; it is not stored.
   */
  revise(
    id: string,
    changes: readonly FileChange[],
    dependsOn: readonly string[],
    by: RevisedBy,
    patch?: string,
  ): Promise<void> {
    const { revision } = this.#require(id);
    return this.#record({ type: 'revised', id, revision: revision + 1, changes, dependsOn, by }, patch);
  }

  /**
   * Splits a part off a pending preview: one log entry, so that no crash can part them.
   * @returns the part; the preview itself is at its next revision.
   */
  split(
    id: string,
    rest: { readonly changes: readonly FileChange[]; readonly buildsOnPart: boolean },
    draft: Omit<StagedPreview, 'id'>,
  ): Preview {
    const { revision, dependsOn } = this.#require(id);
    const part: StagedPreview = { ...draft, id: this.#nextId() };
    void this.#record({
      type: 'revised',
      id,
      revision: revision + 1,
      changes: rest.changes,
      dependsOn: rest.buildsOnPart ? [...dependsOn, part.id] : dependsOn,
      by: 'split',
      part,
    });
    return this.#require(part.id);
  }

  /**
   * Writes down that the files of these previews are about to change, or, without `ground`, that an opaque one is about
   * to run. Settles when a crash could be recovered from.
   */
  beginLanding(ids: readonly string[], ground?: LandingGround): Promise<void> {
    const stored = this.#record({ type: 'landing', ids, ...(ground ? { ground } : {}) });
    return ground ? stored.then(() => this.#log.flush()) : stored;
  }

  /** A landing that a crash cut off was taken back. */
  endRecovery(ids: readonly string[]): Promise<void> {
    return this.#record({ type: 'recovered', ids });
  }

  /** The open previews that must be applied before this one, in the order in which they must. */
  blockersOf({ dependsOn }: Preview): readonly Preview[] {
    const found = new Map<string, Preview>();
    const visit = (ids: readonly string[]): void => {
      for (const id of ids) {
        const preview = this.#previews.get(id);
        if (!preview || !isOpen(preview) || found.has(id)) continue;
        visit(preview.dependsOn);
        found.set(id, preview);
      }
    };
    visit(dependsOn);
    return [...found.values()];
  }

  /** The open previews that are made directly on this one. */
  dependentsOf(id: string): readonly Preview[] {
    return Array.from(this.#dependents.get(id) ?? [], dependent => this.#require(dependent));
  }

  get(id: string): Preview | undefined {
    return this.#previews.get(id);
  }

  /** Open previews, the head first: each comes after all that it waits for. */
  list(order: ResolveOrder): readonly Preview[] {
    const open = Array.from(this.#open, id => this.#require(id));
    const ordered = order === 'newestFirst' ? open.reverse() : open;
    const isBlocked = (preview: Preview): boolean => preview.dependsOn.some(id => this.#open.has(id));
    if (!ordered.some(isBlocked)) return ordered;
    const depths = new Map<string, number>();
    const depthOf = (id: string): number => {
      const preview = this.#open.has(id) ? this.#require(id) : undefined;
      if (!preview) return -1;
      const known = depths.get(id);
      if (known !== undefined) return known;
      depths.set(id, 0); // ends a circle, should a log ever hold one
      const depth = 1 + Math.max(-1, ...preview.dependsOn.map(depthOf));
      depths.set(id, depth);
      return depth;
    };
    return [...ordered].sort((a, b) => depthOf(a.id) - depthOf(b.id));
  }

  /** How many previews are open. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Every preview ever staged in this storage, in the order of staging. */
  all(): readonly Preview[] {
    return [...this.#previews.values()];
  }

  get hasPending(): boolean {
    return this.#open.size > 0;
  }

  /** All attempts to resolve, the oldest first. */
  ledger(): readonly LedgerEntry[] {
    return this.#ledger;
  }

  /** Records the model's opinion on a pending preview; does nothing for any other. */
  recommend(id: string, action: ResolveAction, reason: string): Promise<void> {
    return this.#recordPending({ type: 'recommended', id, recommendation: { action, reason } });
  }

  /**
   * Records that the bases of `paths` moved on; an empty list takes it back. Does nothing for a preview that is not
   * pending: landing changes moves its own bases.
   */
  markStale(id: string, paths: readonly string[]): Promise<void> {
    return this.#recordPending({ type: 'stale', id, paths });
  }

  /** Ends a pending preview whose action is gone; does nothing for any other. Settles when it is safe on disk. */
  async expire(id: string): Promise<void> {
    if (this.#previews.get(id)?.state.kind !== 'pending') return;
    const stored = this.#record({ type: 'expired', id });
    this.#expired.fire(this.#require(id));
    await stored;
  }

  /** Takes an expired preview out of sight. It stays in the log. */
  dismiss(id: string): Promise<void> {
    return this.#record({ type: 'dismissed', id });
  }

  /** Takes the preview out of `pending`, so that nobody else can begin to resolve it. Not logged: a crash undoes it. */
  beginResolving(id: string, action: ResolveAction, actor: Actor): void {
    this.#put({ ...this.#require(id), state: { kind: 'applying', action, actor } });
  }

  /**
   * Records how an attempt ended, for all previews of one transaction in one entry.
   * @param before the previews as they were, to which they return when the attempt is not final.
   */
  endResolving(entries: readonly LedgerEntry[], before: readonly Preview[], final: boolean): Promise<void> {
    for (const preview of before) this.#set(preview);
    const stored = this.#record({ type: 'resolved', entries, final });
    this.#resolved.fire(entries);
    return stored;
  }

  /**
   * Forgets the content of previews that were resolved before `until`, and of expired ones that were dismissed: they
   * cannot be undone or reopened any more. The ledger keeps who resolved what, when and why, with the hashes.
   * @returns settles when the content is gone from the disk too.
   */
  async forgetResolved(until: Date): Promise<void> {
    const forgotten = this.all().filter(preview => wasOverBefore(preview, until));
    if (forgotten.length === 0) return;
    const ids = new Set(forgotten.map(({ id }) => id));
    for (const id of ids) this.#previews.delete(id);
    const compacted = this.#log.compact(entry =>
      withoutForgotten(entry, ids, id => this.#previews.get(id)?.state),
    );
    for (const preview of forgotten) this.#changed.fire(preview);
    await compacted;
  }

  #recordPending(entry: PreviewLogEntry): Promise<void> {
    const isPending = idsOf(entry).every(id => this.#previews.get(id)?.state.kind === 'pending');
    return isPending ? this.#record(entry) : Promise.resolve();
  }

  #record(entry: PreviewLogEntry, patch?: string): Promise<void> {
    const changed = this.#reduce(entry);
    const stored = this.#log.append(entry);
    stored.catch(this.#onLogFailure);
    for (const preview of changed) this.#changed.fire(preview);
    if (entry.type === 'revised') {
      const part = entry.part && this.#require(entry.part.id);
      this.#revised.fire({
        preview: this.#require(entry.id),
        by: entry.by,
        ...(part ? { part } : {}),
        ...(patch === undefined ? {} : { patch }),
      });
    }
    return stored;
  }

  #reduce(entry: PreviewLogEntry): readonly Preview[] {
    const ids = idsOf(entry);
    if (entry.type === 'resolved') this.#ledger.push(...entry.entries);
    if (entry.type === 'landing') this.#landings.push(entry);
    else if (entry.type === 'resolved' || entry.type === 'recovered' || entry.type === 'expired') {
      this.#landings = this.#landings.filter(landing => !landing.ids.some(id => ids.includes(id)));
    }
    for (const id of ids) {
      const number = Number(id.slice(1));
      if (number > this.#lastId) this.#lastId = number; // also where the preview itself could not be read
    }
    const changed = reduce(id => this.#previews.get(id), entry);
    for (const preview of changed) this.#set(preview);
    return changed;
  }

  #nextId(): string {
    return `p${this.#lastId + 1}`;
  }

  #put(preview: Preview): void {
    this.#set(preview);
    this.#changed.fire(preview);
  }

  #set(preview: Preview): void {
    const { id } = preview;
    for (const on of this.#previews.get(id)?.dependsOn ?? []) this.#dependents.get(on)?.delete(id);
    this.#previews.set(id, preview);
    if (!isOpen(preview)) return void this.#open.delete(id);
    this.#open.add(id);
    for (const on of preview.dependsOn) {
      const dependents = this.#dependents.get(on) ?? new Set();
      this.#dependents.set(on, dependents.add(id));
    }
  }

  #require(id: string): Preview {
    const preview = this.#previews.get(id);
    if (!preview) throw new Error(`No preview ${id}`);
    return preview;
  }
}
