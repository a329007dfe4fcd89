import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rankFiles } from '../../../src/views/chat/fileRanking.ts';

const paths = [
  'src/cart.ts',
  'src/money.ts',
  'cart/readme.md',
  'docs/my-cart.md',
  'src/charter/a.ts',
  'x.ts',
];

test('a name that begins with the query comes first, then one that holds it, a path, and the letters in order', () => {
  assert.deepEqual(rankFiles(paths, 'CART', 10), [
    'src/cart.ts',
    'docs/my-cart.md',
    'cart/readme.md',
    'src/charter/a.ts',
  ]);
});

test('nothing typed leaves the order; the limit holds; what does not fit is left out', () => {
  assert.deepEqual(rankFiles(paths, '', 2), ['src/cart.ts', 'src/money.ts']);
  assert.deepEqual(rankFiles(paths, 'src/', 1), ['src/cart.ts']);
  assert.deepEqual(rankFiles(paths, 'zzz', 5), []);
});
