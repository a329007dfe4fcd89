import { Emitter, type Event } from '../base/event.ts';
import type { LedgerEntry } from './ledger.ts';
import { isOpen, type Actor, type Preview, type ResolveAction, type ResolveOrder } from './preview.ts';
import { reduce, type PreviewLogEntry, type StagedPreview } from './previewLog.ts';

/** Where the store writes what happened. `JsonLog<PreviewLogEntry>` is one. */
export interface PreviewLogSink {
  append(entry: PreviewLogEntry): Promise<void>;
  /** Drops the entries that `keep` refuses, for good. */
  compact(keep: (entry: PreviewLogEntry) => boolean): Promise<void>;
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
  readonly #resolved = new Emitter<LedgerEntry>();
  #lastId = 0;

  /** Fires after every change of a preview, with its new state. */
  readonly onDidChange: Event<Preview> = this.#changed.event;
  /** Fires once for each attempt to resolve, after `onDidChange`. */
  readonly onDidResolve: Event<LedgerEntry> = this.#resolved.event;

  constructor(log: PreviewLogSink, onLogFailure: (error: unknown) => void) {
    this.#log = log;
    this.#onLogFailure = onLogFailure;
  }

  /** Rebuilds the state from a log that was just read. Opaque previews lost their callbacks and expire. */
  restore(entries: readonly PreviewLogEntry[]): void {
    for (const entry of entries) this.#reduce(entry);
    for (const preview of [...this.#previews.values()]) {
      if (isOpen(preview) && preview.changes === null) void this.#record({ type: 'expired', id: preview.id });
    }
  }

  /** Registers a new preview under the next id. The promise of the log entry is for those who must not lose it. */
  stage(draft: Omit<StagedPreview, 'id'>): { readonly preview: Preview; readonly stored: Promise<void> } {
    const staged: StagedPreview = { ...draft, id: `p${this.#lastId + 1}` };
    const stored = this.#record({ type: 'staged', preview: staged });
    return { preview: this.#require(staged.id), stored };
  }

  get(id: string): Preview | undefined {
    return this.#previews.get(id);
  }

  /** Open previews, the head first. */
  list(order: ResolveOrder): readonly Preview[] {
    const open = Array.from(this.#open, id => this.#require(id));
    return order === 'newestFirst' ? open.reverse() : open;
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

  /** Takes an expired preview out of sight. It stays in the log. */
  dismiss(id: string): Promise<void> {
    return this.#record({ type: 'dismissed', id });
  }

  /** Takes the preview out of `pending`, so that nobody else can begin to resolve it. Not logged: a crash undoes it. */
  beginResolving(id: string, action: ResolveAction, actor: Actor): void {
    this.#put({ ...this.#require(id), state: { kind: 'applying', action, actor } });
  }

  /** Records how an attempt ended. `pending` is the state to return to when it is not final. */
  endResolving(entry: LedgerEntry, before: Preview, final: boolean): Promise<void> {
    this.#set(before);
    const stored = this.#record({ type: 'resolved', entry, final });
    this.#resolved.fire(entry);
    return stored;
  }

  /**
   * Forgets the content of previews that were resolved before `until`: they cannot be undone or reopened any more. The
   * ledger keeps who resolved what, when and why, with the hashes.
   * @returns settles when the content is gone from the disk too.
   */
  async forgetResolved(until: Date): Promise<void> {
    const forgotten = new Set(
      this.all()
        .filter(preview => wasOverBefore(preview, until))
        .map(preview => preview.id),
    );
    if (forgotten.size === 0) return;
    for (const id of forgotten) this.#previews.delete(id);
    await this.#log.compact(
      entry => entry.type === 'resolved' || entry.type === 'expired' || !forgotten.has(idOf(entry)),
    );
  }

  #recordPending(entry: PreviewLogEntry): Promise<void> {
    const isPending = this.#previews.get(idOf(entry))?.state.kind === 'pending';
    return isPending ? this.#record(entry) : Promise.resolve();
  }

  #record(entry: PreviewLogEntry): Promise<void> {
    const changed = this.#reduce(entry);
    const stored = this.#log.append(entry);
    stored.catch(this.#onLogFailure);
    if (changed) this.#changed.fire(changed);
    return stored;
  }

  #reduce(entry: PreviewLogEntry): Preview | undefined {
    if (entry.type === 'resolved') this.#ledger.push(entry.entry);
    const id = idOf(entry);
    const number = Number(id.slice(1));
    if (number > this.#lastId) this.#lastId = number; // also where the preview itself could not be read
    const next = reduce(this.#previews.get(id), entry);
    if (next) this.#set(next);
    return next;
  }

  #put(preview: Preview): void {
    this.#set(preview);
    this.#changed.fire(preview);
  }

  #set(preview: Preview): void {
    this.#previews.set(preview.id, preview);
    if (isOpen(preview)) this.#open.add(preview.id);
    else this.#open.delete(preview.id);
  }

  #require(id: string): Preview {
    const preview = this.#previews.get(id);
    if (!preview) throw new Error(`No preview ${id}`);
    return preview;
  }
}

function wasOverBefore({ state, stagedAt }: Preview, until: Date): boolean {
  switch (state.kind) {
    case 'pending':
    case 'applying':
      return false;
    case 'applied':
    case 'discarded':
      return Date.parse(state.by.at) < until.getTime();
    case 'expired':
      return Date.parse(stagedAt) < until.getTime();
  }
}

function idOf(entry: PreviewLogEntry): string {
  switch (entry.type) {
    case 'staged':
      return entry.preview.id;
    case 'resolved':
      return entry.entry.previewId;
    case 'revised':
    case 'stale':
    case 'recommended':
    case 'expired':
    case 'dismissed':
      return entry.id;
  }
}
