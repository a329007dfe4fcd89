import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { mutations } from '../../mutations/mutations.mjs';
import { inRepo } from '../../../scripts/lib/paths.mjs';

test('each seeded fault has its own rule, and fits the source', () => {
  const outOfDate = mutations.flatMap(({ rule, file, from, and = [] }) => {
    const source = fs.readFileSync(inRepo(path.join('src', 'agent', file)), 'utf8');
    const missed = [from, ...and.map(each => each.from)].filter(text => source.split(text).length !== 2);
    return missed.map(text => `${rule}: not exactly once in ${file}: ${text}`);
  });
  assert.deepEqual(outOfDate, []);
  assert.equal(new Set(mutations.map(({ rule }) => rule)).size, mutations.length);
});
