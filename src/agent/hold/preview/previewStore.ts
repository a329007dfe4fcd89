import { atOnce, inTurns } from '../../base/async.ts';
import { asJournalError, JournalError } from './errors.ts';
import { Emitter, type Event } from '../../base/event.ts';
import { LogQueue, marked } from '../../base/log/logQueue.ts';
import { SoonFlushed } from '../../base/log/soonFlushed.ts';
import { MemoryBlobs, type Blobs } from './blobs.ts';
import type { RollbackInfo } from './commit/rollbackInfo.ts';
import type { Feed, Revision } from './feed.ts';
import type { FileChange } from './fileChange.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Actor, CallRef, Preview, Recommendation, ResolveAction } from './preview.ts';
import { withKept } from './log/keptChanges.ts';
import {
  idsOf,
  unknownVote,
  voteOf,
  type CommitVote,
  type FilesDraft,
  type PreviewDraft,
  type PreviewLogEntry,
  type RevisedBy,
  type UnreadableLine,
  type PreviewLogSink,
} from './log/previewLog.ts';
import { countedNumbers, type PreviewNumbers } from './previewNumbers.ts';
import { PreviewProjection } from './previewProjection.ts';
import { adopted, restored } from './restore.ts';
import { UnstoredRebases } from './unstoredRebases.ts';
import type { OpenPreviews } from './openPreviews.ts';
import type { PreviewStoreOptions, QueuedPreview } from './previewStoreOptions.ts';
import type { ResolveOrder } from './resolveSettings.ts';

/**
 * The only owner of every preview's state. Each change is a log entry, which takes effect in memory at once and is written
 * in the order of the calls. Only the invoker resolves previews; all others read and listen.
 *
 * A change takes effect even if writing it fails: then its entry waits and is written later, in its place. The promises of these
 * methods settle once the entry is written or the failure has been reported. A failure is reported only once until everything is
 * written again. They never reject, except for {@link beginCommit}, {@link beginAction} and {@link forgetResolved}, whose callers
 * must know about a failure.
 */
export class PreviewStore {
  readonly #projection = new PreviewProjection();
  readonly #log: PreviewLogSink;
  readonly #flushing: SoonFlushed;
  readonly #queue: LogQueue<PreviewLogEntry>;
  readonly #numbers: PreviewNumbers;
  /** Why entries can never be written, by the id of their preview. A crash while it is applied could not be recovered from. */
  readonly #unstorable = new Map<string, unknown>();
  readonly #rebases = new UnstoredRebases();
  #forgetting: Promise<unknown> = Promise.resolve();
  readonly #staged = new Emitter<Preview>();
  readonly #changed = new Emitter<Preview>();
  readonly #resolved = new Emitter<readonly LedgerEntry[]>();
  readonly #revised = new Emitter<Revision>();

  /**
   * Fires after every change of a preview, with its new state. Fires once more when a preview is forgotten, with its last
   * state; {@link get} no longer finds it then.
   */
  readonly onDidChange: Event<Preview> = this.#changed.event;
  /** Fires for each preview that is staged, after `onDidChange`, but not for a part that is split off. */
  readonly onDidStage: Event<Preview> = this.#staged.event;
  /** Fires once for each attempt to resolve, after `onDidChange`, with an entry for each preview of the transaction. */
  readonly onDidResolve: Event<readonly LedgerEntry[]> = this.#resolved.event;

  /** Fires after each new revision, after `onDidChange`. */
  readonly onDidRevise: Event<Revision> = this.#revised.event;

  /** Callbacks for data that the storage may have lost. */
  readonly tells: Pick<PreviewStoreOptions, 'onUnsynced' | 'onDamage'>;

  /** The contents of binary files. They must be put there before a preview names them. */
  readonly blobs: Blobs;

  /** @param onLogFailure called once each time that writing the log stops working. */
  constructor(
    log: PreviewLogSink,
    onLogFailure: (error: unknown) => void,
    options: PreviewStoreOptions = {},
  ) {
    const { numbers = countedNumbers(), blobs, onLogRecovery, onUnstorable } = options;
    this.tells = options;
    this.#log = log;
    this.blobs = blobs ?? log.contents ?? new MemoryBlobs();
    const onRecovery = (): void => {
      if (this.#queue.isEmpty && !this.#flushing.isFailing) onLogRecovery?.();
    };
    this.#flushing = new SoonFlushed(log, onLogFailure, onRecovery);
    this.#queue = new LogQueue(log, {
      onAppend: () => this.#flushing.appended(),
      onFailure: onLogFailure,
      onRecovery,
      onDrop: (entry, error) => {
        const ids = idsOf(entry);
        for (const id of ids) this.#unstorable.set(id, error);
        if (onUnstorable) onUnstorable(ids, error);
        else onLogFailure(error);
      },
    });
    this.#numbers = numbers;
  }

  /**
   * Rebuilds the state from a short log that was just read. Previews that can no longer be resolved expire: see {@link restored}.
   */
  restore(entries: readonly PreviewLogEntry[], unreadable: readonly UnreadableLine[] = []): void {
    atOnce(this.#restoring(entries, unreadable));
  }

  /** Like {@link restore}, for a log of any length: lets other work run in between, which must not use the store yet. */
  async restoreInTurns(
    entries: readonly PreviewLogEntry[],
    unreadable: readonly UnreadableLine[],
  ): Promise<void> {
    await inTurns(this.#restoring(entries, unreadable));
  }

  #restoring(entries: readonly PreviewLogEntry[], unreadable: readonly UnreadableLine[]) {
    // An earlier process may have died before it flushed them.
    if (entries.length > 0) this.#flushing.appended();
    return restored(this.#projection, entries, unreadable, entry => void this.#record(entry));
  }

  /**
   * The commits that have begun and not ended, as far as the log shows, in the order of their beginning. Right after
   * {@link restore}, these are the ones to recover from.
   */
  get interruptedCommits(): PreviewProjection['commits'] {
    return this.#projection.commits;
  }

  /**
   * Registers a new preview under the next id.
   * @param prepare called with the id before anyone hears of the preview.
   */
  stage(draft: PreviewDraft, prepare: (id: string) => void = () => undefined): QueuedPreview {
    const staged = { ...draft, id: this.#nextId() };
    prepare(staged.id);
    const stored = this.#record({ type: 'staged', preview: staged });
    const preview = this.#require(staged.id);
    this.#staged.fire(preview);
    return { preview, stored };
  }

  /**
   * Adds a revision to a pending preview. From now on, votes on an older revision are refused.
   * @param patch the user's edit, for the {@link feed}; it is not stored.
   * @param call for an amendment: the model's call that makes it.
   */
  revise(
    id: string,
    changes: readonly FileChange[],
    dependsOn: readonly string[],
    by: RevisedBy,
    patch?: string,
    amended: { readonly call?: CallRef; readonly title?: string } = {},
  ): Promise<void> {
    return this.#record({ ...this.#nextRevision(id, changes), dependsOn, by, ...amended }, patch);
  }

  /**
   * Adds a revision to a pending preview whose base has changed, which the next start would find again. It is stored once something
   * depends on it: a decision, another revision, or the end of the window.
   */
  rebase(id: string, changes: readonly FileChange[], dependsOn: readonly string[]): Promise<void> {
    const entry = { ...this.#nextRevision(id, changes), dependsOn, by: 'rebase' } as const;
    const announced = this.#rebases.add(id, entry.revision);
    return this.#take(entry, announced && marked(announced));
  }

  /** Adds a revision to a pending plan, which the user edited. @param text the whole plan, for the {@link feed}. */
  revisePlan(id: string, details: unknown, text: string): Promise<void> {
    return this.#record({ ...this.#nextRevision(id, []), dependsOn: [], by: 'user', details }, text);
  }

  /**
   * Splits a part off a pending preview. Both are one log entry, so that a crash cannot leave only one of them.
   * @returns the part. The preview itself gets a new revision.
   */
  split(
    id: string,
    rest: { readonly changes: readonly FileChange[]; readonly buildsOnPart: boolean },
    draft: FilesDraft,
  ): Preview {
    const { dependsOn } = this.#require(id);
    const part = { ...draft, id: this.#nextId() };
    void this.#record({
      ...this.#nextRevision(id, rest.changes),
      dependsOn: rest.buildsOnPart ? [...dependsOn, part.id] : dependsOn,
      by: 'split',
      part,
    });
    return this.#require(part.id);
  }

  /**
   * Writes the write-ahead journal of a commit: the files of these previews are about to be written.
   * @returns settles once a crash can be recovered from. Where the log is in memory, as in a second window, it settles although
   *   no crash can be recovered from.
   * @throws JournalError if the journal, or an entry before it, could not be written or flushed. Then nothing may be written.
   */
  async beginCommit(
    ids: readonly string[],
    rollback: RollbackInfo,
    vote: CommitVote = unknownVote,
  ): Promise<void> {
    const revisions = Object.fromEntries(ids.map(id => [id, this.#require(id).revision]));
    await this.#journal({ type: 'commit', ids, rollback, revisions, vote: voteOf(vote), syncs: true });
    await this.#flushing.flush().catch(asJournalError);
  }

  /**
   * Writes to the journal that the action of an opaque preview is about to run. If that cannot be written, the promise rejects
   * with a JournalError, and nothing may be done.
   * @returns `undefined` if it was written at once.
   */
  beginAction(id: string, vote: CommitVote = unknownVote): Promise<void> | undefined {
    return this.#journal({ type: 'commit', ids: [id], vote: voteOf(vote) });
  }

  /** Records that an interrupted commit was rolled back, or left as it was. */
  endRecovery(ids: readonly string[]): Promise<void> {
    return this.#record({ type: 'recovered', ids });
  }

  /** Records that the files of these previews would survive a power cut. */
  recordSynced(ids: readonly string[]): Promise<void> {
    return this.#record({ type: 'synced', ids });
  }

  /**
   * Applied commits for which the log does not record that their files would survive a power cut, in the order of their beginning.
   */
  get unsyncedCommits(): PreviewProjection['unsynced'] {
    return this.#projection.unsynced;
  }

  /** Forgets the commits that may have begun, although no line records it, once recovery has looked at them. */
  dropDoubtfulCommits(): void {
    this.#projection.dropDoubtfulCommits();
  }

  get(id: string): Preview | undefined {
    return this.#projection.get(id);
  }

  /** The open previews, the head first; see {@link OpenPreviews.list}. */
  list(order: ResolveOrder): readonly Preview[] {
    return this.#projection.open.list(order);
  }

  /** The open previews in the order of staging, without the cost of a {@link list}. */
  get open(): Omit<OpenPreviews, 'update'> {
    return this.#projection.open;
  }

  /** Every preview ever staged in this storage, in the order of staging. */
  all(): readonly Preview[] {
    return this.#projection.all();
  }

  get hasPending(): boolean {
    return this.#projection.open.size > 0;
  }

  /** Facts about previews. Those who wait for previews listen here; others listen to the events of the store. */
  get feed(): Feed {
    return this.#projection.feed;
  }

  /** Attempts to resolve, the oldest first: all on previews that are not forgotten, and the last ones on the others. */
  ledger(): readonly LedgerEntry[] {
    return this.#projection.ledger;
  }

  /** All attempts to resolve, the oldest first. @throws any error of the file system */
  async wholeLedger(): Promise<readonly LedgerEntry[]> {
    const { entries, unreadable } = (await this.#log.archived?.()) ?? { entries: [], unreadable: [] };
    if (unreadable.length > 0) this.tells.onDamage?.(unreadable);
    return this.#projection.ledgerWith(entries);
  }

  /** Attempts of the {@link ledger} after this many {@link Feed.attempts}. */
  ledgerFrom(attempts: number): readonly LedgerEntry[] {
    return this.#projection.ledgerFrom(attempts);
  }

  /**
   * Records the model's recommendation for a pending preview; does nothing if it is not pending.
   */
  recommend(id: string, recommendation: Omit<Recommendation, 'isOfWhole'>): Promise<void> {
    return this.#recordPending({ type: 'recommended', id, recommendation });
  }

  /**
   * Records which paths have changed since the preview was made; an empty list makes it applicable again. Does nothing for a
   * preview that is not pending: a commit changes its own bases.
   */
  markStale(id: string, paths: readonly string[]): Promise<void> {
    return this.#recordPending({ type: 'stale', id, paths });
  }

  /**
   * Expires a pending preview whose action is gone; does nothing if it is not pending.
   * @param reason why, in a sentence.
   */
  expire(id: string, reason?: string): Promise<void> {
    return this.#recordPending({ type: 'expired', id, ...(reason === undefined ? {} : { reason }) });
  }

  /** Hides an expired preview for good. It stays in the log. */
  dismiss(id: string): Promise<void> {
    return this.#record({ type: 'dismissed', id });
  }

  /** Marks the preview as being resolved, so that nobody else resolves it. Not logged: after a crash it is pending again. */
  beginResolving(id: string, action: ResolveAction, actor: Actor): void {
    const applying: Preview = { ...this.#require(id), state: { kind: 'applying', action, actor } };
    this.#projection.set(applying);
    this.#changed.fire(applying);
  }

  /**
   * Records how an attempt ended, in one entry for all previews of the transaction.
   * @param before the previews as they were before the attempt, which are restored if it failed.
   */
  endResolving(entries: readonly LedgerEntry[], before: readonly Preview[]): Promise<void> {
    for (const preview of before) this.#projection.set(preview);
    return this.#record({ type: 'resolved', entries });
  }

  /** Records that an applied change did not stay: the preview is pending again. Does nothing if it is not applied. */
  async recordLost(entry: LedgerEntry): Promise<void> {
    if (this.get(entry.previewId)?.state.kind === 'applied')
      await this.#record({ type: 'resolved', entries: [entry] });
  }

  /** Adds the entries of the storage's log, which this window takes over. */
  async adopt(entries: readonly PreviewLogEntry[]): Promise<void> {
    for (const id of await adopted(this.#projection, entries)) {
      const preview = this.get(id); // unless it was forgotten meanwhile
      if (preview) this.#changed.fire(preview);
    }
  }

  /**
   * Forgets previews that were resolved before `until`, and expired ones that were dismissed, with their content: they can no
   * longer be undone or reopened. The ledger keeps who resolved what, when and why, with the hashes. A log that has grown beyond
   * its live entries becomes small again, whether anything is forgotten or not.
   * @param mostBytes if the stored contents of the other resolved previews take more, the oldest of these are forgotten, too.
   * @returns settles once the content is gone from the disk too, with the ids of the previews that stay although some of their
   *   content is gone or damaged; rejects if it could not be removed there.
   */
  forgetResolved(until: Date, mostBytes = Infinity): Promise<readonly string[]> {
    // One after another: each moves contents, and removes those that have not moved.
    const forgotten = this.#forgetting.then(() => this.#forget(until, mostBytes));
    this.#forgetting = forgotten.catch(() => undefined);
    return forgotten;
  }

  async #forget(until: Date, mostBytes: number): Promise<readonly string[]> {
    // Waiting entries are written first: later, they would bring back the removed ones.
    if (!(await this.drain()))
      throw new Error('Nothing was forgotten, because the log of previews cannot be written.');
    const { forget } = await import('./log/retention.ts');
    return forget({ projection: this.#projection, log: this.#log }, until, mostBytes, preview =>
      this.#changed.fire(preview),
    );
  }

  /** Tries to write the waiting entries. @returns whether the log has everything. Never rejects. */
  drain(): Promise<boolean> {
    return this.#queue.drain();
  }

  /**
   * Tries once more to write the waiting entries; nothing is written afterwards, since the process ends.
   * @returns whether the log has everything. Never rejects.
   */
  async close(): Promise<boolean> {
    this.#storeRebases(this.#rebases.ids);
    const isWritten = await this.#queue.close();
    const isFlushed = await this.#flushing.close();
    await this.#forgetting; // it may remove what the next window writes
    return isFlushed && isWritten;
  }

  #recordPending(entry: PreviewLogEntry): Promise<void> {
    const isPending = idsOf(entry).every(id => this.#projection.get(id)?.state.kind === 'pending');
    return isPending ? this.#record(entry) : Promise.resolve();
  }

  #record(unmarked: PreviewLogEntry, patch?: string): Promise<void> {
    const entry = marked(unmarked);
    // The next start finds out again whether it is stale, and rebases it from the stored revision.
    if (entry.type !== 'stale') this.#storeRebases(idsOf(entry));
    return this.#take(entry, entry, patch);
  }

  #storeRebases(ids: readonly string[]): void {
    for (const entry of this.#rebases.take(ids, id => this.get(id))) void this.#queue.append(marked(entry));
  }

  /** Lets an entry take effect. @param stored the entry that is written then, before anyone hears of it */
  #take(entry: PreviewLogEntry, stored: PreviewLogEntry | undefined, patch?: string): Promise<void> {
    const { length } = this.feed.facts;
    const changed = this.#projection.apply(entry, patch);
    const written = stored && this.#queue.append(stored);
    for (const preview of changed) this.#changed.fire(preview);
    if (entry.type === 'resolved' && changed.length > 0) this.#resolved.fire(entry.entries);
    if (entry.type === 'revised') {
      const part = entry.part && this.#require(entry.part.id);
      this.#revised.fire({ preview: this.#require(entry.id), by: entry.by, ...(part ? { part } : {}) });
    }
    this.feed.tell(length);
    return written ?? Promise.resolve();
  }

  #nextRevision(id: string, next: readonly FileChange[]) {
    const { revision, changes } = this.#require(id);
    return { type: 'revised', id, revision: revision + 1, changes: withKept(changes ?? [], next) } as const;
  }

  #journal(unmarked: PreviewLogEntry): Promise<void> | undefined {
    const refusal = (): Promise<never> | undefined => {
      const id = idsOf(unmarked).find(id => this.#unstorable.has(id));
      return id === undefined ? id : Promise.reject(new JournalError(this.#unstorable.get(id)));
    };
    const refused = refusal();
    if (refused) return refused;
    this.#storeRebases(idsOf(unmarked));
    const entry = marked(unmarked);
    const begin = (): void => void this.#projection.apply(entry);
    const written = this.#queue.append(entry, { nowOrNever: true });
    // Meanwhile, an entry before it may have turned out to have no encoding.
    if (written) return written.then(begin, asJournalError).then(refusal);
    return void begin();
  }

  /** Number in the id of the last preview, including forgotten ones. */
  get lastNumber(): number {
    return this.#projection.lastNumber;
  }

  #nextId(): string {
    return `p${this.#numbers.next(this.#projection.lastNumber)}`;
  }

  #require(id: string): Preview {
    const preview = this.#projection.get(id);
    if (!preview) throw new Error(`No preview ${id}`);
    return preview;
  }
}
