import type { PreviewState } from '../preview.ts';
import { idsOf, type PreviewLogEntry } from './previewLog.ts';

/**
 * The entries that replace `entry` once the content of the `forgotten` previews is to be removed: none for an entry about
 * those alone, and of a split only the half that stays. Resolutions and expirations stay, for the ledger and the ids need
 * them.
 * @param stateOf the current state of a preview that stays.
 */
export function withoutForgotten(
  entry: PreviewLogEntry,
  forgotten: ReadonlySet<string>,
  stateOf: (id: string) => PreviewState | undefined,
): readonly PreviewLogEntry[] {
  if (entry.type === 'resolved' || entry.type === 'expired') return [entry];
  if (idsOf(entry).every(id => forgotten.has(id))) return [];
  if (entry.type !== 'revised' || !entry.part) return [entry];
  const { part, mark, ...others } = entry;
  const marks = mark === undefined ? {} : { mark };
  const rest = { ...others, ...marks };
  if (forgotten.has(part.id)) return [rest];
  if (!forgotten.has(entry.id)) return [entry];
  const state = stateOf(part.id);
  const stale = state?.kind === 'pending' ? state.stale : [];
  const staged: PreviewLogEntry = { type: 'staged', preview: part, ...marks };
  // A part of a stale preview is stale from the start. If that changed later, a later entry overrides this one.
  return stale.length > 0 ? [staged, { type: 'stale', id: part.id, paths: stale }] : [staged];
}

/** Whether a preview ended before `until`, and so may be forgotten. An expired one must be dismissed first. */
export function endedBefore(
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
