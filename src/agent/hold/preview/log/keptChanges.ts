import type { FileChange } from '../fileChange.ts';

/**
 * The changes of the revision before, from index `from` up to `to`, which a new revision leaves as they are. Without them, each
 * decision on one file of a preview of thousands would write all the others to the log again.
 */
export interface KeptChanges {
  readonly from: number;
  readonly to: number;
}

/** The changes of a revision, as the log has them. */
export type RevisedChanges = readonly (FileChange | KeptChanges)[];

/** Replaces the changes that are the same objects as in the revision before by their indexes there. */
export function withKept(before: readonly FileChange[], changes: readonly FileChange[]): RevisedChanges {
  const indexOf = new Map(before.map((change, index) => [change, index]));
  const revised: (FileChange | { from: number; to: number })[] = [];
  for (const change of changes) {
    const from = indexOf.get(change);
    const last = revised.at(-1);
    if (from === undefined) revised.push(change);
    else if (last && isKept(last) && last.to === from) last.to++;
    else revised.push({ from, to: from + 1 });
  }
  return revised;
}

/** All changes of a revision; `undefined` if it is not one that follows `before`. */
export function allChanges(
  before: readonly FileChange[],
  revised: RevisedChanges,
): readonly FileChange[] | undefined {
  const isOfBefore = ({ from, to }: KeptChanges): boolean => 0 <= from && from < to && to <= before.length;
  if (!revised.filter(isKept).every(isOfBefore)) return undefined;
  return revised.flatMap(one => (isKept(one) ? before.slice(one.from, one.to) : [one]));
}

export function isKept(one: RevisedChanges[number]): one is KeptChanges {
  return !('kind' in one);
}
