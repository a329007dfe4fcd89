import { suite, test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { history, ProofHistories } from './proofHistories.ts';
import { rounds } from '../../../support/rounds.ts';
import { enginesHere } from '../../../support/sandboxWorld.ts';

/** `npm run test:soak -- proofs` plays more and others; `SEED=… PATH_=… ENGINE=…` replays what a failure printed. */
const { RUNS, SEED = '1', PATH_, ENGINE } = process.env;

for (const engine of (await enginesHere()).filter(each => ENGINE === undefined || each === ENGINE))
  suite(`a check and a full copy of the tree as it would be say the same, engine ${engine}`, () => {
    test('among proposals, votes, edits, builds and commands', async () => {
      const numRuns = Number(RUNS ?? rounds(40, 6));
      const histories = await ProofHistories.create(engine);
      try {
        await fc.assert(
          fc.asyncProperty(history, async steps => assert.deepEqual(await histories.play(steps), [])),
          {
            numRuns,
            seed: Number(SEED),
            endOnFailure: true,
            ...(PATH_ === undefined ? {} : { path: PATH_ }),
          },
        );
        const { reached } = histories;
        console.log(`${engine}, SEED=${SEED}: ${numRuns} histories, ${JSON.stringify(reached)}`);
      } finally {
        await histories.remove();
      }
    });
  });
