import { needsOwnVote, type Preview } from './preview.ts';
import { hasConflict } from './rebase/conflictMarkers.ts';

/** Why an apply of it would be refused as it is: conflicts are left in it, or files are no longer what it was made from. */
export function blockOf(preview: Preview | undefined): 'conflicts' | 'stale' | undefined {
  if (preview?.state.kind !== 'pending') return undefined;
  if (preview.changes?.some(hasConflict)) return 'conflicts';
  return preview.state.stale.length > 0 ? 'stale' : undefined;
}

/** Whether Apply All would apply any of these. @param isEdited whether a proposal has edits that are not saved */
export function appliesAny(open: Iterable<Preview>, isEdited: (id: string) => boolean): boolean {
  // Of those that are applied, the first builds on none of the others.
  const free = [...open].filter(
    each => each.state.kind === 'pending' && !needsOwnVote(each) && !blockOf(each) && !isEdited(each.id),
  );
  if (free.some(({ dependsOn }) => dependsOn.length === 0)) return true;
  const ids = new Set(Array.from(open, ({ id }) => id));
  return free.some(({ dependsOn }) => !dependsOn.some(id => ids.has(id)));
}
