import { isDeepStrictEqual } from 'node:util';
import type { Preview } from '../../preview/preview.ts';
import { foldApplied, holds, merged, type AppliedChange, type Folded, type Stored } from './foldApplied.ts';
import { isSameEntry, textIn, type StoredEntry } from './gitIndex.ts';
import type { Applied, Uncommittable, UncommittableReason } from './readApplied.ts';

/** A path of a commit. */
export interface PlannedPath {
  readonly path: string;
  /** What the commit has there; `null`: no file. */
  readonly entry: StoredEntry | null;
  /** What the user's index has there afterwards: the same, with what else was staged. */
  readonly staged: StoredEntry | null;
  /** What it has there now. */
  readonly stagedBefore: StoredEntry | null;
  /** Whether the file holds more than is committed of it. */
  readonly isPart: boolean;
}

/** A commit of what previews applied, and of nothing else, on top of the last one. */
export interface CommitPlan {
  readonly head: string | undefined;
  /** The tree of the last commit, or the empty one. */
  readonly tree: string;
  readonly paths: readonly PlannedPath[];
  /** The previews that are in it, at least in part, in the order in which they were applied. */
  readonly previewIds: readonly string[];
  readonly uncommittable: readonly Uncommittable[];
}

/** The mode of a file that is no program. */
const PLAIN = '100644';

type Places = ReadonlyMap<string, Folded>;
type Reasons = Map<string, UncommittableReason>;

/**
 * Plans the commit of applied previews: of each file what the last commit has, with what they changed, if the file still holds
 * that. A file is left out as a whole, and both paths of a renamed one.
 * @param previews those that `applied` was read for.
 * @param ids the previews to commit; all of them by default.
 */
export async function planCommit(
  applied: Applied,
  previews: readonly Preview[],
  ids: ReadonlySet<string> = new Set(previews.map(({ id }) => id)),
): Promise<CommitPlan> {
  const { head, tree } = applied;
  const all = await fold(applied, applied.changes);
  const undone = undoneIn(all, previews, applied.changes);
  const isWanted = (id: string): boolean => ids.has(id) && !undone.has(id);
  const wanted = applied.changes.filter(({ previewId }) => isWanted(previewId));
  const { places, blocked, reasons } = await whatFilesHold(applied, wanted);
  for (const [at, why] of applied.refused) reasons.set(at, why);
  const planned = new Map<string, PlannedPath>();
  for (const [at, place] of places) {
    if (applied.refused.has(at) || blocked.has(at)) continue;
    const entry = await entryOf(applied, at, place, isWanted);
    if (isSameEntry(entry, applied.inHead.get(at) ?? null)) continue;
    const stagedBefore = stagedAt(applied, at);
    const staged = await stagedWith(applied, at, place, entry);
    if (staged === undefined) reasons.set(at, 'staged');
    else {
      const isPart = place.text !== diskText(applied, at);
      planned.set(at, { path: at, entry, staged, stagedBefore, isPart });
    }
  }
  dropHalves(planned, places, reasons);
  const by = new Set(
    [...planned.values()].flatMap(({ path: at, entry }) => {
      const { by: changed = [], from = at } = places.get(at) ?? {};
      const isOther = entry && entry.mode !== (applied.inHead.get(from)?.mode ?? PLAIN);
      return [...changed, ...(isOther ? (applied.withMode.get(at) ?? []).filter(isWanted) : [])];
    }),
  );
  return {
    ...{ head, tree, paths: [...planned.values()] },
    previewIds: previews.flatMap(({ id }) => (by.has(id) ? [id] : [])),
    uncommittable: [...reasons].map(([at, why]) => ({ path: at, why })),
  };
}

/** Changes on top of the last commit, as far as their files hold them. */
interface Held {
  readonly places: Places;
  /** The paths whose files do not hold what the commit would have. */
  readonly blocked: ReadonlySet<string>;
  /** Why not everything is in it. */
  readonly reasons: Reasons;
}

async function whatFilesHold(applied: Applied, changes: readonly AppliedChange[]): Promise<Held> {
  const reasons: Reasons = new Map();
  const isThere = ({ path: at, before, after }: AppliedChange): Promise<boolean> =>
    holds(diskText(applied, at), after, before);
  let places = await fold(applied, changes);
  let blocked = await lostIn(applied, places);
  if (blocked.size > 0) {
    // One change that is gone must not keep back the others of its file.
    const kept: AppliedChange[] = [];
    for (const change of changes) {
      if (!blocked.has(change.path) || (await isThere(change))) kept.push(change);
      else reasons.set(change.path, 'changed');
    }
    places = await fold(applied, kept);
    blocked = await lostIn(applied, places);
    for (const at of blocked) reasons.set(at, 'changed');
  }
  for (const change of changes) {
    const isUnfit = places.get(change.path)?.unfit.has(change.previewId) === true;
    if (isUnfit && !reasons.has(change.path) && (await isThere(change))) reasons.set(change.path, 'overlaps');
  }
  return { places, blocked, reasons };
}

function fold(applied: Applied, changes: readonly AppliedChange[]): Promise<Places> {
  return foldApplied(changes, at => headText(applied, at));
}

/** The paths whose files do not hold what the commit would have. */
async function lostIn(applied: Applied, places: Places): Promise<ReadonlySet<string>> {
  const lost = new Set<string>();
  for (const [at, { text, base }] of places)
    if (text !== headText(applied, at) && !(await holds(diskText(applied, at), text, base))) lost.add(at);
  return lost;
}

/** The previews that others undo, and those others, if the last commit has nothing of both. */
function undoneIn(
  places: Places,
  previews: readonly Preview[],
  changes: readonly AppliedChange[],
): ReadonlySet<string> {
  const isNew = (id: string): boolean =>
    changes.every(({ previewId, path: at }) => previewId !== id || places.get(at)?.by.has(id) === true);
  const known = new Set(changes.map(({ previewId }) => previewId));
  const undone = new Set<string>();
  for (const { id, undoes = [] } of previews.toReversed()) {
    if (undoes.length === 0 || undone.has(id) || !known.has(id)) continue;
    if ([id, ...undoes].every(each => known.has(each) && isNew(each)))
      for (const each of [id, ...undoes]) undone.add(each);
  }
  return undone;
}

/**
 * What the commit has at a path. The permission bits are those of the last commit, unless a preview that is committed has set them;
 * those of a new file are as on disk, unless only others have.
 */
async function entryOf(
  applied: Applied,
  at: string,
  { text, from }: Folded,
  isWanted: (previewId: string) => boolean,
): Promise<StoredEntry | null> {
  if (text === null) return null;
  const { index, inHead, onDisk, withMode } = applied;
  const [head, disk] = [inHead.get(from ?? at), onDisk.get(at)];
  const setBy = withMode.get(at) ?? [];
  const ofOthers = setBy.length > 0 ? PLAIN : undefined;
  const mode = (setBy.some(isWanted) ? undefined : (head?.mode ?? ofOthers)) ?? disk?.mode ?? PLAIN;
  const same = [disk, head, inHead.get(at)].find(entry => entry && textIn(entry, applied.contents) === text);
  return { mode, object: same?.object ?? (await index.store(text, 'asIs')) };
}

/** What the user's index has at a path. */
function stagedAt({ staged, inHead }: Applied, at: string): StoredEntry | null {
  return (staged.has(at) ? staged.get(at) : inHead.get(at)) ?? null;
}

/**
 * What the user's index has after the commit: what is staged, with what is committed.
 * @returns `undefined` if the two do not go together.
 */
async function stagedWith(
  applied: Applied,
  at: string,
  { text, base }: Folded,
  entry: StoredEntry | null,
): Promise<StoredEntry | null | undefined> {
  const now = stagedAt(applied, at);
  if (isSameEntry(now, applied.inHead.get(at) ?? null)) return entry;
  const disk = applied.onDisk.get(at) ?? null;
  // What is staged from the file as it is has what is committed, too.
  if (now?.object === entry?.object || now?.object === disk?.object) return now;
  const stagedText = textIn(now, applied.contents);
  if (!now || stagedText === null || text === null || base === null) return undefined;
  const both = await merged(base, stagedText, text);
  return both === undefined ? undefined : { mode: now.mode, object: await applied.index.store(both, 'asIs') };
}

/** A renamed file is committed at both of its paths or at neither. */
function dropHalves(planned: Map<string, PlannedPath>, places: Places, reasons: Reasons): void {
  for (const [at, { from }] of places) {
    if (from === undefined) continue;
    const why = planned.has(at) ? reasons.get(from) : (reasons.get(at) ?? reasons.get(from));
    if (why === undefined || planned.has(at) === planned.has(from)) continue;
    for (const each of [at, from]) if (planned.delete(each)) reasons.set(each, why);
  }
}

function headText({ inHead, contents }: Applied, at: string): Stored {
  return textIn(inHead.get(at), contents);
}

function diskText({ onDisk, contents }: Applied, at: string): Stored {
  return textIn(onDisk.get(at), contents);
}

/** Whether two plans lead from the same repository to the same commit. */
export function isSamePlan(one: CommitPlan, other: CommitPlan): boolean {
  return isDeepStrictEqual(
    { head: one.head, paths: one.paths, previewIds: one.previewIds },
    { head: other.head, paths: other.paths, previewIds: other.previewIds },
  );
}
