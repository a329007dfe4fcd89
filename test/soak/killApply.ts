import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { recoverCommits } from '../../src/agent/hold/preview/commit/recovery.ts';
import { openWorkbench, preparedFolder, statesOf, WRITES } from './killApplyWork.ts';
import { snapshotOf } from '../support/snapshot.ts';

type Snapshot = Readonly<Record<string, string | undefined>>;

/** What the kills hit. */
export interface KillStats {
  kills: number;
  /** The process died between the journal of a commit and its end, so that there was a commit to roll back. */
  interrupted: number;
  /** All files held their new content when the process died, and the previews are applied. */
  finished: number;
  /** Files held new content when the process died, and were restored. */
  partly: number;
  /** A file held part of the new content, and was restored. */
  torn: number;
  /** A file was edited between the kill and the restart. */
  editedSince: number;
}

const child = fileURLToPath(new URL('./killApplyChild.ts', import.meta.url));
/** The longest time between the beginning of a commit and the kill, in milliseconds: about what a commit takes. */
const MAX_DELAY = 25;
/** Fewer commits than this end before the one that is interrupted. */
const MAX_BEFORE = 3;

/**
 * Kills a process at a random moment while it applies previews to real files, restarts and checks that all files are as before
 * or as after, that what the user wrote since is untouched, and that the report is right.
 */
export async function killApply(rounds: number): Promise<KillStats> {
  const stats: KillStats = { kills: 0, interrupted: 0, finished: 0, partly: 0, torn: 0, editedSince: 0 };
  for (let round = 0; round < rounds; round++) await killOnce(stats, round % 2 === 1, writesOf(round));
  return stats;
}

/** Of four rounds, one ends right after a random write of a commit, and one after the last write of it. */
function writesOf(round: number): number | undefined {
  const before = Math.floor(Math.random() * MAX_BEFORE) * WRITES;
  if (round % 4 === 2) return before + WRITES;
  return round % 4 === 3 ? before + 1 + Math.floor(Math.random() * (WRITES - 1)) : undefined;
}

async function killOnce(
  stats: KillStats,
  userEdits: boolean,
  dieAfterWrites: number | undefined,
): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-kill-'));
  try {
    const root = preparedFolder(folder);
    await runAndKill(folder, dieAfterWrites);
    stats.kills++;
    const edited = path.join(root, 'f3.txt');
    if (userEdits) fs.writeFileSync(edited, 'typed by the user\n');
    const { store, workspace, lock } = await openWorkbench(folder);
    assert.ok(lock, 'the lock of a dead process is taken over');
    const [commit] = store.interruptedCommits;
    const died = snapshotOf(root);
    const reports = await recoverCommits(store, workspace);
    await lock.release();
    const now = snapshotOf(root);
    if (userEdits) {
      stats.editedSince++;
      assert.match(now['f3.txt'] ?? '', /typed by the user\n$/);
    }
    const { odd, even } = statesOf();
    const [before, after] = commit && numberOf(commit.ids) % 2 === 1 ? [odd, even] : [even, odd];
    // The time between the last write and the line that says so: nothing that was applied is undone.
    const without = ({ 'f3.txt': file, ...others }: Record<string, string>) =>
      userEdits ? others : { 'f3.txt': file, ...others };
    // What the user wrote over does not count: nothing else tells that the commit was incomplete.
    const isFinished =
      differences(without(filesIn(withoutTemporaries(died))), without(filesIn(after))).length === 0;
    const expected = commit ? (isFinished ? after : before) : undefined;
    const holds = (state: Record<string, string>): boolean =>
      JSON.stringify(without(now)) === JSON.stringify(without(state));
    if (expected) assert.deepEqual(differences(without(now), without(expected)), []);
    else assert.ok(holds(odd) || holds(even), 'all or nothing');
    assert.equal(reports.length, commit ? 1 : 0, 'the user is told if and only if a commit was interrupted');
    assert.deepEqual(store.interruptedCommits, []);
    if (!commit) return;
    stats.interrupted++;
    assert.deepEqual(
      reports.map(({ end }) => end),
      [isFinished ? 'finished' : 'rolledBack'],
    );
    const id = commit.ids[0] ?? '';
    const outcomes = store
      .ledger()
      .filter(({ previewId, outcome }) => previewId === id && outcome === 'applied');
    assert.equal(outcomes.length, isFinished ? 1 : 0, 'a line in the ledger if and only if it is applied');
    assert.equal(store.get(id)?.state.kind, isFinished ? 'applied' : 'pending');
    if (isFinished) return void stats.finished++;
    const isWhole = (file: string): boolean => [odd[file], even[file], undefined].includes(died[file]);
    if (Object.keys(odd).some(file => !isWhole(file) && file !== 'f3.txt')) stats.torn++;
    if ((reports[0]?.restored.length ?? 0) > 0) stats.partly++;
    else assert.deepEqual(differences(without(withoutTemporaries(died)), without(now)), []);
    assert.deepEqual(reports[0]?.leftAlone, userEdits ? ['f3.txt'] : []);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The files in which two snapshots differ: whole texts would fill the screen. */
function differences(a: Snapshot, b: Snapshot): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(file => a[file] !== b[file]);
}

/** Without empty folders, which remain where files were removed. */
function filesIn(snapshot: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(snapshot).filter(([, content]) => content !== 'empty folder'));
}

/** Without the temporary files of writes that had not changed anything yet. */
function withoutTemporaries(files: Record<string, string>): Record<string, string> {
  const isTemporary = (file: string): boolean => path.basename(file).startsWith('.redline-');
  return Object.fromEntries(Object.entries(files).filter(([file]) => !isTemporary(file)));
}

/** @param dieAfterWrites after how many writes the process kills itself; by default it is killed at a random moment. */
async function runAndKill(folder: string, dieAfterWrites = 0): Promise<void> {
  const process_ = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', child, folder, `${dieAfterWrites}`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = new Promise<void>(resolve => process_.once('exit', () => resolve()));
  if (dieAfterWrites > 0) {
    process_.stdout.resume();
    return ended;
  }
  await new Promise<void>((resolve, reject) => {
    let left = Math.floor(Math.random() * MAX_BEFORE);
    process_.stdout.on('data', () => left-- === 0 && resolve());
    process_.once('exit', status => reject(new Error(`The process ended by itself with ${status}.`)));
  });
  await delay(Math.random() * MAX_DELAY);
  process_.kill('SIGKILL');
  await ended;
}

function numberOf(ids: readonly string[]): number {
  return Number(ids[0]?.slice(1));
}
