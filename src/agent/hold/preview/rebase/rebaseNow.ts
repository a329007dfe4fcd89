import { TimeSlice } from '../../../base/async.ts';
import { ToolError } from '../../../base/errors.ts';
import { changeOf, isWhole, type FileChange, type FileSide } from '../fileChange.ts';
import { Bases, type BasesOptions } from './bases.ts';
import { conflictPaths } from './conflictMarkers.ts';
import { rebaseChange } from './rebaseChange.ts';

/**
 * Rebases a stale preview at the user's request, even where that takes a decision: a conflict becomes markers in the proposal,
 * which stays stale until they are resolved; a change that replaces or deletes a changed file now shows its effect on that file.
 * @returns the paths with conflicts.
 * @throws ToolError if a preview beneath it is stale itself, or a file cannot be read.
 */
export async function rebaseNow(options: BasesOptions, id: string): Promise<readonly string[]> {
  const { store } = options;
  const preview = store.get(id);
  if (preview?.kind !== 'files' || preview.state.kind !== 'pending') return [];
  const bases = new Bases(options, preview);
  const slice = new TimeSlice();
  const changes: FileChange[] = [];
  const dependsOn = new Set<string>();
  for (const change of preview.changes) {
    await slice.turn();
    const path = change.kind === 'rename' ? change.from : change.path;
    const { side, from, reason } = await bases.of(path, change.before, isWhole(change), store.blobs);
    if (from !== undefined) dependsOn.add(from);
    if (side === 'unreadable') {
      throw new ToolError(
        from === undefined
          ? (reason ?? `${change.path} can no longer be read.`)
          : `${from}, which it builds on, is stale itself. Rebase that first.`,
      );
    }
    const rebased = await rebaseChange(change, side);
    const next = rebased.kind === 'clean' ? rebased.change : onBase(change, side, rebased.marked);
    if (next) changes.push(next);
  }
  if (store.get(id) !== preview) throw new ToolError(`${id} changed in the meantime. Look at it again.`);
  if (changes.length === 0) {
    throw new ToolError(`The files already hold what ${id} proposes, or are gone. Discard it.`);
  }
  await store.revise(id, changes, [...dependsOn], 'rebase');
  const paths = conflictPaths(changes);
  if (paths.length > 0) await store.markStale(id, paths);
  return paths;
}

/** A conflicting change for the user to see, as a change of the current content. */
function onBase(
  change: FileChange,
  base: FileSide | null,
  marked: FileSide | undefined,
): FileChange | undefined {
  if (change.kind === 'rename' && base) return { ...change, before: base, after: marked ?? change.after };
  return changeOf(change.path, base, marked ?? change.after);
}
