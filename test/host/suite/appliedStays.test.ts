import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { configure, play, type Played } from '../support/applied/play.ts';
import { nameOf, roundsOf } from '../support/applied/rounds.ts';
import { Voters } from '../support/applied/voters.ts';
import { activateRedline, cleanUp } from '../support/redline.ts';

/** The same rounds each time; `npm run test:soak -- editors` plays others, and more. */
const { SEED = '1', REDLINE_ROUNDS = '12' } = process.env;
/** How many are one test. */
const TOGETHER = 6;

suite('what is applied stays, or the ledger says that it did not', () => {
  let api: RedlineApi;
  let voters: Voters;
  const ends: Played['end'][] = [];
  const settings = new Map<string, unknown>();

  suiteSetup(async () => {
    api = await activateRedline();
    voters = await Voters.start(api);
    for (const key of ['files.autoSave', 'files.autoSaveDelay', 'files.saveConflictResolution'])
      settings.set(key, vscode.workspace.getConfiguration().inspect(key)?.globalValue);
  });

  suiteTeardown(async () => {
    const counts = Object.entries(Object.groupBy(ends, end => end)).map(
      ([end, all]) => `${all.length} ${end}`,
    );
    console.log(`      ${ends.length} rounds: ${counts.sort().join(', ')}`);
    await configure(Object.fromEntries(settings));
    await cleanUp(api);
    await voters.close();
  });

  const rounds = roundsOf(Number(SEED), Number(REDLINE_ROUNDS));
  for (let from = 0; from < rounds.length; from += TOGETHER) {
    const some = rounds.slice(from, from + TOGETHER);
    test(`rounds ${from + 1} to ${from + some.length} of seed ${SEED}`, async function () {
      this.timeout(0);
      const wrong: string[] = [];
      for (const [n, round] of some.entries()) {
        const played = await play(api, voters, round);
        ends.push(played.end);
        wrong.push(...played.wrong.map(what => `round ${from + n + 1} (${nameOf(round)}): ${what}`));
      }
      assert.deepEqual(wrong, []);
    });
  }
});
