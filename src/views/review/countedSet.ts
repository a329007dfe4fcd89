import { setOf } from '../../agent/hold/preview/changeSet.ts';
import { isOpen, type Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import type { DiffStat } from '../../agent/hold/text/lineDiff.ts';

/** The most previews of a change set whose hunks are counted. Parts know their number of hunks. */
const MAX_COUNTED = 100;

/** The previews of a change set that count, for all views alike: all of them, decided or not, in the order of staging. */
export interface CountedSet {
  readonly decided: readonly Preview[];
  readonly open: readonly Preview[];
  /** Whether they are too many for their hunks to be counted. */
  readonly isTooLarge: boolean;
}

/** A preview outside any set forms one with its parts. */
export function setKey(preview: Preview): string {
  return setOf(preview).setId ?? preview.part?.previewId ?? preview.id;
}

/** A copy counts in place of its original; expired previews do not count. */
export function countedSet(store: PreviewStore, key: string): CountedSet {
  const all = store.all().filter(each => each.state.kind !== 'expired' && setKey(each) === key);
  const reopened = new Set(all.flatMap(({ reopens }) => reopens ?? []));
  const counted = all.filter(({ id }) => !reopened.has(id));
  return {
    decided: counted.filter(each => !isOpen(each)),
    open: counted.filter(isOpen),
    isTooLarge: counted.filter(({ part }) => !part).length > MAX_COUNTED,
  };
}

/**
 * How many hunks a preview has; `undefined` until they are counted. A preview without hunks counts as one.
 * @param statsOf called only if needed
 */
export function hunkCount(
  preview: Preview,
  statsOf: (preview: Preview) => readonly DiffStat[] | undefined,
): number | undefined {
  const { part, changes } = preview;
  if (part) return part.hunks;
  if (!changes) return 1;
  const stats = statsOf(preview);
  if (!stats || stats.length < changes.length) return undefined;
  return stats.reduce((sum, { hunks }) => sum + Math.max(1, hunks), 0);
}
