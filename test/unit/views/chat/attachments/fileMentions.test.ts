import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mentions, rankFiles } from '../../../../../src/views/chat/attachments/fileMentions.ts';

const paths = (text: string) => mentions(text).map(readings => readings.map(({ path }) => path));

test('words after @ are paths, with and without trailing punctuation', () => {
  assert.deepEqual(paths('Fix @src/cart.ts and (@b.ts), please'), [['src/cart.ts'], ['b.ts),', 'b.ts']]);
  assert.deepEqual(paths('@a.ts\n@a.ts'), [['a.ts']]);
  assert.deepEqual(paths('me@example.com @ @@x nothing'), []);
});

test('a word with a line range means those lines, unless a file has that name', () => {
  const [readings] = mentions('See @src/a.ts:3-8.');
  assert.deepEqual(readings, [
    { path: 'src/a.ts:3-8.' },
    { path: 'src/a.ts:3-8' },
    { path: 'src/a.ts', startLine: 3, endLine: 8 },
  ]);
  assert.deepEqual(mentions('@a:5')[0]?.at(-1), { path: 'a', startLine: 5, endLine: 5 });
  assert.deepEqual(paths('@a:0'), [['a:0']]);
});

const files = [
  'src/cart.ts',
  'src/money.ts',
  'cart/readme.md',
  'docs/my-cart.md',
  'src/charter/a.ts',
  'x.ts',
];

test('names that start with the query come first, then names and files that contain it, then letters in order', () => {
  assert.deepEqual(rankFiles(files, 'CART', 10), [
    'src/cart.ts',
    'docs/my-cart.md',
    'cart/readme.md',
    'src/charter/a.ts',
  ]);
});

test('an empty query keeps the order; the limit holds; files that do not match are left out', () => {
  assert.deepEqual(rankFiles(files, '', 2), ['src/cart.ts', 'src/money.ts']);
  assert.deepEqual(rankFiles(files, 'src/', 1), ['src/cart.ts']);
  assert.deepEqual(rankFiles(files, 'zzz', 5), []);
});
