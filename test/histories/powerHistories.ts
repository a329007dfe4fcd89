/** Random histories of previews on a disk of which a power cut leaves only what it may. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import fc from 'fast-check';
import { succeeds } from '../../src/agent/base/async.ts';
import { messageOf } from '../../src/agent/base/errors.ts';
import { withFault } from '../support/diskFaults.ts';
import { DiskHistory, isAs, shown, type Fate } from '../support/diskHistory.ts';
import { Random } from '../support/fuzz/random.ts';
import { ModelDisk, withoutSyncs } from '../support/modelDisk.ts';
import { TempFolder } from '../support/tempFolder.ts';

/** What the cuts met. */
export interface PowerStats {
  histories: number;
  cuts: number;
  /** A start found a commit that had not ended, or files of one that were lost. */
  recovered: number;
  /** The power was cut again during that start. */
  again: number;
  /** Previews whose staging had to be there. */
  staged: number;
  /** Applies that had begun. */
  applies: number;
  /** Processes that died before the cut. */
  deaths: number;
  /** Syncs that failed before it. */
  failed: number;
}

/** How often the power of one history is cut. */
const CUTS = 6;
/** Among about how many calls a process dies. */
const CALLS = 160;

/** For the seeded faults: a seed. */
export const history = fc.nat();

/** Plays the history of a seed. @returns what is wrong with it */
export async function play(seed: number): Promise<readonly string[]> {
  const { root } = await TempFolder.create();
  try {
    await playPowerCuts(root, seed, newStats());
    return [];
  } catch (error) {
    return [messageOf(error instanceof Error && error.cause ? error.cause : error)];
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
}

export function newStats(): PowerStats {
  return { histories: 0, cuts: 0, recovered: 0, again: 0, staged: 0, applies: 0, deaths: 0, failed: 0 };
}

/**
 * Plays one history in an empty folder.
 * @param isWider folders are moved, a restart follows failed syncs, and power may be cut twice during a start
 * @throws AssertionError if more is lost than may be
 */
export async function playPowerCuts(
  folder: string,
  seed: number,
  stats: PowerStats,
  isWider = false,
): Promise<void> {
  const random = new Random(seed);
  /** How many previews were flushed, since when. */
  const flushed: { readonly at: number; readonly count: number }[] = [];
  const history = new DiskHistory(folder, random, (): number => disk.now, isWider);
  const disk = new ModelDisk(folder);
  const play = async (fate?: Fate): Promise<void> => {
    for (let steps = 4 + random.below(10); steps > 0 && fate?.isDead() !== true; steps--) {
      const count = history.staged.length;
      if (random.chance(0.25)) {
        let step: Promise<void> | undefined; // made while the flush runs
        disk.duringPackSync = () => Promise.race([(step ??= history.step(fate)), someTurns()]);
        const isFlushed = await succeeds(history.flush());
        disk.duringPackSync = undefined;
        if (isFlushed) flushed.push({ at: disk.now, count });
        await step;
      } else if (random.chance(0.1)) await succeeds(history.store.forgetResolved(new Date(0)));
      else await history.step(fate);
    }
    await history.close();
  };
  /** Since when the files that were told of until then are on the disk. */
  let safe = { at: Infinity, told: 0 };
  await disk.watch(async () => {
    await history.open(0);
    if (random.chance(0.4)) {
      const at = 1 + random.below(CALLS);
      const made = await withFault(at, random.pick(['death', 'half']), isHit =>
        play({ isHit, isDead: isHit }),
      );
      if (made >= at) stats.deaths++;
      await history.open(0);
      assert.deepEqual((await history.recover()).told, []);
      history.lookBack();
    }
    disk.syncFails = failing(random, stats);
    await play();
    if (!isWider) return;
    disk.syncFails = () => false;
    await history.open(0, true);
    assert.deepEqual((await history.recover()).told, []);
    safe = { at: disk.now, told: history.told.length };
    await play();
  });
  for (const { answered, staged, action } of history.votes)
    if (answered !== undefined && action === 'apply') flushed.push({ at: answered, count: staged });
  stats.histories++;
  const { now } = disk;
  for (let cut = 0; cut < CUTS; cut++) {
    const at = random.below(now + 1);
    disk.cut(at, random);
    stats.cuts++;
    const told = history.told.slice(at >= safe.at ? safe.told : 0);
    for (let more = isWider ? 2 : 1; more > 0 && random.chance(0.3); more--) {
      const second = new ModelDisk(folder);
      await second.watch(() => startAgain(history, told, stats));
      second.cut(random.below(second.now + 1), random);
      stats.again++;
    }
    await withoutSyncs(() => startAgain(history, told, stats));
    const counts = flushed.filter(one => one.at <= at).map(({ count }) => count);
    try {
      check(history, { at, told, flushed: Math.max(0, ...counts) }, stats);
    } catch (error) {
      throw new Error(`cut ${cut} at ${at} of ${now}`, { cause: error });
    }
  }
}

/** Settles when a step that does not wait for the running flush has ended: a flush that rewrites the log holds up what is staged. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
}

/** In some histories, a few syncs in a row fail: of any file, or of those of the workspace. */
function failing(random: Random, stats: PowerStats): (name: string) => boolean {
  const isOfAny = random.chance(0.5);
  let from = random.chance(0.5) ? random.below(isOfAny ? 60 : 20) : Infinity;
  let count = random.chance(0.7) ? 1 : 1 + random.below(6);
  return name => {
    if (!isOfAny && !name.startsWith('workspace')) return false;
    if (from-- > 0 || count-- <= 0) return false;
    stats.failed++;
    return true;
  };
}

/**
 * Files are told of, instead of being ended, only if a line that was half written may have told that a commit ended, or if a sync
 * had failed, which was told.
 */
async function startAgain(history: DiskHistory, told: string[], stats: PowerStats): Promise<void> {
  const unreadable = await history.open();
  const found = await history.recover();
  if (unreadable === 0 && told.length === 0) assert.deepEqual(found.told, []);
  told.push(...found.told);
  stats.recovered += found.commits;
  await history.close();
}

interface Cut {
  readonly at: number;
  /** The files that the person is told of. */
  readonly told: readonly string[];
  /** How many previews must be there. */
  readonly flushed: number;
}

function check(history: DiskHistory, { at, told, flushed }: Cut, stats: PowerStats): void {
  const { store, staged, votes, first } = history;
  for (const id of staged.slice(0, flushed)) {
    structuredClone(store.get(id) ?? assert.fail(`${id} is lost`)); // all of its texts can be read
    stats.staged++;
  }
  const begun = votes.filter(vote => vote.action === 'apply' && vote.begun < at);
  const applied = begun.map(({ ids }) => {
    const count = ids.filter(id => store.get(id)?.state.kind === 'applied').length;
    assert.ok(count === 0 || count === ids.length, `only ${count} of ${ids.join()} are applied`);
    return count > 0;
  });
  stats.applies += begun.length;
  const count = applied.lastIndexOf(true) + 1;
  assert.ok(applied.slice(0, count).every(Boolean), 'the applies have a gap');
  const answered = begun.filter(vote => vote.answered !== undefined && vote.answered <= at).length;
  assert.ok(count >= answered - 1, `${answered} applies were answered, ${count} are recorded`);
  const expected = begun[count - 1]?.after ?? first;
  const now = history.found();
  assert.ok(isAs(now, expected, told), `as after ${count} applies: ${shown(expected)}; but ${shown(now)}`);
}
