import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { history, playChecks } from '../../../histories/checkHistories.ts';

/** `RUNS=… node --test …` runs more; `SEED=… PATH_=…` replays what a failure printed. */
const { RUNS, SEED = '1', PATH_ } = process.env;
const parameters = {
  numRuns: Number(RUNS ?? 1_000),
  seed: Number(SEED),
  ...(PATH_ === undefined ? {} : { path: PATH_ }),
};

test('random histories of checks, votes, edits and other programs: in the mode checked, nothing lands by the model that a green check has not seen byte for byte', async () => {
  const reached = { landed: 0, together: 0, refused: 0, raced: 0 };
  await fc.assert(
    fc.asyncProperty(history, async steps => {
      const { violations, landed, together, refused, raced } = await playChecks(steps);
      assert.deepEqual(violations, []);
      reached.landed += landed;
      reached.together += together;
      reached.refused += refused;
      reached.raced += raced;
    }),
    parameters,
  );
  // Each of them must happen often, or the property says nothing.
  if (PATH_ !== undefined) return;
  for (const [name, count] of Object.entries(reached))
    assert.ok(count * 100 >= parameters.numRuns, `${name}: ${count} in ${parameters.numRuns} histories`);
});
