import type { RollbackInfo } from './commit/rollbackInfo.ts';
import type { CommitVote } from './log/previewLog.ts';

/** A commit that may have begun and not ended. */
export interface InterruptedCommit {
  /** The previews that are written as one transaction. */
  readonly ids: readonly string[];
  readonly rollback?: RollbackInfo | undefined;
  /** The revisions that are written, by id. */
  readonly revisions?: Readonly<Record<string, number>> | undefined;
  readonly vote?: CommitVote | undefined;
  /** Whether the log records when its files would survive a power cut. */
  readonly syncs?: true | undefined;
  /** How many ledger entries were written before it began. */
  readonly ledgerBefore: number;
  /**
   * State in the log. `interrupted`: it began and did not end. `mayHaveEnded`: a later line, which may record its end, cannot be
   * read. `mayHaveBegun`: the unreadable line may also record its beginning; no other line does.
   */
  readonly said: 'interrupted' | 'mayHaveEnded' | 'mayHaveBegun';
}

/** The commits that have not ended, in the order of their beginning, indexed by their previews. */
export class InterruptedCommits {
  #commits = new Set<InterruptedCommit>();
  readonly #unsynced = new Set<InterruptedCommit>();
  readonly #byId = new Map<string, InterruptedCommit>();

  all(): readonly InterruptedCommit[] {
    return [...this.#commits];
  }

  /** The commit that contains any of these previews. */
  of(ids: readonly string[]): InterruptedCommit | undefined {
    const id = ids.find(id => this.#byId.has(id));
    return id === undefined ? undefined : this.#byId.get(id);
  }

  add(commit: InterruptedCommit): void {
    this.#commits.add(commit);
    for (const id of commit.ids) this.#byId.set(id, commit);
  }

  /** Commits that ended, but whose files a power cut may have taken since. */
  get unsynced(): readonly InterruptedCommit[] {
    return [...this.#unsynced];
  }

  /** Records that the files of these previews would survive a power cut. */
  sync(ids: readonly string[]): void {
    const synced = new Set(ids);
    for (const commit of this.#unsynced)
      if (commit.ids.some(id => synced.has(id))) this.#unsynced.delete(commit);
  }

  /** Removes the commits that contain any of these previews. @param isApplied whether all their files are written */
  end(ids: readonly string[], isApplied = false): void {
    for (let commit = this.of(ids); commit; commit = this.of(ids)) {
      if (isApplied && commit.syncs) this.#unsynced.add(commit);
      this.#commits.delete(commit);
      for (const id of commit.ids) this.#byId.delete(id);
    }
  }

  /** Marks each commit as one that may have ended. */
  doubt(): void {
    const commits = this.all();
    if (commits.every(({ said }) => said !== 'interrupted')) return;
    this.#commits = new Set();
    for (const commit of commits)
      this.add(commit.said === 'interrupted' ? { ...commit, said: 'mayHaveEnded' } : commit);
  }
}
