import { forEachLimited } from '../../../base/async.ts';
import { messageWithoutPaths, ToolError } from '../../../base/errors.ts';
import { StalePreviewError, UnsavedEditorError } from '../errors.ts';
import type { Sha256 } from '../../../base/hash.ts';
import { listed } from '../../../base/phrases.ts';
import { contentOf, MemoryBlobs, type Blobs } from '../blobs.ts';
import { bytesOfSide, isText, isWhole, type FileChange, type FileStep } from '../fileChange.ts';
import {
  composedSteps,
  emptiedFolders,
  foldersAbove,
  foldersRemovedBy,
  stepsOf,
  touchedSteps,
} from '../fileSteps.ts';
import type { ReadableFiles, Workspace, WrittenTo } from '../workspace.ts';
import { hashOf, heldReader, type Held } from './held.ts';
import { readRollbackInfo } from './readRollbackInfo.ts';
import { rollBack } from './rollback.ts';
import { carryModes, rightsAfter, type RollbackInfo } from './rollbackInfo.ts';
import { syncWritten, type Sides } from './syncWritten.ts';
import { assertWritable } from './wholeSteps.ts';

/** Facts that a commit reports beyond its success. */
export interface CommitReport {
  /** Paths whose change went into an editor that has unsaved changes, and is not on disk yet. */
  readonly unsaved: readonly string[];
}

/** How many files are read or written concurrently. */
const AT_ONCE = 8;

/**
 * Writes changes as one transaction: all files or none. Every base is checked before the first write, and a write that
 * fails rolls back those before it.
 * @param writeJournal awaited after the checks and before the first write. It makes a write-ahead journal durable, from
 *   which an interrupted commit is finished or rolled back at the next start.
 * @param blobs the contents of binary files.
 * @throws StalePreviewError when a base has changed (nothing was written); ToolError naming the file when a write failed.
 */
export async function commitChanges(
  files: Workspace,
  changes: readonly FileChange[],
  writeJournal: (rollback: RollbackInfo) => Promise<void> = () => Promise.resolve(),
  blobs: Blobs = new MemoryBlobs(),
): Promise<CommitReport> {
  const net = await stepsOnBases(files, changes);
  if (net.some(isWhole)) await assertWritable(net, blobs);
  const phases = phasesOf(net, foldersRemovedBy(changes));
  const found = await readRollbackInfo(
    files,
    changes,
    net,
    phases.flatMap(({ emptied }) => emptied),
  );
  const rights = await files.rightsOf(Object.keys(found.modes));
  const rollback = Object.keys(rights).length > 0 ? { ...found, rights } : found;
  const modes = carryModes(changes, new Map(Object.entries(rollback.modes)));
  const [, written, removed] = phases;
  /** Files with a new name and the old text, written once the old name is gone. */
  const renamed: Phase = { steps: [], emptied: [] };
  const named = new Set<FileStep>();
  const left = new Set(removed.steps.map(({ path }) => path));
  written.steps.push(...modeSteps(changes, rollback, modes));
  await writeJournal(rollback);
  const write = async (step: FileStep): Promise<WrittenTo> => {
    const { path, before, after, origin } = step;
    const mode = modes.get(path);
    const expected = before?.hash ?? null;
    if (!origin || !left.has(origin.path)) return writeStep(files, step, expected, mode, blobs);
    if (named.has(step)) return writeStep(files, step, origin.side.hash, mode, blobs);
    const isSame = origin.side.hash === after?.hash && mode === rollback.modes[origin.path];
    const canBeWritten = isText(origin.side) && !isWhole(step);
    if (!(isSame || canBeWritten) || !(await files.addName(origin.path, path, origin.side.hash)))
      return writeStep(files, step, null, mode, blobs);
    named.add(step);
    if (!isSame) renamed.steps.push(step);
    return 'disk';
  };
  /** Steps whose write may have changed something. */
  const begun = new Set<FileStep>();
  const done = new Set<string>();
  /** Paths that could not be written, although their base had not changed. */
  const broken = new Set<string>();
  const unsaved: string[] = [];
  let failed: { readonly path: string; readonly error: unknown } | undefined;
  try {
    for (const { steps: phase, emptied } of [...phases, renamed]) {
      // An old name is removed once the new one would survive a power cut.
      if (phase === removed.steps && phase.length > 0) {
        const created = written.steps.filter(({ before }) => !before);
        const [unsafe] = await syncWritten(files, sidesOf(created, 'after'));
        if (unsafe) {
          const [path, error] = unsafe;
          failed = { path, error };
          throw error;
        }
      }
      await forEachLimited(phase, AT_ONCE, async step => {
        const { path } = step;
        begun.add(step);
        try {
          const to = await write(step);
          if (to === 'editor') unsaved.push(path);
          done.add(path);
        } catch (error) {
          failed ??= { path, error };
          // A file with unexpected content is not touched: someone else wrote it, even if it equals the proposal.
          if (error instanceof StalePreviewError) begun.delete(step);
          else broken.add(path);
          throw error;
        }
      });
      if (emptied.length > 0) await files.tidy([], emptied);
    }
  } catch (error) {
    // Includes the step that failed: its write may be torn.
    const back = await rollBack(files, [...begun], rollback, blobs);
    const left = [...back.failed, ...back.foreign];
    // Not those that are left: one may be a link by now, through which another of these files would be synced.
    const restored = [...begun].filter(({ path }) => !left.includes(path));
    const unsafe = await syncWritten(files, sidesOf(restored, 'before'));
    const stuck = [...back.failed, ...back.foreign.filter(path => done.has(path))].sort();
    if (stuck.length + unsafe.size === 0 && error instanceof StalePreviewError) throw error;
    const unclear = back.foreign.filter(path => broken.has(path));
    const text = failureText(failed?.path ?? '', error, stuck, unclear);
    throw new ToolError(unsafe.size > 0 ? `${text} ${unsafeText([...unsafe.keys()].sort())}` : text);
  }
  await files.giveRights(rightsAfter(changes, rollback));
  return { unsaved: unsaved.sort() };
}

/**
 * Paths with the same content afterwards but other permission bits, because two files were swapped or a change sets the bits.
 * @param modes the bits that files have afterwards, see {@link carryModes}.
 */
export function modeSteps(
  changes: readonly FileChange[],
  rollback: RollbackInfo,
  modes: ReadonlyMap<string, number>,
): readonly FileStep[] {
  return touchedSteps(changes).filter(
    ({ path, before, after }) =>
      before?.hash === after?.hash && modes.has(path) && modes.get(path) !== rollback.modes[path],
  );
}

async function writeStep(
  files: Workspace,
  step: FileStep,
  expected: Sha256 | null,
  mode: number | undefined,
  blobs: Blobs,
): Promise<WrittenTo> {
  const { path, after } = step;
  if (!isWhole(step))
    return files.write(path, after && isText(after) ? bytesOfSide(after) : null, expected, mode);
  await files.replace(path, after && (await contentOf(after, blobs)), expected, mode);
  return 'disk';
}

/**
 * Checks that the files hold all bases of the changes, and returns their net effect. Paths that end up unchanged are checked, too:
 * a later change may recreate the file that an earlier one starts from.
 * @throws StalePreviewError if a base has changed.
 */
async function stepsOnBases(
  files: ReadableFiles,
  changes: readonly FileChange[],
): Promise<readonly FileStep[]> {
  const stale = [...brokenPaths(changes), ...(await stalePaths(files, changes))];
  if (stale.length > 0) throw new StalePreviewError([...new Set(stale)].sort());
  return composedSteps(changes);
}

/** Steps to write concurrently, and folders to remove afterwards if they are empty. */
interface Phase {
  readonly steps: FileStep[];
  readonly emptied: readonly string[];
}

/**
 * Removes files last, so that a rollback has less to restore, unless something new needs their place: a folder may replace a
 * file, or a file a folder with all its contents.
 * @param left folders that are removed at the end if they are empty.
 */
function phasesOf(
  steps: readonly FileStep[],
  left: readonly string[],
): readonly [inTheWay: Phase, written: Phase, removed: Phase] {
  const created = new Set(steps.filter(({ before }) => !before).map(({ path }) => path));
  const folders = new Set([...created].flatMap(foldersAbove));
  const emptiedBy = ({ path }: FileStep): readonly string[] => {
    const above = foldersAbove(path);
    return above.slice(0, above.findIndex(folder => created.has(folder)) + 1);
  };
  const isInTheWay = (step: FileStep): boolean =>
    !step.after && (folders.has(step.path) || emptiedBy(step).length > 0);
  const first = steps.filter(isInTheWay);
  return [
    { steps: first, emptied: [...new Set(first.flatMap(emptiedBy))] },
    { steps: steps.filter(step => step.after), emptied: [] },
    { steps: steps.filter(step => !step.after && !isInTheWay(step)), emptied: left },
  ];
}

/** Paths that no longer hold the base of these changes. */
export async function stalePaths(files: ReadableFiles, changes: readonly FileChange[]): Promise<string[]> {
  const steps = touchedSteps(changes);
  const stale: string[] = [];
  const emptied = emptiedFolders(composedSteps(changes));
  const read = heldReader(files, steps);
  await forEachLimited(steps, AT_ONCE, async step => {
    const { path, before } = step;
    const now = await hashNow(path, () => read(step));
    // A folder that these steps empty makes room for a file. If it holds anything else, writing the file fails.
    const isFree = now === null || (now === undefined && emptied.has(path));
    if (before ? now !== before.hash : !isFree) stale.push(path);
  });
  return stale.sort();
}

/** Paths where a change does not start from the content that the one before it leaves there. */
function brokenPaths(changes: readonly FileChange[]): string[] {
  const held = new Map<string, Sha256 | undefined>();
  const broken: string[] = [];
  for (const { path, before, after } of changes.flatMap(stepsOf)) {
    if (held.has(path) && held.get(path) !== before?.hash) broken.push(path);
    held.set(path, after?.hash);
  }
  return broken;
}

/**
 * Hash of the content at the path of a step, `null` where there is nothing. `undefined`, which equals no base, for a folder or a
 * device.
 */
async function hashNow(path: string, read: () => Promise<Held>): Promise<Sha256 | null | undefined> {
  try {
    return hashOf(await read());
  } catch (error) {
    if (error instanceof UnsavedEditorError)
      throw new ToolError(`Nothing was written: ${error.fact}`, { advice: error.advice });
    if (error instanceof ToolError) return undefined;
    throw new ToolError(`Nothing was written: ${path} could not be read: ${messageWithoutPaths(error)}`);
  }
}

function sidesOf(steps: readonly FileStep[], side: 'before' | 'after'): Sides {
  return new Map(steps.map(step => [step.path, step[side]]));
}

function unsafeText(paths: readonly string[]): string {
  return `The disk reports an error, so these may be lost or damaged after a power cut: ${listed(paths)}.`;
}

/**
 * @param stuck files that hold new text.
 * @param unclear files that hold neither the old nor the new text, because their write failed midway or something else
 *   wrote them at the same moment.
 */
function failureText(
  path: string,
  error: unknown,
  stuck: readonly string[],
  unclear: readonly string[],
): string {
  const cause = `${path} could not be written: ${messageWithoutPaths(error).replace(/\.$/, '')}.`;
  if (stuck.length === 0 && unclear.length === 0) return `${cause} Nothing was changed.`;
  const restored =
    stuck.length === 0
      ? 'All other files are as they were.'
      : `These files could not be restored and hold new text: ${listed(stuck)}.`;
  if (unclear.length === 0) return `${cause} ${restored}`;
  return `${cause} ${restored} Check these, which hold neither the old nor the proposed text: ${listed(unclear)}.`;
}
