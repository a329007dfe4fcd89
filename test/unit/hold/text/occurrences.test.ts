import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { occurrences } from '../../../../src/agent/hold/text/occurrences.ts';

/** Runs of a few letters, long enough for the beginning of a part to occur where the part does not. */
const text = fc
  .array(fc.tuple(fc.constantFrom('a', 'ab', 'b', '\n'), fc.nat(150)), { minLength: 1, maxLength: 6 })
  .map(parts => parts.map(([letters, times]) => letters.repeat(times + 1)).join(''));

test('finds all occurrences of a part, including those that overlap', () => {
  fc.assert(
    fc.property(text, text, fc.nat(), fc.nat(400), (whole, other, start, length) => {
      const from = start % whole.length;
      for (const part of [other, whole.slice(from, from + length + 1)]) {
        const places: number[] = [];
        for (let at = 0; at < whole.length; at++) if (whole.startsWith(part, at)) places.push(at);
        assert.deepEqual(occurrences(whole, part, 3), { count: places.length, first: places.slice(0, 3) });
      }
    }),
    { numRuns: 2_000 },
  );
});
