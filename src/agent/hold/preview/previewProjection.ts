import { TimeSlice } from '../../base/async.ts';
import { StalePreviewError } from './errors.ts';
import type { RollbackInfo } from './commit/rollbackInfo.ts';
import { Feed } from './feed.ts';
import type { FileChange } from './fileChange.ts';
import { stepsOf } from './fileSteps.ts';
import { InterruptedCommits, type InterruptedCommit } from './interruptedCommits.ts';
import { counted, recounted } from './label.ts';
import type { LedgerEntry } from './ledger.ts';
import { LostBeneath } from './lostBeneath.ts';
import { OpenPreviews } from './openPreviews.ts';
import { isOpen, isStale, isWider, pathsOf, type Preview, type PreviewState } from './preview.ts';
import { FIRST_RANDOM } from './previewNumbers.ts';
import type { StagedPreview } from './previewSchema.ts';
import { pendingPart, stateAfter, type Pending } from './stateAfter.ts';
import { allChanges, isKept } from './log/keptChanges.ts';
import { idsIn, idsOf, mayBeOfCommit, type PreviewLogEntry, type UnreadableLine } from './log/previewLog.ts';

/**
 * The state that the entries of a preview log add up to: every preview, the ledger, and the last id. An entry that was read before
 * changes nothing, and no entry brings back a resolved preview, except one that says that an applied change did not stay.
 */
export class PreviewProjection {
  readonly #previews = new Map<string, Preview>();
  readonly open = new OpenPreviews();
  readonly feed = new Feed();
  #ledger: LedgerEntry[] = [];
  readonly #marks = new Set<string>();
  /** Ids of the previews that were applied, discarded or expired, including unknown ones. */
  readonly #ended = new Set<string>();
  /** Which attempts failed, as {@link attemptKey}. */
  readonly #failedAttempts = new Set<string>();
  /** Parts that were stale when they were split off, which is reported only if the attempt on them fails or leaves no trace. */
  readonly #splitStale = new Set<string>();
  readonly #lost = new LostBeneath(id => this.#previews.get(id));
  readonly #commits = new InterruptedCommits();
  #lastNumber = 0;

  /**
   * Takes the next entry of the log into account. Returns the previews that it changes, in their new state.
   * @param patch for a revision: the user's edit.
   */
  apply(entry: PreviewLogEntry, patch?: string): readonly Preview[] {
    if (entry.mark !== undefined && this.#marks.has(entry.mark)) return [];
    if (entry.mark !== undefined) this.#marks.add(entry.mark);
    const ids = idsOf(entry);
    for (const id of ids) this.#count(id); // even if the line of the preview itself was unreadable
    const ended = this.#commits.of(ids);
    const was = entry.type === 'stale' || entry.type === 'revised' ? this.#previews.get(entry.id) : undefined;
    if (entry.type === 'commit') this.#begin(entry);
    else if (entry.type === 'resolved')
      this.#commits.end(
        ids,
        entry.entries.every(({ outcome }) => outcome === 'applied'),
      );
    else if (entry.type === 'recovered' || entry.type === 'expired') this.#commits.end(ids);
    else if (entry.type === 'synced') this.#commits.sync(ids);
    else if (entry.type === 'archived') {
      this.feed.skip(entry.attempts);
      this.#count(entry.last);
    }
    const changed = entry.type === 'resolved' ? this.#resolve(entry, ended?.rollback) : this.#reduce(entry);
    for (const preview of changed) this.set(preview);
    if (changed.length > 0) this.#feed(entry, patch, was);
    return changed;
  }

  /** @param was the preview as it was before a new revision, or an entry that says whether it is stale. */
  #feed(entry: PreviewLogEntry, patch: string | undefined, was: Preview | undefined): void {
    if (entry.type === 'expired') this.feed.add({ kind: 'expiry', previewId: entry.id });
    if (entry.type === 'stale' && was) this.#feedStale(was, entry.paths);
    if (entry.type === 'resolved') for (const { previewId } of entry.entries) this.#feedStalePart(previewId);
    if (entry.type !== 'revised') return;
    const { id: previewId, revision, by, part, call } = entry;
    if (part && isStale(this.#previews.get(part.id))) this.#splitStale.add(part.id);
    const now = this.#previews.get(previewId);
    if (now?.revision !== revision) return; // only the part of its line could be read
    const more = {
      ...(isWider(now, was) ? { isWider: true as const } : {}),
      ...(part ? { partId: part.id } : {}),
      ...(patch === undefined ? {} : { patch }),
      ...(call ? { call } : {}),
    };
    this.feed.add({ kind: 'revision', previewId, revision, by, ...more });
  }

  #feedStale(was: Preview, paths: readonly string[]): void {
    const { id: previewId, state } = was;
    const wasTold = isStale(was) && !this.#splitStale.delete(previewId);
    if (wasTold === paths.length > 0) return;
    if (wasTold) return this.feed.add({ kind: 'fresh', previewId });
    const lost = this.#lost.of(was, paths);
    const said = state.kind === 'pending' ? state.lastError : undefined;
    const isSaid = said?.startsWith(new StalePreviewError(paths, lost).fact) === true;
    const beneath = lost.length > 0 ? [] : was.dependsOn.filter(id => this.#isOpenAt(id, paths));
    const toRead = this.#lost.toRead(paths, lost);
    this.feed.add({ kind: 'stale', previewId, paths, lost, toRead, beneath, isSaid });
  }

  /** After a failed attempt on a part, adds to the feed that the part has been stale since it was split off. */
  #feedStalePart(id: string): void {
    const preview = this.#splitStale.has(id) ? this.#previews.get(id) : undefined;
    if (preview?.state.kind === 'pending') this.#feedStale(preview, preview.state.stale);
  }

  #isOpenAt(id: string, paths: readonly string[]): boolean {
    const preview = this.#previews.get(id);
    return preview !== undefined && isOpen(preview) && pathsOf(preview).some(path => paths.includes(path));
  }

  /** Takes into account that the next line of the log cannot be read. */
  skip(line: UnreadableLine): void {
    for (const id of idsIn(line)) this.#count(id);
    if (!mayBeOfCommit(line)) return;
    this.#commits.doubt();
    const ledgerBefore = this.feed.attempts;
    for (const { id, kind } of this.open) {
      if (kind === 'files' && !this.#commits.of([id]))
        this.#commits.add({ ids: [id], ledgerBefore, said: 'mayHaveBegun' });
    }
  }

  /** Forgets the commits that may have begun, although no line records it. */
  dropDoubtfulCommits(): void {
    for (const { ids, said } of this.commits) if (said === 'mayHaveBegun') this.#commits.end(ids);
  }

  /** Whether a preview is part of one of the {@link commits}. */
  isInterrupted(id: string): boolean {
    return this.#commits.of([id]) !== undefined;
  }

  /** Sets a state that is not logged. */
  set(preview: Preview): void {
    this.#lost.note(this.#previews.get(preview.id), preview);
    this.#previews.set(preview.id, preview);
    this.open.update(preview);
    if (!isOpen(preview)) this.#ended.add(preview.id);
  }

  /** Removes a preview that is not open; the ledger keeps its entries. */
  delete(id: string): void {
    this.#commits.sync([id]);
    this.#previews.delete(id);
  }

  get(id: string): Preview | undefined {
    return this.#previews.get(id);
  }

  /** Every preview, in the order of staging. */
  all(): readonly Preview[] {
    return [...this.#previews.values()];
  }

  /** Attempts to resolve that are in the log, the oldest first. */
  get ledger(): readonly LedgerEntry[] {
    return this.#ledger;
  }

  /** Attempts of the {@link ledger} from this place on, see {@link Feed.attempts}. */
  ledgerFrom(place: number): readonly LedgerEntry[] {
    return this.#ledger.slice(Math.max(0, place - (this.feed.attempts - this.#ledger.length)));
  }

  /** Drops the attempts of these entries, which are no longer in the log. */
  async dropAttempts(entries: readonly PreviewLogEntry[]): Promise<void> {
    const slice = new TimeSlice();
    const dropped = new Set<string>();
    for (const entry of entries) {
      if (entry.type === 'resolved') for (const attempt of entry.entries) dropped.add(attemptKey(attempt));
      await slice.turn();
    }
    const kept: LedgerEntry[] = [];
    // It may grow meanwhile.
    for (const attempt of this.#ledger) {
      if (!dropped.has(attemptKey(attempt))) kept.push(attempt);
      await slice.turn();
    }
    this.#ledger = kept;
  }

  /** The whole ledger, including the ledger file. An attempt may be in both. */
  ledgerWith(archived: readonly PreviewLogEntry[]): readonly LedgerEntry[] {
    const keyOf = (attempt: LedgerEntry): string => `${attemptKey(attempt)} ${attempt.outcome}`;
    const all = new Map<string, LedgerEntry>();
    for (const entry of archived)
      if (entry.type === 'resolved') for (const attempt of entry.entries) all.set(keyOf(attempt), attempt);
    for (const attempt of this.#ledger) all.set(keyOf(attempt), attempt);
    return [...all.values()].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  }

  /** In the order of their beginning. */
  get commits(): readonly InterruptedCommit[] {
    return this.#commits.all();
  }

  /** Commits that ended, but whose files a power cut may have taken since. */
  get unsynced(): readonly InterruptedCommit[] {
    return this.#commits.unsynced;
  }

  /** Parts that have been stale since they were split off, without anyone being told, with these paths. */
  get untoldParts(): readonly (readonly [id: string, paths: readonly string[]])[] {
    return [...this.#splitStale].flatMap(id => {
      const state = this.#previews.get(id)?.state;
      return state?.kind === 'pending' ? [[id, state.stale] as const] : [];
    });
  }

  /** Highest number of an id so far, without random ones; 0 if there is none. */
  get lastNumber(): number {
    return this.#lastNumber;
  }

  #count(id: string): void {
    const number = Number(id.slice(1));
    if (number > this.#lastNumber && number < FIRST_RANDOM) this.#lastNumber = number;
  }

  #begin({ ids, rollback, revisions, vote, syncs }: Extract<PreviewLogEntry, { type: 'commit' }>): void {
    if (ids.some(id => this.#ended.has(id))) return;
    this.#commits.end(ids);
    const ledgerBefore = this.feed.attempts;
    this.#commits.add({ ids, rollback, revisions, vote, syncs, ledgerBefore, said: 'interrupted' });
  }

  /** @param rollback that of the commit which the entry ends, if any. */
  #resolve(
    { entries, mark }: Extract<PreviewLogEntry, { type: 'resolved' }>,
    rollback: RollbackInfo | undefined,
  ): readonly Preview[] {
    const held = new Map(Object.entries(rollback?.modes ?? {}));
    const rights = new Map(Object.entries(rollback?.rights ?? {}));
    return entries.flatMap(attempt => {
      const { previewId: id, outcome } = attempt;
      const isAgain = attempt.lost !== undefined && this.#previews.get(id)?.state.kind === 'applied';
      if (isAgain) this.#ended.delete(id);
      if (this.#ended.has(id) || (mark === undefined && this.#isRepeated(attempt))) return [];
      this.#ledger.push(attempt);
      this.feed.add({ kind: 'attempt', previewId: id, entry: attempt });
      if (outcome === 'failed') this.#failedAttempts.add(attemptKey(attempt));
      else this.#ended.add(id);
      const preview = this.#previews.get(id);
      if (!preview) return [];
      return [
        {
          ...preview,
          state: stateAfter(preview, attempt, { held, rights, newFolders: rollback?.newFolders ?? [] }),
        },
      ];
    });
  }

  /** Whether a line without a mark, as older versions wrote it, is in the log twice. */
  #isRepeated(attempt: LedgerEntry): boolean {
    return attempt.outcome === 'failed' && this.#failedAttempts.has(attemptKey(attempt));
  }

  #reduce(entry: Exclude<PreviewLogEntry, { type: 'resolved' }>): readonly Preview[] {
    if (
      entry.type === 'staged' &&
      (this.#previews.has(entry.preview.id) || this.#ended.has(entry.preview.id))
    )
      return [];
    return reduce(id => this.#previews.get(id), entry);
  }
}

function attemptKey({ previewId, at }: LedgerEntry): string {
  return `${previewId} ${at}`;
}

/** Previews that `entry` changes, in their new state. Entries about unknown or resolved previews change nothing. */
function reduce(
  find: (id: string) => Preview | undefined,
  entry: Exclude<PreviewLogEntry, { type: 'resolved' }>,
): readonly Preview[] {
  if (entry.type === 'staged') return [fresh(entry.preview)];
  if (!('id' in entry)) return [];
  const preview = find(entry.id);
  if (!preview || isOpen(preview) === (entry.type === 'dismissed')) return [];
  switch (entry.type) {
    case 'revised': {
      const { revision, dependsOn, part } = entry;
      if (revision <= preview.revision && !entry.announced) return [];
      const edited = entry.by === 'user' ? { editedByUser: true as const } : {};
      if (preview.kind !== 'files') {
        if (preview.kind !== 'plan' || entry.details === undefined) return [];
        return [{ ...preview, ...edited, revision, details: entry.details, state: pendingState }];
      }
      const pending = pendingPart(preview.state);
      const parts: Preview[] = part
        ? [{ ...part, revision: 1, state: pendingOn(pending, part.changes) }]
        : [];
      const changes = revisedChanges(preview.revision, preview.changes, entry);
      if (!changes) return parts;
      const label = preview.labelParts ? counted(...recounted(preview.labelParts, changes)) : {};
      const title = entry.title === undefined ? {} : { title: entry.title, modelTitle: entry.title };
      const next = { ...preview, ...edited, ...label, ...title, revision, changes, dependsOn };
      if (entry.by !== 'split') return [{ ...next, state: pendingState }];
      return [...parts, { ...next, state: pendingOn(pending, changes) }];
    }
    case 'rebasing':
      return entry.below <= preview.revision
        ? []
        : [{ ...preview, revision: entry.below, state: pendingState }];
    case 'stale':
      return [{ ...preview, state: { ...pendingPart(preview.state), stale: entry.paths } }];
    case 'recommended':
      return [{ ...preview, state: { ...pendingPart(preview.state), recommendation: entry.recommendation } }];
    case 'expired': {
      const { interrupted, reason } = entry;
      const why = {
        ...(interrupted ? { interrupted } : {}),
        ...(reason === undefined ? {} : { reason }),
      };
      return [{ ...preview, state: { kind: 'expired', ...why } }];
    }
    case 'dismissed':
      return preview.state.kind === 'expired'
        ? [{ ...preview, state: { ...preview.state, dismissed: true } }]
        : [];
  }
}

/** The changes of a new revision; `undefined` if the line of the one that it builds on could not be read. */
function revisedChanges(
  revision: number,
  before: readonly FileChange[],
  entry: Extract<PreviewLogEntry, { type: 'revised' }>,
): readonly FileChange[] | undefined {
  if (entry.revision !== revision + 1 && entry.changes.some(isKept)) return undefined;
  return allChanges(before, entry.changes);
}

const pendingState: PreviewState = { kind: 'pending', stale: [] };

/**
 * State of one half of a split preview. Splitting changes no file and no proposal: stale paths stay stale, and both halves show the
 * model's recommendation.
 */
function pendingOn({ stale, recommendation }: Pending, changes: readonly FileChange[]): PreviewState {
  const paths = new Set(changes.flatMap(stepsOf).map(step => step.path));
  return {
    kind: 'pending',
    stale: stale.filter(path => paths.has(path)),
    ...(recommendation ? { recommendation: { ...recommendation, isOfWhole: true } } : {}),
  };
}

function fresh(staged: StagedPreview): Preview {
  return { ...staged, revision: 1, state: pendingState };
}
