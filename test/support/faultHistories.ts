/** Random histories of previews on a real folder, in which one call of the disk fails, or the process dies there. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { withFault, type Fault } from './diskFaults.ts';
import { DiskHistory, isAs, shown, type Vote } from './diskHistory.ts';
import { Random } from './fuzz/random.ts';

/** What a history met. */
export interface FaultStats {
  histories: number;
  /** The fault came before the history had ended. */
  faults: number;
  applies: number;
  undos: number;
  /** A start found a commit that had begun. */
  interrupted: number;
}

const FAULTS: readonly Fault[] = ['error', 'death', 'half'];
/** Among about how many calls of a history the fault is. */
const CALLS = { thatChange: 160, thatAlsoRead: 500 };

/** Plays one history in an empty folder. @throws AssertionError if something is lost, or half done */
export async function playFaults(folder: string, seed: number, stats: FaultStats): Promise<void> {
  const random = new Random(seed);
  const history = new DiskHistory(folder, random);
  assert.equal(await history.open(), 0);
  const fault = random.pick(FAULTS);
  const withReads = random.below(2) === 0;
  const at = 1 + random.below(withReads ? CALLS.thatAlsoRead : CALLS.thatChange);
  let isDead = false;
  const made = await withFault(
    at,
    fault,
    async isHit => {
      const fate = { isHit, isDead: () => isHit() && fault !== 'error' };
      for (let steps = 4 + random.below(10); steps > 0 && !isDead; steps--) {
        await history.step(fate);
        isDead = fate.isDead();
      }
      await history.close();
    },
    withReads,
  );
  stats.histories++;
  stats.applies += history.votes.filter(({ answered }) => answered !== undefined).length;
  stats.undos += history.undos;
  if (made >= at) stats.faults++;
  await startAgain(folder, history, made >= at && fault !== 'error', stats);
}

/** The process is gone; a new one starts. @param died whether it was the fault that ended it */
async function startAgain(
  folder: string,
  history: DiskHistory,
  died: boolean,
  stats: FaultStats,
): Promise<void> {
  const left = history.store;
  assert.equal(await history.open(), 0);
  stats.interrupted += history.store.interruptedCommits.length;
  assert.deepEqual((await history.recover()).told, []);
  const { store, first, staged, votes } = history;
  const last: Omit<Vote, 'action' | 'staged' | 'begun'> = votes.at(-1) ?? {
    before: first,
    after: first,
    ids: [],
    answered: 0,
  };
  const before = died && last.answered === undefined ? last.before : last.after;
  const found = history.found();
  const isAfter = isAs(found, last.after);
  assert.ok(isAfter || isAs(found, before), `half done: ${shown(found)}`);
  for (const id of staged) {
    const [now, then] = [store.get(id) ?? assert.fail(`${id} is lost`), left.get(id)];
    structuredClone(now); // all of its texts can be read
    if (died && last.ids.includes(id)) {
      const isApplied = now.state.kind === 'applied';
      if (!isAs(before, last.after)) assert.equal(isApplied, isAfter, `${id} is ${now.state.kind}`);
    } else if (!died) assert.equal(now.state.kind, then?.state.kind);
    const applies = store
      .ledger()
      .filter(({ previewId, outcome }) => previewId === id && outcome === 'applied');
    assert.equal(applies.length, now.state.kind === 'applied' ? 1 : 0, `${id} in the ledger`);
  }
  assert.deepEqual(
    fs.readdirSync(folder, { recursive: true }).filter(name => String(name).includes('.redline-')),
    [],
  );
  await history.close();
}
