import { TimeSlice } from '../../../base/async.ts';
import type { Sha256 } from '../../../base/hash.ts';
import { isBinary, textOf, type FileSide } from '../fileChange.ts';
import type { Preview, PreviewState } from '../preview.ts';
import type { PreviewProjection } from '../previewProjection.ts';
import type { Contents } from './contents.ts';
import { sidesIn } from './storedChanges.ts';
import { idsOf, type PreviewLogEntry, type PreviewLogSink } from './previewLog.ts';

/** How many of the last decisions stay in the log, whether their previews stay or not. */
const LAST_DECISIONS = 1_000;

/**
 * The entries that replace `entry` when the content of previews that are gone is to be removed: none for an entry about those
 * alone, and of a split only the half that stays. Resolutions and expirations stay, because the ledger and the ids need them.
 * @param stateOf the current state of a preview that stays.
 */
function withoutForgotten(
  entry: PreviewLogEntry,
  isGone: (id: string) => boolean,
  stateOf: (id: string) => PreviewState | undefined,
): readonly PreviewLogEntry[] {
  if (entry.type === 'resolved' || entry.type === 'expired' || entry.type === 'archived') return [entry];
  if (idsOf(entry).every(isGone)) return [];
  if (entry.type !== 'revised' || !entry.part) return [entry];
  const { part, mark, ...others } = entry;
  const marks = mark === undefined ? {} : { mark };
  const rest = { ...others, ...marks };
  if (isGone(part.id)) return [rest];
  if (!isGone(entry.id)) return [entry];
  const state = stateOf(part.id);
  const stale = state?.kind === 'pending' ? state.stale : [];
  const staged: PreviewLogEntry = { type: 'staged', preview: part, ...marks };
  // A part of a stale preview is stale from the start. If that changed later, a later entry overrides this one.
  return stale.length > 0 ? [staged, { type: 'stale', id: part.id, paths: stale }] : [staged];
}

/**
 * Previews that may be forgotten: those that ended before `until`, and of the other ended ones the oldest, until the contents of
 * the rest take no more than `mostBytes`, each counted once, by its stored size. An expired preview must be dismissed first.
 */
function forgettable(
  previews: readonly Preview[],
  until: Date,
  mostBytes: number,
  contents?: Contents,
): readonly Preview[] {
  const ended = previews.flatMap(preview => {
    const at = endOf(preview);
    return at === undefined ? [] : [{ preview, at }];
  });
  const counted = new Set<string>();
  const sizeOf = (side: FileSide): number =>
    isBinary(side) ? side.size : (contents?.sizeOf(side.hash) ?? textOf(side).length);
  let bytes = 0;
  const isKept = ({ preview, at }: { readonly preview: Preview; readonly at: number }): boolean => {
    if (at < until.getTime()) return false;
    for (const side of sidesIn(preview.changes ?? [])) {
      if (!counted.has(side.hash)) bytes += sizeOf(side);
      counted.add(side.hash);
    }
    return bytes <= mostBytes;
  };
  // Of those that ended in the same millisecond, the later one is the newer.
  const newestFirst = ended.toReversed().toSorted((a, b) => b.at - a.at);
  return newestFirst.filter(one => !isKept(one)).map(({ preview }) => preview);
}

async function hashesOf(previews: readonly Preview[]): Promise<ReadonlySet<Sha256>> {
  const hashes = new Set<Sha256>();
  const slice = new TimeSlice();
  for (const preview of previews) {
    for (const { hash } of sidesIn(preview.changes ?? [])) hashes.add(hash);
    await slice.turn();
  }
  return hashes;
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

/**
 * Removes the {@link forgettable} previews from memory and from the log, and from the storage the contents that only they named.
 * @returns the ids of those that stay although some of their content is gone or damaged
 */
export async function forget(
  { projection, log }: { readonly projection: PreviewProjection; readonly log: PreviewLogSink },
  until: Date,
  mostBytes: number,
  tell: (preview: Preview) => void,
): Promise<readonly string[]> {
  const forgotten = forgettable(projection.all(), until, mostBytes, log.contents);
  const named = (): Promise<ReadonlySet<Sha256>> => hashesOf(projection.all());
  const isGone = (id: string): boolean => !projection.get(id) && !projection.isInterrupted(id);
  let older = 0;
  const isLong = projection.ledger
    .slice(0, -LAST_DECISIONS)
    .some(({ previewId }) => isGone(previewId) && ++older > LAST_DECISIONS);
  if (forgotten.length === 0 && !isLong && !(await log.isOversized?.(await named()))) return [];
  for (const { id } of forgotten) projection.delete(id);
  for (const preview of forgotten) tell(preview);
  const compact = (): Promise<void> => {
    const last = new Set(projection.ledger.slice(-LAST_DECISIONS).map(({ previewId }) => previewId));
    return log.compact(entry => withoutForgotten(entry, isGone, id => projection.get(id)?.state), {
      takes: entry => entry.type === 'resolved' && idsOf(entry).every(id => isGone(id) && !last.has(id)),
      last: `p${projection.lastNumber}`,
      moved: entries => projection.dropAttempts(entries),
    });
  };
  const gone = await (log.contents?.move(named, compact) ?? compact());
  return projection
    .all()
    .filter(preview => sidesIn(preview.changes ?? []).some(({ hash }) => gone?.has(hash)))
    .map(({ id }) => id);
}
