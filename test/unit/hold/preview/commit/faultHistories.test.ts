/** One fault of the disk at a random call of a random history. `npm run test:soak -- faults` plays more. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { playFaults, type FaultStats } from '../../../../support/faultHistories.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

const runs = Number(process.env['RUNS'] ?? 40);
const first = Number(process.env['SEED'] ?? 1);

test('an error, a death or a half write at any call leaves each file as before or as after, and each preview is told as that', async context => {
  const stats: FaultStats = { histories: 0, faults: 0, applies: 0, undos: 0, interrupted: 0 };
  for (let n = 0; n < runs; n++) {
    // Seeds of the processes of a soak are next to each other.
    const seed = first * 1_000_003 + n;
    const folder = await TempFolder.create();
    try {
      await playFaults(folder.root, seed, stats);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    } finally {
      await folder.remove();
    }
  }
  context.diagnostic(JSON.stringify(stats));
  assert.ok(stats.faults > 0 && stats.interrupted > 0 && stats.undos > 0, JSON.stringify(stats));
});
