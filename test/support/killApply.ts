import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { recoverLandings } from '../../src/agent/preview/recoverLandings.ts';
import { openWorkbench, preparedFolder, statesOf } from './killApplyWork.ts';
import { snapshotOf } from './snapshot.ts';

type Snapshot = Readonly<Record<string, string | undefined>>;

/** What the kills hit. */
export interface KillStats {
  kills: number;
  /** The process died between the first word about a landing and the last: something had to be taken back, or nothing yet. */
  interrupted: number;
  /** Files held the new content when the process died, and were put back. */
  partly: number;
  /** A file held a part of the new content, and was put back. */
  cutOff: number;
  /** Somebody changed a file after the kill and before the restart. */
  editedSince: number;
}

const child = fileURLToPath(new URL('./killApplyChild.ts', import.meta.url));
/** The longest time between the beginning of a landing and the kill, in milliseconds: about its length. */
const MAX_DELAY = 25;
/** So many landings may end before the one that is cut off. */
const MAX_BEFORE = 3;

/**
 * Kills a process at a random moment of applying previews on real files, starts again and checks: all files as before or as
 * after, what a person wrote since untouched, the report right.
 */
export async function killApply(rounds: number): Promise<KillStats> {
  const stats: KillStats = { kills: 0, interrupted: 0, partly: 0, cutOff: 0, editedSince: 0 };
  for (let round = 0; round < rounds; round++) await killOnce(stats, round % 2 === 1);
  return stats;
}

async function killOnce(stats: KillStats, userEdits: boolean): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-kill-'));
  try {
    const root = preparedFolder(folder);
    await runAndKill(folder);
    stats.kills++;
    const edited = path.join(root, 'f3.txt');
    if (userEdits) fs.writeFileSync(edited, 'typed by a person\n');
    const { store, workspace, lock } = await openWorkbench(folder);
    assert.ok(lock, 'the lock of a dead process is taken over');
    const [landing] = store.interruptedLandings;
    const died = snapshotOf(root);
    const reports = await recoverLandings(store, workspace);
    await lock.release();
    const now = snapshotOf(root);
    if (userEdits) {
      stats.editedSince++;
      assert.match(now['f3.txt'] ?? '', /typed by a person\n$/);
    }
    const { odd, even } = statesOf();
    const expected = landing ? (numberOf(landing.ids) % 2 === 1 ? odd : even) : undefined;
    const holds = (state: Record<string, string>): boolean =>
      JSON.stringify(without(now)) === JSON.stringify(without(state));
    const without = ({ 'f3.txt': file, ...others }: Record<string, string>) =>
      userEdits ? others : { 'f3.txt': file, ...others };
    if (expected) assert.deepEqual(differences(without(now), without(expected)), []);
    else assert.ok(holds(odd) || holds(even), 'all or nothing');
    assert.equal(reports.length, landing ? 1 : 0, 'the person is told exactly when something was cut off');
    assert.deepEqual(store.interruptedLandings, []);
    if (!landing) return;
    stats.interrupted++;
    const isWhole = (file: string): boolean => [odd[file], even[file], undefined].includes(died[file]);
    if (Object.keys(odd).some(file => !isWhole(file) && file !== 'f3.txt')) stats.cutOff++;
    assert.equal(store.get(landing.ids[0] ?? '')?.state.kind, 'pending');
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

/** What a write that had not begun to change anything may have left. */
function withoutTemporaries(files: Record<string, string>): Record<string, string> {
  const isTemporary = (file: string): boolean => path.basename(file).startsWith('.redline-');
  return Object.fromEntries(Object.entries(files).filter(([file]) => !isTemporary(file)));
}

async function runAndKill(folder: string): Promise<void> {
  const process_ = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>(resolve => process_.once('exit', () => resolve()));
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
