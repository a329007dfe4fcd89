import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilLaterSecond } from '../../../../src/agent/sandbox/view/layers.ts';

/** The kernel stamps a file with the time of its last tick; with 100 ticks in a second, that is up to this long ago. */
const LAG = 10;

test('what is put into a view has a time of a later second than the file on disk, whenever both are written', () => {
  for (let newest = 10_000; newest < 11_000; newest += 3)
    for (let now = newest; now < newest + LAG + 1_500; now += 7) {
      const written = now + untilLaterSecond(newest, now);
      const stamp = written - LAG;
      assert.ok(Math.floor(stamp / 1_000) > Math.floor(newest / 1_000), `${newest} ms, put at ${now} ms`);
    }
});

test('nothing is waited for where the file on disk is old, missing, or from the future', () => {
  for (const newest of [0, 7_000, 8_970, 60_000])
    assert.equal(untilLaterSecond(newest, 10_000), 0, `${newest} ms`);
});
