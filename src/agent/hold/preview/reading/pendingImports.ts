import { textOf, type FileChange } from '../fileChange.ts';
import type { Preview } from '../preview.ts';
import { exportsOf } from './exports.ts';
import { ImportTargets } from './imports.ts';
import { importsOnce } from './readingOrder.ts';

/** An import of a file or name that exists only once another pending change is applied. */
export interface PendingImport {
  /** The file that imports. */
  readonly path: string;
  /** The change that creates the imported file, moves it there, or adds the imported names to it. */
  readonly change: FileChange;
  /** The preview that the change belongs to. */
  readonly preview: Preview;
}

/**
 * Imports that applying some changes would break, since their targets are still pending; then those that would break if these
 * targets were applied as well, and so on.
 * @param taken some of the changes of `pending`, perhaps with the text that only one of their hunks makes
 */
export function pendingImports(
  taken: readonly FileChange[],
  pending: readonly Preview[],
): readonly PendingImport[] {
  const own = new Set(taken.map(({ path }) => path));
  const others = pending
    .flatMap(preview => (preview.changes ?? []).map(change => ({ preview, change })))
    .filter(({ change }) => change.kind !== 'delete' && !own.has(change.path));
  if (others.length === 0) return [];
  const targets = new ImportTargets(others.map(({ change }) => change.path));
  const byPath = Map.groupBy(others, ({ change }) => change.path);
  const found = new Map<FileChange, PendingImport>();
  const following = [...taken];
  for (const importing of following) {
    const { path } = importing;
    for (const each of importsOnce(importing))
      for (const target of targets.of(path, each))
        for (const other of byPath.get(target) ?? []) {
          if (found.has(other.change) || !brings(other.change, each.names)) continue;
          found.set(other.change, { path, ...other });
          following.push(other.change);
        }
  }
  return [...found.values()];
}

/** Whether a change brings the file, or one of the names that are imported from it. */
function brings(change: FileChange, names: readonly string[]): boolean {
  if (change.kind === 'create' || change.kind === 'rename') return true;
  const [before, after] = [change.before, change.after].map(side => exportsOf(change.path, textOf(side)));
  return names.some(name => before?.has(name) === false && after?.has(name) === true);
}
