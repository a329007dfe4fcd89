import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { history, play } from '../../../../../histories/editorHistories.ts';
import { rounds } from '../../../../../support/rounds.ts';

/** The same histories each time; `RUNS=… SEED=… node --test …` plays others. */
const { RUNS, SEED = '1', PATH_ } = process.env;

test('what is applied stays, or the ledger says that it did not, whatever an editor does at which moment', async () => {
  await fc.assert(
    fc.asyncProperty(history, async steps => assert.deepEqual(await play(steps), [])),
    {
      numRuns: Number(RUNS ?? rounds(2_000, 300)),
      seed: Number(SEED),
      ...(PATH_ === undefined ? {} : { path: PATH_ }),
    },
  );
});
