import { needsOwnVote, type Preview } from './preview.ts';
import { hasConflict } from './rebase/conflictMarkers.ts';

/** Why an apply of it would be refused as it is: conflicts are left in it, or files are no longer what it was made from. */
export function blockOf(preview: Preview | undefined): 'conflicts' | 'stale' | undefined {
  if (preview?.state.kind !== 'pending') return undefined;
  if (preview.changes?.some(hasConflict)) return 'conflicts';
  return preview.state.stale.length > 0 ? 'stale' : undefined;
}

/** Whether Apply All would apply any of these. */
export function appliesAny(open: Iterable<Preview>): boolean {
  // Of those that are applied, the first builds on none of the others.
  const free = [...open].filter(
    each => each.state.kind === 'pending' && !needsOwnVote(each) && !blockOf(each),
  );
  if (free.some(({ dependsOn }) => dependsOn.length === 0)) return true;
  const ids = new Set(Array.from(open, ({ id }) => id));
  return free.some(({ dependsOn }) => !dependsOn.some(id => ids.has(id)));
}

/** How many previews a vote on all of some would resolve, and what keeps others from being applied. */
export interface SetVotes {
  /** Those that Apply would apply: none that needs a vote of its own, that would be refused, or that builds on such a one. */
  readonly apply: number;
  readonly discard: number;
  readonly stale: number;
  readonly conflicts: number;
}

/**
 * What a vote on all of these would do. Those that are not pending count for nothing.
 * @param open all that are open, on which they may build
 */
export function setVotes(these: Iterable<Preview>, open = these): SetVotes {
  const pending = new Map<string, Preview>();
  for (const preview of open) if (preview.state.kind === 'pending') pending.set(preview.id, preview);
  const known = new Map<string, boolean>();
  const isApplied = (preview: Preview): boolean => {
    const before = known.get(preview.id);
    if (before !== undefined) return before;
    known.set(preview.id, true); // breaks a cycle, should a log ever contain one
    const is = !needsOwnVote(preview) && !blockOf(preview) && preview.dependsOn.every(isBelowApplied);
    known.set(preview.id, is);
    return is;
  };
  const isBelowApplied = (id: string): boolean => {
    const below = pending.get(id);
    return below === undefined || isApplied(below);
  };
  const all = [...these].filter(({ id }) => pending.has(id));
  const blocks = all.map(blockOf);
  const count = (why: 'conflicts' | 'stale'): number => blocks.filter(block => block === why).length;
  return {
    ...{ apply: all.filter(isApplied).length, discard: all.length },
    ...{ stale: count('stale'), conflicts: count('conflicts') },
  };
}
