import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { rounds } from '../../support/rounds.ts';
import { history, play } from '../../histories/runtimeSteps.ts';

/**
 * The same histories each time, so that what fails is a change; `npm run test:soak` plays others. `RUNS=… node --test …` runs
 * more; `SEED=… PATH_=…` replays what a failure printed.
 */
const { RUNS, SEED = '1', PATH_ } = process.env;
const parameters = {
  numRuns: Number(RUNS ?? rounds(2_000, 500)),
  timeout: 60_000, // a history that hangs is a failure, too; no other one takes a thousandth of this
  seed: Number(SEED),
  ...(PATH_ === undefined ? {} : { path: PATH_ }),
};

test('I1 to I7 hold over random interleavings of model, human, extension, disk, aborts, failures and reloads', async () => {
  await fc.assert(
    fc.asyncProperty(history, async one => assert.deepEqual(await play(one), [])),
    parameters,
  );
});
