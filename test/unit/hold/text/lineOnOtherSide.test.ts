import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hunksOf, lineOnOtherSide } from '../../../../src/agent/hold/text/hunks.ts';

test('a line leads to the one that it stands for on the other side, and within a hunk to where that begins', async () => {
  const hunks = await hunksOf('a\nb\nc\nd\ne\n', 'a\nnew\nnewer\nb\nD\ne\n');
  const map = (from: 'before' | 'after', lines: number): number[] =>
    Array.from({ length: lines }, (_, line) => lineOnOtherSide(hunks, line, from));
  assert.deepEqual(map('after', 6), [0, 1, 1, 1, 2, 4]);
  assert.deepEqual(map('before', 5), [0, 3, 4, 4, 5]);
  assert.equal(lineOnOtherSide([], 7, 'after'), 7);
});
