import assert from 'node:assert/strict';
import { test } from 'node:test';
import { naturally } from '../../../src/agent/text/naturally.ts';

test('numbers in names are in their order, and names that only look equal differ', () => {
  assert.deepEqual(['part10.ts', 'part2.ts', 'Part1.ts', 'gpt-4.1', 'gpt-10'].sort(naturally), [
    'gpt-4.1',
    'gpt-10',
    'Part1.ts',
    'part2.ts',
    'part10.ts',
  ]);
  assert.equal(naturally('a', 'a'), 0);
  assert.notEqual(naturally('e\u0301', '\u00e9'), 0);
});
