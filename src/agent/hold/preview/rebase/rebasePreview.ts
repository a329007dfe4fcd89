import type { TimeSlice } from '../../../base/async.ts';
import { isWhole, type FileChange, type FileSide } from '../fileChange.ts';
import { emptiedFolders, stepsOf } from '../fileSteps.ts';
import type { Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import { Bases, type Base, type BasesOptions } from './bases.ts';
import { hasConflict } from './conflictMarkers.ts';
import { rebaseChange } from './rebaseChange.ts';

/** Rebases a pending preview as a new revision where its bases have changed; if that fails, the preview becomes stale. */
export async function rebasePreview(options: BasesOptions, id: string, slice: TimeSlice): Promise<void> {
  const { store } = options;
  const preview = store.get(id);
  if (preview?.kind !== 'files' || preview.state.kind !== 'pending') return;
  const bases = new Bases(options, preview);
  const stale: string[] = [];
  const changes: FileChange[] = [];
  const dependsOn = new Set<string>();
  /** Results of the earlier changes of this preview, by path. */
  const own = new Map<string, FileSide | null>();
  const emptied = emptiedFolders(preview.changes.flatMap(stepsOf));
  const baseOf = async (path: string, expected: FileSide | null, whole: boolean): Promise<Base['side']> => {
    const made = own.get(path);
    if (made !== undefined) return made;
    const base = await bases.of(path, expected, whole);
    if (base.from !== undefined) dependsOn.add(base.from);
    // A folder from which this preview removes files makes room for a new one. If others remain, the apply fails.
    const isEmptied = base.side === 'unreadable' && base.from === undefined && emptied.has(path);
    return isEmptied && expected === null ? null : base.side;
  };
  for (const change of preview.changes) {
    await slice.turn();
    const path = change.kind === 'rename' ? change.from : change.path;
    const base = await baseOf(path, change.before, isWhole(change));
    const isFree = change.kind !== 'rename' || (await baseOf(change.path, null, isWhole(change))) === null;
    const rebased = base === 'unreadable' || !isFree ? undefined : await rebaseChange(change, base);
    if (rebased?.kind !== 'clean' || (rebased.change && hasConflict(rebased.change))) {
      stale.push(change.path);
      continue;
    }
    if (rebased.change) changes.push(rebased.change);
    for (const step of stepsOf(rebased.change ?? change)) own.set(step.path, step.after);
  }
  // If it was resolved or revised meanwhile, this result is outdated.
  const now = store.get(id);
  if (now?.state.kind !== 'pending') return;
  if (now.revision !== preview.revision) return rebasePreview(options, id, slice);
  const unchanged =
    changes.length === preview.changes.length && changes.every((change, i) => change === preview.changes[i]);
  if (stale.length > 0 || changes.length === 0) {
    const paths = stale.length > 0 ? stale : preview.changes.map(change => change.path);
    if (paths.join('\n') !== now.state.stale.join('\n')) await store.markStale(id, paths);
  } else if (!unchanged || !waitsFor(store, preview, dependsOn)) {
    await store.rebase(id, changes, [...dependsOn]);
  } else if (now.state.stale.length > 0) {
    await store.markStale(id, []);
  }
}

/** Whether the preview already depends on all of these, perhaps through others. */
function waitsFor(store: PreviewStore, preview: Preview, ids: ReadonlySet<string>): boolean {
  const blockers = new Set(store.open.blockersOf(preview).map(({ id }) => id));
  return [...ids].every(id => blockers.has(id));
}
