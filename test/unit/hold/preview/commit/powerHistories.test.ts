/** Cuts of the power at random calls of random histories. `npm run test:soak -- disk` plays more. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { newStats, play, playPowerCuts } from '../../../../histories/powerHistories.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

const runs = Number(process.env['RUNS'] ?? 12);
const first = Number(process.env['SEED'] ?? 1);

/** Seeds that found a fault: two torn rollbacks, bits that a link hid, or that came alone, a line without its texts, a sync through a link. */
const FOUND = [1_480_994_058, 717_468_714, 462_266_425, 1_235_637_465, 870_017_245, 16_354_237];

for (const seed of FOUND)
  test(`the histories of seed ${seed}, which found a fault`, async () =>
    assert.deepEqual(await play(seed), []));

test('after a power cut at any call, what was flushed is there, and each apply is whole on the disk or has no effect', async context => {
  const stats = newStats();
  for (let n = 0; n < runs; n++) {
    // Seeds of the processes of a soak are next to each other.
    const seed = first * 1_000_003 + n;
    const folder = await TempFolder.create();
    try {
      await playPowerCuts(folder.root, seed, stats, n % 2 === 1);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    } finally {
      await folder.remove();
    }
  }
  context.diagnostic(JSON.stringify(stats));
  assert.ok(
    stats.recovered > 0 && stats.again > 0 && stats.staged > 0 && stats.applies > 0,
    JSON.stringify(stats),
  );
});
