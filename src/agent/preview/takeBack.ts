import { isToolError } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { forEachLimited } from '../base/pool.ts';
import { isCutOff } from './cutOffWrite.ts';
import { bytesOfSide, type FileStep } from './fileChange.ts';
import type { LandingGround } from './landingGround.ts';
import type { Workspace } from './workspace.ts';

/** What taking steps back came to, as paths. Those that held the old content anyway are in none of the lists. */
export interface TakenBack {
  /** They hold the old content again. */
  readonly restored: readonly string[];
  /** They hold neither the old content nor anything that the landing wrote: somebody changed them since. */
  readonly foreign: readonly string[];
  /** The system did not let them be restored. */
  readonly failed: readonly string[];
}

/**
 * Gives files back what they held before these steps, if they hold what the steps wrote, wholly or in part. Any other is left
 * alone. Folders that the landing made and temporary files go.
 */
export async function takeBack(
  files: Pick<Workspace, 'read' | 'write' | 'tidy'>,
  steps: readonly FileStep[],
  { modes, newFolders }: LandingGround,
): Promise<TakenBack> {
  const restored: string[] = [];
  const foreign: string[] = [];
  const failed: string[] = [];
  const paths = steps.map(step => step.path);
  const restore = async (step: FileStep): Promise<void> => {
    const { path, before, after } = step;
    const bytes = await files.read(path);
    const now = bytes ? sha256(bytes) : null;
    if (now === (before?.hash ?? null)) return;
    if (now !== (after?.hash ?? null) && !isCutOff(bytes, step)) return void foreign.push(path);
    await files.write(path, before && bytesOfSide(before), now, modes[path]);
    restored.push(path);
  };
  for (const phase of phasesBack(steps)) {
    await forEachLimited(phase, 8, async step => {
      try {
        await restore(step);
      } catch (error) {
        // A folder in its place, say, or a change in this very moment.
        (isToolError(error) ? foreign : failed).push(step.path);
      }
    });
    await files.tidy(paths, newFolders);
  }
  return { restored: restored.sort(), foreign: foreign.sort(), failed: failed.sort() };
}

/**
 * What was made goes first, for a folder may stand where a file was; between the two groups the new folders go.
 */
function phasesBack(steps: readonly FileStep[]): readonly FileStep[][] {
  return [steps.filter(step => !step.before), steps.filter(step => step.before)];
}
