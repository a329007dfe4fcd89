import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plural } from '../../../src/agent/text/plural.ts';

test('a count has its noun in the right number', () => {
  assert.equal(plural(0, 'file'), '0 files');
  assert.equal(plural(1, 'file'), '1 file');
  assert.equal(plural(2, 'file'), '2 files');
  assert.equal(plural(1, 'match', 'matches'), '1 match');
  assert.equal(plural(2, 'match', 'matches'), '2 matches');
});
