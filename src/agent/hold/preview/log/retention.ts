import { isBinary, textOf, type FileSide } from '../fileChange.ts';
import type { Preview, PreviewState } from '../preview.ts';
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

/**
 * The previews that may be forgotten: those that ended before `until`, and of the others that ended the oldest ones, until the
 * texts of the rest have no more than `mostChars` characters, where a byte of a binary file counts as one. An expired preview must be dismissed first.
 */
export function forgettable(
  previews: readonly Preview[],
  until: Date,
  mostChars: number,
): readonly Preview[] {
  const ended = previews.flatMap(preview => {
    const at = endOf(preview);
    return at === undefined ? [] : [{ preview, at }];
  });
  const counted = new Set<FileSide>();
  let chars = 0;
  const isKept = ({ preview, at }: { readonly preview: Preview; readonly at: number }): boolean => {
    if (at < until.getTime()) return false;
    for (const side of (preview.changes ?? []).flatMap(({ before, after }) =>
      [before ?? [], after ?? []].flat(),
    )) {
      if (!counted.has(side)) chars += isBinary(side) ? side.size : textOf(side).length;
      counted.add(side);
    }
    return chars <= mostChars;
  };
  const forgotten = new Set(
    ended
      // Of those that ended in the same millisecond, the later one is the newer.
      .toReversed()
      .toSorted((a, b) => b.at - a.at)
      .filter(one => !isKept(one))
      .map(({ preview }) => preview),
  );
  return previews.filter(preview => forgotten.has(preview));
}

/** When a preview ended, in milliseconds; `undefined` if it has not, or has expired and was not dismissed. */
function endOf({ state, stagedAt }: Preview): number | undefined {
  switch (state.kind) {
    case 'pending':
    case 'applying':
      return undefined;
    case 'applied':
    case 'discarded':
      return Date.parse(state.by.at);
    case 'expired':
      return state.dismissed === true ? Date.parse(stagedAt) : undefined;
  }
}
