import { composedSteps } from './commit/commitChanges.ts';
import type { FileChange } from './fileChange.ts';

/**
 * The files that are no longer there after these changes, with the path to which their content was renamed; `undefined` where it
 * was deleted.
 */
export function goneFiles(changes: readonly FileChange[]): ReadonlyMap<string, string | undefined> {
  const moved = new Map<string, string | undefined>();
  /** Where what is at a path came from. */
  const origins = new Map<string, string>();
  for (const change of changes) {
    if (change.kind !== 'rename' && change.kind !== 'delete') continue;
    const [from, to] = change.kind === 'rename' ? [change.from, change.path] : [change.path, undefined];
    const origin = origins.get(from) ?? from;
    origins.delete(from);
    moved.set(origin, to);
    if (to !== undefined) origins.set(to, origin);
  }
  const gone = composedSteps(changes).filter(({ before, after }) => before && !after);
  return new Map(gone.map(({ path }) => [path, moved.get(path)]));
}
