import { messageOf, StalePreviewError, ToolError } from '../base/errors.ts';
import { sha256, type Sha256 } from '../base/hash.ts';
import { forEachLimited } from '../base/pool.ts';
import { bytesOfSide, stepsOf, type FileChange, type FileSide, type FileStep } from './fileChange.ts';
import type { Workspace } from './workspace.ts';

/** What landing changes did beside writing them. */
export interface LandingReport {
  /** Paths whose change went into an editor that has unsaved changes, and is not on disk yet. */
  readonly unsaved: readonly string[];
}

type Files = Pick<Workspace, 'read' | 'write'>;

/** How many files are read or written side by side: enough to keep the thread pool of the process busy. */
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
 * @param onBeforeWrite awaited after the checks and before the first write.
 * @throws StalePreviewError when a base moved on (nothing was written); ToolError naming the file when a write failed.
 */
export async function landChanges(
  files: Files,
  changes: readonly FileChange[],
  onBeforeWrite: () => Promise<void> = () => Promise.resolve(),
): Promise<LandingReport> {
  const steps = composedSteps(changes);
  const stale = await staleSteps(files, steps);
  if (stale.length > 0) throw new StalePreviewError(stale);
  await onBeforeWrite();
  const done: FileStep[] = [];
  const unsaved: string[] = [];
  let failed: { readonly path: string; readonly error: unknown } | undefined;
  try {
    await forEachLimited(steps, AT_ONCE, async step => {
      try {
        if ((await writeSide(files, step.path, step.after, step.before)) === 'editor')
          unsaved.push(step.path);
        done.push(step);
      } catch (error) {
        failed ??= { path: step.path, error };
        throw error;
      }
    });
  } catch (error) {
    const stuck = await rollBack(files, done);
    if (stuck.length === 0 && error instanceof StalePreviewError) throw error;
    throw new ToolError(failureText(failed?.path ?? '', error, stuck));
  }
  return { unsaved: unsaved.sort() };
}

/** Paths whose content is not the base that the changes were made on. */
export function stalePaths(files: Files, changes: readonly FileChange[]): Promise<string[]> {
  return staleSteps(files, composedSteps(changes));
}

async function staleSteps(files: Files, steps: readonly FileStep[]): Promise<string[]> {
  const stale: string[] = [];
  await forEachLimited(steps, AT_ONCE, async step => {
    const now = await hashNow(files, step.path);
    if (now !== (step.before?.hash ?? null)) stale.push(step.path);
  });
  return stale.sort();
}

/** Hash of what a path holds; a folder or device in its place counts as a base that moved on. */
async function hashNow(files: Files, path: string): Promise<Sha256 | null | undefined> {
  try {
    const bytes = await files.read(path);
    return bytes ? sha256(bytes) : null;
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw new ToolError(`Nothing was written: ${path} could not be read: ${messageOf(error)}`);
  }
}

function writeSide(files: Files, path: string, side: FileSide | null, now: FileSide | null) {
  return files.write(path, side && bytesOfSide(side), now?.hash ?? null);
}

/** Takes written steps back; answers with the paths where that failed. */
async function rollBack(files: Files, done: readonly FileStep[]): Promise<string[]> {
  const stuck: string[] = [];
  await forEachLimited(done, AT_ONCE, async step => {
    try {
      await writeSide(files, step.path, step.before, step.after);
    } catch {
      stuck.push(step.path);
    }
  });
  return stuck.sort();
}

function failureText(path: string, error: unknown, stuck: readonly string[]): string {
  const cause = `${path} could not be written: ${messageOf(error)}.`;
  return stuck.length === 0
    ? `${cause} Nothing was changed.`
    : `${cause} These files could not be restored and hold the new text: ${stuck.join(', ')}.`;
}
