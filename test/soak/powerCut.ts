import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parsedJson } from '../../src/agent/base/json.ts';
import { recoverCommits } from '../../src/agent/hold/preview/commit/recovery.ts';
import { completeUnsynced } from '../../src/agent/hold/preview/commit/unsynced.ts';
import { openWorkbench } from './killApplyWork.ts';
import { snapshotOf } from '../support/snapshot.ts';

/** The texts of a workspace by path. */
export type Texts = Readonly<Record<string, string>>;

/** What the process tells that the power is taken from. */
export type PowerEvent =
  | { readonly type: 'applying'; readonly id: string; /** What the files are to be. */ readonly state: Texts }
  | { readonly type: 'applied'; readonly id: string }
  /** The log is on the disk, with these previews. */
  | { readonly type: 'flushed'; readonly ids: readonly string[] };

/** What the cuts hit. */
export interface PowerStats {
  cuts: number;
  /** A commit had begun and its end was not on the disk. */
  interrupted: number;
  /** An applied commit of which the log did not tell that its files were on the disk. */
  unsynced: number;
  /** One of them had lost files, which were written again. */
  completed: number;
  /** Previews whose staging was on the disk. */
  staged: number;
}

const child = fileURLToPath(new URL('./powerCutChild.ts', import.meta.url));
const MEGABYTES = 40;
/** The longest time between the first apply and the cut, in milliseconds: the file system commits its journal each second. */
const MAX_DELAY = 2_500;

/** The files of the workspace before the first preview. */
export function startOf(): Texts {
  return Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [`f${n}.txt`, `some text ${n}\n`.repeat(600)]),
  );
}

/**
 * Cuts the power of a disk with a real ext4 at random moments of a random history: a copy of the file behind the loop device is
 * what the disk had been given, without what the system still held back. Then a fresh start must find each preview whose
 * staging was flushed, and every apply whole or not at all. Root only.
 */
export async function cutPower(rounds: number): Promise<PowerStats> {
  const stats: PowerStats = { cuts: 0, interrupted: 0, unsynced: 0, completed: 0, staged: 0 };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-power-'));
  try {
    const made = path.join(folder, 'made.img');
    fs.writeFileSync(made, '');
    fs.truncateSync(made, MEGABYTES * 1024 * 1024);
    execFileSync('mkfs.ext4', ['-q', '-F', made]);
    await mounted(made, path.join(folder, 'disk'), async root => {
      fs.mkdirSync(path.join(root, 'workspace'));
      for (const [name, text] of Object.entries(startOf()))
        fs.writeFileSync(path.join(root, 'workspace', name), text);
    });
    for (let round = 0; round < rounds; round++) await cutOnce(folder, made, stats);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return stats;
}

async function cutOnce(folder: string, made: string, stats: PowerStats): Promise<void> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  // A name of its own for each: a loop device may still have the one of the last round.
  const [image, cut] = [path.join(folder, `disk${seed}.img`), path.join(folder, `cut${seed}.img`)];
  const mount = path.join(folder, 'disk');
  fs.copyFileSync(made, image);
  const events = await mounted(image, mount, root => runAndCut(root, seed, () => copyAtRest(image, cut)));
  await mounted(cut, mount, root => startAgain(root, events, stats, `seed ${seed}`));
  for (const used of [image, cut]) fs.rmSync(used);
}

async function startAgain(
  root: string,
  events: readonly PowerEvent[],
  stats: PowerStats,
  about: string,
): Promise<void> {
  stats.cuts++;
  const { store, workspace, lock } = await openWorkbench(root);
  stats.interrupted += store.interruptedCommits.length;
  const reports = await recoverCommits(store, workspace);
  stats.unsynced += store.unsyncedCommits.length;
  const later = await completeUnsynced(store, workspace);
  stats.completed += later.filter(({ completed }) => completed.length > 0).length;
  for (const { leftAlone, failed } of reports) assert.deepEqual([...leftAlone, ...failed], [], about);
  for (const { changed, failed } of later) assert.deepEqual([...changed, ...failed], [], about);
  for (const id of events.flatMap(event => (event.type === 'flushed' ? event.ids : []))) {
    assert.ok(store.get(id), `${about}: ${id} was flushed and is lost`);
    stats.staged++;
  }
  const begun = events.flatMap(event => (event.type === 'applying' ? [event] : []));
  const isApplied = begun.map(({ id }) => store.get(id)?.state.kind === 'applied');
  const count = isApplied.lastIndexOf(true) + 1;
  assert.ok(isApplied.slice(0, count).every(Boolean), `${about}: the applies have a gap`);
  // Nothing is written before the log has what came before it.
  const ended = events.filter(({ type }) => type === 'applied').length;
  assert.ok(count >= ended - 1, `${about}: ${ended} applies were answered, ${count} are recorded`);
  const expected = begun[count - 1]?.state ?? startOf();
  const found = Object.entries(snapshotOf(path.join(root, 'workspace'))).filter(
    ([, content]) => content !== 'empty folder',
  );
  const now = Object.fromEntries(found.map(([name, content]) => [name, content.replace(/^\d+ /, '')]));
  const differing = [...Object.keys(now), ...Object.keys(expected)].filter(
    name => now[name] !== expected[name],
  );
  assert.deepEqual([...new Set(differing)], [], about);
  await store.close();
  await lock?.release();
}

/** @param cutNow called while the process stands still, which then is killed. */
async function runAndCut(root: string, seed: number, cutNow: () => void): Promise<readonly PowerEvent[]> {
  const events: PowerEvent[] = [];
  const running = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, root, `${seed}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>(resolve => running.once('close', () => resolve()));
  const lines = createInterface(running.stdout);
  await new Promise<void>((resolve, reject) => {
    lines.on('line', line => {
      const event = parsedJson(line); // the last line may be cut
      if (event !== undefined) events.push(event as PowerEvent);
      resolve();
    });
    running.once('exit', status => reject(new Error(`The process ended by itself with ${status}.`)));
  });
  await delay(Math.random() * MAX_DELAY);
  running.kill('SIGSTOP');
  cutNow();
  running.kill('SIGKILL');
  await ended;
  return events;
}

/** Copies a disk between two writes: two copies in a row are the same. */
function copyAtRest(image: string, copy: string): void {
  for (let last = ''; ;) {
    fs.copyFileSync(image, copy);
    const now = execFileSync('sha256sum', [copy], { encoding: 'utf8' });
    if (now === last) return;
    last = now;
  }
}

async function mounted<T>(image: string, mount: string, work: (root: string) => Promise<T>): Promise<T> {
  fs.mkdirSync(mount, { recursive: true });
  execFileSync('mount', ['-o', 'loop,commit=1', image, mount]);
  try {
    return await work(mount);
  } finally {
    execFileSync('umount', [mount]);
  }
}
