import { forEachLimited } from '../../../base/async.ts';
import { contentOf } from '../blobs.ts';
import { bytesOfSide, isText, isWhole, type FileStep } from '../fileChange.ts';
import { composedSteps } from '../fileSteps.ts';
import type { InterruptedCommit } from '../interruptedCommits.ts';
import { pathsOf } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { ResolvingFiles } from '../resolve/refusals.ts';
import { modeSteps } from './commitChanges.ts';
import { hashOf, heldReader, type Held } from './held.ts';
import { isTornWrite } from './rollback.ts';
import { carryModes } from './rollbackInfo.ts';
import { syncWritten, writeAgain } from './syncWritten.ts';

/** Outcome for the files of an applied commit that a power cut may have taken. */
export interface UnsyncedReport {
  readonly previewIds: readonly string[];
  /** Files that were lost or torn, and that Redline wrote again. */
  readonly completed: readonly string[];
  /** Files with another content than the decided one: they have changed since. */
  readonly changed: readonly string[];
  /** Files that could not be read or written, or that lead elsewhere because other folders are open. The next start tries again. */
  readonly failed: readonly string[];
}

/** How many files are compared concurrently. */
const AT_ONCE = 8;

/**
 * Compares the files of applied commits with their decided content, unless the log records that they would survive a power cut.
 * Writes all of them again, also those that are as decided, since their sync may have failed, but no file that has changed since.
 * Nothing was applied on top of a commit before its files were synced, so only the last commit of each file counts.
 * @param isElses whether a file belongs to somebody who cannot be seen in the ledger of `store`: it is left as it is.
 * @returns the commits with a file that is or was not as decided.
 */
export async function completeUnsynced(
  store: PreviewStore,
  files: ResolvingFiles,
  isElses: (path: string) => boolean = () => false,
): Promise<readonly UnsyncedReport[]> {
  const reports: UnsyncedReport[] = [];
  const synced: string[] = [];
  for (const commit of store.unsyncedCommits) {
    const report = await complete(commit, store, files, isElses);
    if (report.failed.length === 0) synced.push(...commit.ids);
    if (report.completed.length + report.changed.length + report.failed.length > 0) reports.push(report);
  }
  if (synced.length > 0) await store.recordSynced(synced);
  return reports;
}

async function complete(
  { ids: previewIds, ledgerBefore, rollback }: InterruptedCommit,
  store: PreviewStore,
  files: ResolvingFiles,
  isElses: (path: string) => boolean,
): Promise<UnsyncedReport> {
  const previews = previewIds.flatMap(id => store.get(id) ?? []);
  const elsewhere = previews.flatMap(preview =>
    preview.roots ? [...files.formerPlaces(pathsOf(preview), preview.roots).keys()] : [],
  );
  if (elsewhere.length > 0) return { previewIds, completed: [], changed: [], failed: elsewhere.sort() };
  const later = store.ledgerFrom(ledgerBefore);
  const touchedLater = new Set([
    ...(rollback?.editors ?? []),
    ...later.flatMap(({ previewId, outcome, files }) =>
      outcome !== 'applied' || previewIds.includes(previewId) ? [] : files.map(({ path }) => path),
    ),
  ]);
  // Pending again: the applied change did not stay, which was reported.
  const isLost = previews.some(({ state }) => state.kind !== 'applied');
  const changes = isLost ? [] : previews.flatMap(preview => preview.changes ?? []);
  const oldModes = rollback?.modes ?? {};
  const modes = carryModes(changes, new Map(Object.entries(oldModes)));
  const onlyBits = rollback ? modeSteps(changes, rollback, modes) : [];
  const steps = [...composedSteps(changes), ...onlyBits].filter(({ path }) => !touchedLater.has(path));
  const completed: string[] = [];
  const changed: string[] = [];
  const failed = new Set<string>();
  const left: string[] = [];
  const read = heldReader(files, steps);
  const compare = async (step: FileStep): Promise<void> => {
    const held = await read(step);
    if (isElses(step.path)) return void left.push(step.path);
    if (hashOf(held) === (step.after?.hash ?? null)) {
      const oldMode = oldModes[step.origin?.path ?? step.path];
      const mode = modes.get(step.path) ?? oldMode;
      if (mode === oldMode || (await files.placeOf(step.path)).mode !== oldMode) return;
    } else {
      const old = [step.before?.hash ?? null, step.origin?.side.hash];
      if (!old.includes(hashOf(held)) && !isTornWrite(held, step)) return void changed.push(step.path);
    }
    await write(step, held, modes.get(step.path), store, files);
    completed.push(step.path);
  };
  // New names first, as when it was applied.
  for (const phase of [steps.filter(({ after }) => after), steps.filter(({ after }) => !after)])
    await forEachLimited(phase, AT_ONCE, step => compare(step).catch(() => void failed.add(step.path)));
  const paths = steps.map(({ path }) => path);
  const sides = new Map(steps.map(({ path, after }) => [path, after]));
  for (const path of [...changed, ...failed, ...left]) sides.delete(path);
  for (const path of (await writeAgain(files, sides)).keys()) failed.add(path);
  for (const path of (await syncWritten(files, sides)).keys()) failed.add(path);
  await files.tidy(paths, []);
  return { previewIds, completed: completed.sort(), changed: changed.sort(), failed: [...failed].sort() };
}

async function write(
  step: FileStep,
  held: Held,
  mode: number | undefined,
  { blobs }: PreviewStore,
  files: ResolvingFiles,
): Promise<void> {
  const { path, after } = step;
  const now = hashOf(held);
  if (isWhole(step)) await files.replace(path, after && (await contentOf(after, blobs)), now, mode);
  else await files.write(path, after && isText(after) ? bytesOfSide(after) : null, now, mode);
}
