import { forEachLimited } from '../../../base/async.ts';
import { ToolError } from '../../../base/errors.ts';
import type { Sha256 } from '../../../base/hash.ts';
import { isText, sideOfBytes, textOf, type FileChange, type FileStep } from '../fileChange.ts';
import { composedSteps, foldersRemovedBy, stepsOf } from '../fileSteps.ts';
import { ledgerEntry, type LedgerEntry } from '../ledger.ts';
import { pathsOf, type Preview } from '../preview.ts';
import type { InterruptedCommit } from '../interruptedCommits.ts';
import { unknownVote } from '../log/previewLog.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { ResolvingFiles } from '../resolve/refusals.ts';
import { appliedText } from '../resolve/voteTexts.ts';
import { hasNothingOf } from '../../text/threeWayMerge.ts';
import { rebaseChange } from '../rebase/rebaseChange.ts';
import { modeSteps } from './commitChanges.ts';
import { hashOf, heldReader, type Held } from './held.ts';
import { isTornWrite, rollBack } from './rollback.ts';
import { carryModes, rightsAfter, type RollbackInfo } from './rollbackInfo.ts';
import { syncWritten, writeAgain } from './syncWritten.ts';
import type { Workspace } from '../workspace.ts';

/** Result of recovering from one interrupted commit. */
export interface RecoveryReport {
  /** The previews that were being committed. */
  readonly previewIds: readonly string[];
  /**
   * `finished`: everything was written, so the previews are applied. `rolledBack`: the previews are pending again.
   * `leftAlone`: the log is damaged and does not show whether the commit ended, or what it wrote; no file was touched, and the
   * previews, if they are known, are pending.
   */
  readonly end: 'finished' | 'rolledBack' | 'leftAlone';
  /** Paths that hold their old content again. */
  readonly restored: readonly string[];
  /** Paths that were left alone, because they hold neither the old nor the new content: they have changed since. */
  readonly leftAlone: readonly string[];
  /**
   * Paths that could not be read or restored because of a file system error, or that lead elsewhere because other folders are open.
   * If there are any, the commit has not ended, and the next start recovers from it again.
   */
  readonly failed: readonly string[];
}

/**
 * State of the content at a path of a commit. `unknown`: it could not be read because of a file system error; `lacking`: neither
 * side, and the content in the editor or on the disk shows that the change was never written there.
 */
type State = 'before' | 'after' | 'torn' | 'other' | 'lacking' | 'unknown';

const noRollbackInfo: RollbackInfo = { newFolders: [], modes: {} };
/** How many files are read concurrently. */
const AT_ONCE = 8;

/**
 * Ends the commits that a crash interrupted, by the write-ahead journal, so that each is complete or had no effect. If everything
 * was written, the commit is recorded as applied. If only some files were, they get their old content back, including those that
 * hold a part of what the commit wrote; a file with any other content is left alone. An unreadable line of the log never leads to
 * undoing something that may have been applied.
 *
 * A commit that did not write everything leaves a file behind that holds its old content, a part of the new one, or the old one
 * with changes by others. If there is no such file, but some hold what was written, the others were changed since, and nothing is
 * undone.
 *
 * Call it only for a log that no other process writes: otherwise, a commit that looks interrupted may still be running.
 */
export async function recoverCommits(
  store: PreviewStore,
  files: ResolvingFiles,
): Promise<readonly RecoveryReport[]> {
  const reports: RecoveryReport[] = [];
  const begun = store.interruptedCommits.flatMap(each =>
    each.said === 'mayHaveBegun' ? [] : [effectOf(each, store)],
  );
  // The last one first: its base shows whether those before it were complete.
  for (const commit of store.interruptedCommits.toReversed()) {
    if (commit.said === 'mayHaveBegun' && begun.length > 0) {
      const effect = effectOf(commit, store);
      if (begun.some(each => hasEffect(each, effect))) continue; // a commit that did begin explains what the files hold
    }
    const report = await recover(commit, store, files);
    if (report) reports.push(report);
  }
  store.dropDoubtfulCommits();
  return reports.reverse();
}

async function recover(
  commit: InterruptedCommit,
  store: PreviewStore,
  files: ResolvingFiles,
): Promise<RecoveryReport | undefined> {
  const { ids: previewIds, said, rollback = noRollbackInfo } = commit;
  const previews = previewsOf(commit, store);
  if (!previews) {
    if (said === 'mayHaveBegun') return undefined;
    await store.endRecovery(previewIds);
    return { previewIds, end: 'leftAlone', restored: [], leftAlone: [], failed: [] };
  }
  const changes = previews.flatMap(preview => preview.changes ?? []);
  const bits = carryModes(changes, new Map(Object.entries(rollback.modes)));
  const onlyBits = modeSteps(changes, rollback, bits);
  const steps = [...composedSteps(changes), ...onlyBits];
  const elsewhere = pathsElsewhere(previews, files);
  if (elsewhere.length > 0)
    return { previewIds, end: 'leftAlone', restored: [], leftAlone: [], failed: elsewhere };
  const foundLater = basesOf(store.ledgerFrom(commit.ledgerBefore), store);
  const held = new Map(await whatIsHeld(files, steps, foundLater));
  for (const { path } of onlyBits)
    if (!foundLater.has(path) && held.get(path) === 'after')
      held.set(path, await bitsHeld(files, path, rollback.modes[path], bits.get(path)));
  for (const step of steps) {
    const { path } = step;
    const state = held.get(path);
    if (state !== 'other' && state !== 'torn') continue;
    const found = foundLater.get(path);
    const lacks = await isLacking(files, step, state, found, rollback.editors).catch(
      () => 'unknown' as const,
    );
    if (lacks !== false) held.set(path, lacks === true ? 'lacking' : lacks);
  }
  const pathsWith = (...what: State[]): string[] =>
    steps.map(({ path }) => path).filter(path => what.includes(held.get(path) ?? 'other'));
  if (pathsWith('after').length === steps.length && (steps.length > 0 || said !== 'mayHaveBegun')) {
    await files.giveRights(rightsAfter(changes, rollback));
    await finish(commit, previews, store);
    await files.tidy(pathsWith('after'), foldersRemovedBy(changes));
    return { previewIds, end: 'finished', restored: [], leftAlone: [], failed: [] };
  }
  if (said === 'mayHaveBegun') return undefined;
  if (said === 'mayHaveEnded' && pathsWith('before').length < steps.length) {
    await store.endRecovery(previewIds);
    // A power cut may have taken the new content of a file, and left it its new bits.
    const withOld = pathsWith('before').filter(path => !foundLater.has(path));
    const ofBits = await Promise.all(
      withOld.map(path => bitsHeld(files, path, rollback.modes[path], bits.get(path))),
    );
    const withNewBits = withOld.filter((_, i) => ofBits[i] !== 'before');
    const leftAlone = [...pathsWith('after', 'torn', 'other', 'lacking', 'unknown'), ...withNewBits].sort();
    return { previewIds, end: 'leftAlone', restored: [], leftAlone, failed: [] };
  }
  const mayBeWhole = pathsWith('before', 'torn', 'lacking').length === 0 && pathsWith('after').length > 0;
  if (mayBeWhole) {
    const failed = pathsWith('unknown').sort();
    if (failed.length > 0) return { previewIds, end: 'leftAlone', restored: [], leftAlone: [], failed };
    await finish(commit, previews, store);
    const paths = steps.map(({ path }) => path);
    await files.tidy(paths, foldersRemovedBy(changes));
    return { previewIds, end: 'finished', restored: [], leftAlone: pathsWith('other').sort(), failed: [] };
  }
  // Changes applied on top of this commit stay, even if the log does not show how this one ended.
  const own = steps.filter(({ path }) => !foundLater.has(path));
  const { restored, foreign, failed: broken } = await rollBack(files, own, rollback, store.blobs);
  // All of them: an earlier start may have restored some, and then died or could not sync them.
  const back = own.filter(({ path }) => ![...foreign, ...broken].includes(path));
  const sides = new Map(back.map(({ path, before }) => [path, before]));
  await writeAgain(files, sides); // a file that cannot be written was not written by the commit, either
  const unsafe = await syncWritten(files, sides);
  const failed = [...broken, ...unsafe.keys()].sort();
  if (failed.length === 0) await store.endRecovery(previewIds);
  const builtOn = pathsWith('after', 'other', 'lacking').filter(path => foundLater.has(path));
  return { previewIds, end: 'rolledBack', restored, leftAlone: [...foreign, ...builtOn].sort(), failed };
}

/** What each path of a commit holds once it is complete. */
function effectOf({ ids }: InterruptedCommit, store: PreviewStore): ReadonlyMap<string, Sha256 | null> {
  const changes = ids.flatMap(id => store.get(id)?.changes ?? []);
  return new Map(composedSteps(changes).map(({ path, after }) => [path, after?.hash ?? null]));
}

function hasEffect(
  whole: ReadonlyMap<string, Sha256 | null>,
  part: ReadonlyMap<string, Sha256 | null>,
): boolean {
  return [...part].every(([path, hash]) => whole.get(path) === hash);
}

/** Paths that lead elsewhere than they did at the commit, because other folders are open. */
function pathsElsewhere(previews: readonly Preview[], files: ResolvingFiles): readonly string[] {
  const paths = previews.flatMap(preview =>
    preview.roots ? [...files.formerPlaces(pathsOf(preview), preview.roots).keys()] : [],
  );
  return [...new Set(paths)].sort();
}

/** The previews of a commit as they were committed; `undefined` if that can no longer be read. */
function previewsOf(
  { ids, revisions, said }: InterruptedCommit,
  store: PreviewStore,
): readonly Preview[] | undefined {
  const previews: Preview[] = [];
  for (const id of ids) {
    const preview = store.get(id);
    if (preview?.kind !== 'files' || preview.state.kind !== 'pending') return undefined;
    if (revisions && revisions[id] !== preview.revision) return undefined;
    if (said !== 'interrupted' && !(preview.changes ?? []).every(hasTexts)) return undefined;
    previews.push(preview);
  }
  return previews;
}

/** Whether the texts of a change can be read: a power cut may have kept a new line of the log, but not the texts that it names. */
function hasTexts({ before, after }: FileChange): boolean {
  try {
    textOf(before);
    textOf(after);
    return true;
  } catch {
    return false;
  }
}

function finish(
  { vote = unknownVote }: InterruptedCommit,
  previews: readonly Preview[],
  store: PreviewStore,
): Promise<void> {
  const message = appliedText(previews, vote.reason, []);
  const ended = { ...vote, action: 'apply', interrupted: true } as const;
  const entries = previews.map(preview => ledgerEntry(preview, ended, 'applied', message));
  return store.endResolving(entries, previews);
}

/**
 * State of a path that a later commit found: the hash, `null` where there was no file, and the content if its preview still has it.
 */
interface Found {
  readonly hash: Sha256 | null;
  readonly side: FileStep['before'];
}

/** States that later commits found, by path. */
function basesOf(later: readonly LedgerEntry[], store: PreviewStore): ReadonlyMap<string, Found> {
  const found = new Map<string, Found>();
  for (const { outcome, kind, files, previewId } of later) {
    if (outcome !== 'applied' || kind !== 'files') continue;
    const steps = (store.get(previewId)?.changes ?? []).flatMap(stepsOf);
    for (const { path, before: hash } of files) {
      if (found.has(path)) continue;
      const own = steps.find(step => step.path === path && (step.before?.hash ?? null) === hash);
      found.set(path, { hash, side: own?.before ?? null });
    }
  }
  return found;
}

/** State of each path after the commit: the one that a later commit found there, else the current one. */
async function whatIsHeld(
  files: Workspace,
  steps: readonly FileStep[],
  foundLater: ReadonlyMap<string, Found>,
): Promise<Map<string, State>> {
  const held = new Map<string, State>();
  const read = heldReader(files, steps);
  await forEachLimited(steps, AT_ONCE, async step => {
    const found = foundLater.get(step.path);
    held.set(step.path, found === undefined ? await heldNow(step, read) : heldAs(found.hash, step));
  });
  return held;
}

/**
 * Whether the change of a step was never written to its file, which holds neither side.
 *
 * A change that was to go into an editor, or would now because there are unsaved changes, counts as written only if the present
 * content has it: an editor that is gone has not changed its file, so the content on disk does not come from a later change. Any
 * other file was changed since, and may have lost the change again; but if others changed only lines that the change leaves alone,
 * it was never there: for example, someone typed into an editor that is gone, which kept the change from being written.
 * @param found the state that a later commit found there, if `state` is about that and not about the current content of the file.
 * @param inEditors the paths whose change was to go into an editor.
 */
async function isLacking(
  files: Workspace,
  step: FileStep,
  state: 'other' | 'torn',
  found: Found | undefined,
  inEditors: readonly string[] = [],
): Promise<boolean> {
  const { path, before, after } = step;
  const isInEditor = inEditors.includes(path) || (await files.placeOf(path)).isUnsaved === true;
  if (!isInEditor && (state === 'torn' || (found && !found.side))) return false;
  if (!before || !after || !isText(before) || !isText(after)) return isInEditor;
  const bytes = found?.side ? undefined : await files.read(path).catch(() => undefined);
  const now = bytes ? sideOfBytes(bytes, before.encoding) : found?.side;
  if (!now || !isText(now)) return isInEditor;
  if (isInEditor) {
    const rebased = await rebaseChange({ kind: 'modify', path, before, after }, now);
    return rebased.kind === 'conflict' || rebased.change !== null;
  }
  if (await hasNothingOf(before.text, now.text, after.text)) return true;
  // A later commit may have found the beginning of an edit near the change, in an editor that is gone.
  return found !== undefined && (await heldNow(step, heldReader(files, [step]))) === 'before';
}

async function heldNow(step: FileStep, read: (step: FileStep) => Promise<Held>): Promise<State> {
  try {
    const now = await read(step);
    const held = heldAs(hashOf(now), step);
    return held === 'other' && isTornWrite(now, step) ? 'torn' : held;
  } catch (error) {
    return error instanceof ToolError ? 'other' : 'unknown'; // a folder stands there, for example
  }
}

/** What the permission bits of a file tell of a write that changes them, from the old ones to the next. */
async function bitsHeld(
  files: Workspace,
  path: string,
  old: number | undefined,
  next: number | undefined,
): Promise<State> {
  if (old === next) return 'before';
  try {
    const { mode } = await files.placeOf(path);
    return mode === next ? 'after' : mode === old ? 'before' : 'other';
  } catch {
    return 'unknown';
  }
}

function heldAs(hash: Sha256 | null, { before, after }: FileStep): State {
  if (hash === (after?.hash ?? null)) return 'after';
  return hash === (before?.hash ?? null) ? 'before' : 'other';
}
