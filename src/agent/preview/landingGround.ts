import { ToolError } from '../base/errors.ts';
import { forEachLimited } from '../base/pool.ts';
import type { FileChange, FileStep } from './fileChange.ts';
import type { Workspace } from './workspace.ts';

/** What taking a landing back must know and the file changes do not tell. It is logged before the first write. */
export interface LandingGround {
  /** Folders that the landing makes, as workspace paths, the outermost first. */
  readonly newFolders: readonly string[];
  /** Permission bits of the files that it removes, by path. */
  readonly modes: Readonly<Record<string, number>>;
}

/**
 * Looks at the places of the files that come and go.
 * @throws ToolError for a read-only file that would go.
 */
export async function groundOf(
  files: Pick<Workspace, 'placeOf'>,
  steps: readonly FileStep[],
): Promise<LandingGround> {
  const newFolders = new Set<string>();
  const modes = new Map<string, number>();
  const comeOrGo = steps.filter(step => !step.before || !step.after);
  await forEachLimited(comeOrGo, 8, async ({ path, after }) => {
    const { mode, missingFolders } = await files.placeOf(path);
    if (after) for (const folder of missingFolders) newFolders.add(folder);
    else if (mode !== undefined) {
      // Found before the first write: a renamed file would bring its bits along, and could not be taken back.
      if ((mode & 0o222) === 0)
        throw new ToolError(`${path} could not be written: ${path} is read-only. Nothing was changed.`);
      modes.set(path, mode);
    }
  });
  // A folder sorts before what is in it.
  return { newFolders: [...newFolders].sort(), modes: Object.fromEntries(modes) };
}

/** The permission bits that a renamed file brings along, by its new path. */
export function carriedModes(
  changes: readonly FileChange[],
  { modes }: LandingGround,
): ReadonlyMap<string, number> {
  const carried = new Map<string, number>();
  for (const change of changes) {
    if (change.kind !== 'rename') continue;
    const mode =
      carried.get(change.from) ?? (Object.hasOwn(modes, change.from) ? modes[change.from] : undefined);
    if (mode !== undefined) carried.set(change.path, mode);
  }
  return carried;
}
