import assert from 'node:assert/strict';
import { test } from 'node:test';
import { naturally, plural } from '../../../src/agent/base/phrases.ts';

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

test('a count has its noun in the right number', () => {
  assert.equal(plural(0, 'file'), '0 files');
  assert.equal(plural(1, 'file'), '1 file');
  assert.equal(plural(2, 'file'), '2 files');
  assert.equal(plural(1, 'match', 'matches'), '1 match');
  assert.equal(plural(2, 'match', 'matches'), '2 matches');
});
