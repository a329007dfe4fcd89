import { ToolError } from '../../base/errors.ts';
import { forEachLimited } from '../../base/pool.ts';
import { stepsOf, type FileChange, type FileStep } from '../fileChange.ts';
import type { Workspace } from '../workspace.ts';

/** What a rollback must know beyond the file changes. It is written to the journal before the first file is. */
export interface RollbackInfo {
  /** Folders that the commit creates, as workspace paths, the outermost first. */
  readonly newFolders: readonly string[];
  /** Permission bits of the files that a change of the commit removes, by path, also if another one creates them again. */
  readonly modes: Readonly<Record<string, number>>;
}

/**
 * Collects the rollback info of changes that have not been written yet.
 * @param steps their net effect.
 * @throws ToolError if a file that the steps remove is read-only.
 */
export async function readRollbackInfo(
  files: Pick<Workspace, 'placeOf'>,
  changes: readonly FileChange[],
  steps: readonly FileStep[],
): Promise<RollbackInfo> {
  const newFolders = new Set<string>();
  const modes = new Map<string, number>();
  const createdOrRemoved = steps.filter(step => !step.before || !step.after);
  const paths = new Set(createdOrRemoved.map(({ path }) => path));
  const replaced = changes.flatMap(stepsOf).filter(({ path, after }) => !after && !paths.has(path));
  await forEachLimited([...createdOrRemoved, ...replaced], 8, async ({ path, after }) => {
    const { mode, missingFolders } = await files.placeOf(path);
    if (after) for (const folder of missingFolders) newFolders.add(folder);
    else if (mode !== undefined) {
      // Refused before the first write: a renamed file would keep its read-only bits, and then could not be rolled back.
      if ((mode & 0o222) === 0)
        throw new ToolError(`${path} could not be written: ${path} is read-only. Nothing was changed.`);
      modes.set(path, mode);
    }
  });
  // Sorting puts a folder before its contents.
  return { newFolders: [...newFolders].sort(), modes: Object.fromEntries(modes) };
}

/** The permission bits that renamed files keep, and those that a change restores, by their new paths. */
export function carriedModes(
  changes: readonly FileChange[],
  { modes }: RollbackInfo,
): ReadonlyMap<string, number> {
  const carried = new Map<string, number>();
  for (const change of changes) {
    if (change.kind === 'create' && change.mode !== undefined) carried.set(change.path, change.mode);
    if (change.kind !== 'rename') continue;
    const mode =
      carried.get(change.from) ?? (Object.hasOwn(modes, change.from) ? modes[change.from] : undefined);
    if (mode !== undefined) carried.set(change.path, mode);
  }
  return carried;
}
