import { forEachLimited } from '../../../base/async.ts';
import { ToolError } from '../../../base/errors.ts';
import { isLink, type FileChange, type FileStep } from '../fileChange.ts';
import { foldersAbove, losesBits, stepsOf } from '../fileSteps.ts';
import type { ReadableFiles } from '../workspace.ts';
import { removedLinkAbove } from './held.ts';
import { oneFileText, type RollbackInfo } from './rollbackInfo.ts';

/**
 * Collects the rollback info of changes that have not been written yet.
 * @param steps their net effect.
 * @param folders those that may be removed.
 * @throws ToolError if a file that the changes remove, or whose bits they set, is read-only, or two paths are names of one file.
 */
export async function readRollbackInfo(
  files: ReadableFiles,
  changes: readonly FileChange[],
  steps: readonly FileStep[],
  folders: readonly string[] = [],
): Promise<RollbackInfo> {
  const newFolders = new Set<string>();
  const modes = new Map<string, number>();
  const folderModes = new Map<string, number>();
  const editors: string[] = [];
  const pathOfFile = new Map<string, string>();
  const all = [...changes.flatMap(stepsOf), ...steps];
  const set = changes.filter(
    change => change.kind === 'modify' && (change.mode !== undefined || losesBits(change)),
  );
  /** The side at each path now: the one before the first step there. */
  const now = new Map(all.toReversed().map(({ path, before }) => [path, before]));
  const linkAbove = removedLinkAbove(steps);
  const created = new Set(all.filter(step => !step.before).map(({ path }) => path));
  const left = new Set([...all.filter(step => !step.after), ...set].map(({ path }) => path));
  await forEachLimited([...new Set(all.map(({ path }) => path))], 8, async path => {
    const { mode, missingFolders, isUnsaved, id } = await files.placeOf(path);
    const link = linkAbove(path);
    if (link !== undefined) {
      // The present content is behind the link.
      for (const folder of foldersAbove(path)) if (folder.length >= link.length) newFolders.add(folder);
      return;
    }
    const side = now.get(path);
    if (side && isLink(side)) return; // these changes do not touch the bits and the content of its target
    const other = id === undefined ? undefined : pathOfFile.get(id);
    if (other !== undefined) throw new ToolError(`${oneFileText(other, path)} Nothing was changed.`);
    if (id !== undefined) pathOfFile.set(id, path);
    if (isUnsaved) editors.push(path);
    if (created.has(path)) for (const folder of missingFolders) newFolders.add(folder);
    if (!left.has(path) || mode === undefined) return;
    // Refused before the first write: with its bits it could be written, and a renamed file could not be rolled back.
    if ((mode & 0o222) === 0)
      throw new ToolError(`${path} could not be written: ${path} is read-only. Nothing was changed.`);
    modes.set(path, mode);
  });
  await forEachLimited(folders, 8, async folder => {
    const { mode } = await files.placeOf(folder);
    if (mode !== undefined) folderModes.set(folder, mode);
  });
  return {
    // Sorting puts a folder before its contents.
    newFolders: [...newFolders].sort(),
    modes: Object.fromEntries(modes),
    ...(folderModes.size > 0 ? { folderModes: Object.fromEntries(folderModes) } : {}),
    ...(editors.length > 0 ? { editors: editors.sort() } : {}),
  };
}
