import type { PreviewState } from './preview.ts';
import { idsOf, type PreviewLogEntry } from './previewLog.ts';

/**
 * What stays of an entry once the content of `forgotten` is to be gone: nothing of what is only about those, and of a
 * split what belongs to the half that stays. Resolutions and expirations stay: the ledger and the ids are theirs.
 * @param stateOf the state of those that stay, as it is now.
 */
export function withoutForgotten(
  entry: PreviewLogEntry,
  forgotten: ReadonlySet<string>,
  stateOf: (id: string) => PreviewState | undefined,
): readonly PreviewLogEntry[] {
  if (entry.type === 'resolved' || entry.type === 'expired') return [entry];
  if (idsOf(entry).every(id => forgotten.has(id))) return [];
  if (entry.type !== 'revised' || !entry.part) return [entry];
  const { part, ...rest } = entry;
  if (forgotten.has(part.id)) return [rest];
  if (!forgotten.has(entry.id)) return [entry];
  const state = stateOf(part.id);
  const stale = state?.kind === 'pending' ? state.stale : [];
  const staged: PreviewLogEntry = { type: 'staged', preview: part };
  // What it was stale by when it was split off; a later entry about that has the last word.
  return stale.length > 0 ? [staged, { type: 'stale', id: part.id, paths: stale }] : [staged];
}

/** Whether a preview was over before `until`, so that it may be forgotten. An expired one is not before it is dismissed. */
export function wasOverBefore(
  { state, stagedAt }: { readonly state: PreviewState; readonly stagedAt: string },
  until: Date,
): boolean {
  switch (state.kind) {
    case 'pending':
    case 'applying':
      return false;
    case 'applied':
    case 'discarded':
      return Date.parse(state.by.at) < until.getTime();
    case 'expired':
      return state.dismissed === true && Date.parse(stagedAt) < until.getTime();
  }
}
