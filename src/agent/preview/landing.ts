import { messageOf, StalePreviewError, ToolError } from '../base/errors.ts';
import { sha256, type Sha256 } from '../base/hash.ts';
import { forEachLimited } from '../base/pool.ts';
import { bytesOfSide, stepsOf, type FileChange, type FileStep } from './fileChange.ts';
import { carriedModes, groundOf, type LandingGround } from './landingGround.ts';
import { takeBack } from './takeBack.ts';
import type { Workspace } from './workspace.ts';

/** What landing changes did beside writing them. */
export interface LandingReport {
  /** Paths whose change went into an editor that has unsaved changes, and is not on disk yet. */
  readonly unsaved: readonly string[];
}

/** What landing needs of the workspace. */
export type LandingFiles = Pick<Workspace, 'read' | 'write' | 'placeOf' | 'tidy'>;

/** How many files are read or written side by side, for workspaces that wait for their disk. */
const AT_ONCE = 8;

/** What changes in a row do to each path, from what it holds before all of them to what it holds after. */
export function composedSteps(changes: readonly FileChange[]): readonly FileStep[] {
  const steps = new Map<string, FileStep>();
  for (const step of changes.flatMap(stepsOf)) {
    const earlier = steps.get(step.path);
    steps.set(step.path, earlier ? { ...earlier, after: step.after } : step);
  }
  return [...steps.values()].filter(({ before, after }) => before?.hash !== after?.hash);
}

/**
 * Lands changes: all files or none. Every base is checked before the first write; a failing write takes back those
 * that were done.
 * @param onBeforeWrite awaited after the checks and before the first write; writes down what taking back must know.
 * @throws StalePreviewError when a base moved on (nothing was written); ToolError naming the file when a write failed.
 */
export async function landChanges(
  files: LandingFiles,
  changes: readonly FileChange[],
  onBeforeWrite: (ground: LandingGround) => Promise<void> = () => Promise.resolve(),
): Promise<LandingReport> {
  const steps = composedSteps(changes);
  const stale = [...brokenPaths(changes), ...(await staleSteps(files, steps))];
  if (stale.length > 0) throw new StalePreviewError([...new Set(stale)].sort());
  const ground = await groundOf(files, steps);
  const modes = carriedModes(changes, ground);
  await onBeforeWrite(ground);
  const begun: FileStep[] = [];
  const done = new Set<string>();
  const unsaved: string[] = [];
  let failed: { readonly path: string; readonly error: unknown } | undefined;
  try {
    for (const phase of phasesOf(steps, ground)) {
      await forEachLimited(phase, AT_ONCE, async step => {
        const { path, before, after } = step;
        begun.push(step);
        try {
          const bytes = after && bytesOfSide(after);
          const to = await files.write(path, bytes, before?.hash ?? null, modes.get(path));
          if (to === 'editor') unsaved.push(path);
          done.add(path);
        } catch (error) {
          failed ??= { path, error };
          throw error;
        }
      });
    }
  } catch (error) {
    // Also what failed: its write may have been cut off.
    const back = await takeBack(files, begun, ground);
    const stuck = [...back.failed, ...back.foreign.filter(path => done.has(path))].sort();
    if (stuck.length === 0 && error instanceof StalePreviewError) throw error;
    throw new ToolError(failureText(failed?.path ?? '', error, stuck));
  }
  return { unsaved: unsaved.sort() };
}

/** What is removed goes last, so that there is less to bring back; except files where a folder is to be. */
function phasesOf(steps: readonly FileStep[], { newFolders }: LandingGround): readonly FileStep[][] {
  const folders = new Set(newFolders);
  const isInTheWay = (step: FileStep): boolean => !step.after && folders.has(step.path);
  return [
    steps.filter(isInTheWay),
    steps.filter(step => step.after),
    steps.filter(step => !step.after && !isInTheWay(step)),
  ];
}

/** Paths whose content is not the base that the changes were made on. */
export function stalePaths(
  files: Pick<Workspace, 'read'>,
  changes: readonly FileChange[],
): Promise<string[]> {
  return staleSteps(files, composedSteps(changes));
}

/** Paths where one of the changes is not made on what the one before it leaves there. */
function brokenPaths(changes: readonly FileChange[]): string[] {
  const held = new Map<string, Sha256 | undefined>();
  const broken: string[] = [];
  for (const { path, before, after } of changes.flatMap(stepsOf)) {
    if (held.has(path) && held.get(path) !== before?.hash) broken.push(path);
    held.set(path, after?.hash);
  }
  return broken;
}

async function staleSteps(files: Pick<Workspace, 'read'>, steps: readonly FileStep[]): Promise<string[]> {
  const stale: string[] = [];
  await forEachLimited(steps, AT_ONCE, async step => {
    const now = await hashNow(files, step.path);
    if (now !== (step.before?.hash ?? null)) stale.push(step.path);
  });
  return stale.sort();
}

/** Hash of what a path holds; a folder or device in its place counts as a base that moved on. */
async function hashNow(files: Pick<Workspace, 'read'>, path: string): Promise<Sha256 | null | undefined> {
  try {
    const bytes = await files.read(path);
    return bytes ? sha256(bytes) : null;
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw new ToolError(`Nothing was written: ${path} could not be read: ${messageOf(error)}`);
  }
}

function failureText(path: string, error: unknown, stuck: readonly string[]): string {
  const cause = `${path} could not be written: ${messageOf(error)}.`;
  return stuck.length === 0
    ? `${cause} Nothing was changed.`
    : `${cause} These files could not be restored and hold new text: ${stuck.join(', ')}.`;
}
