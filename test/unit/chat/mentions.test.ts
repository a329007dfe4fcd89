import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mentions } from '../../../src/views/chat/mentions.ts';

const paths = (text: string) => mentions(text).map(readings => readings.map(({ path }) => path));

test('words behind @ are paths, with and without the punctuation behind them', () => {
  assert.deepEqual(paths('Fix @src/cart.ts and (@b.ts), please'), [['src/cart.ts'], ['b.ts),', 'b.ts']]);
  assert.deepEqual(paths('@a.ts\n@a.ts'), [['a.ts']]);
  assert.deepEqual(paths('me@example.com @ @@x nothing'), []);
});

test('a word that ends in lines means those lines, unless a file has that name', () => {
  const [readings] = mentions('See @src/a.ts:3-8.');
  assert.deepEqual(readings, [
    { path: 'src/a.ts:3-8.' },
    { path: 'src/a.ts:3-8' },
    { path: 'src/a.ts', startLine: 3, endLine: 8 },
  ]);
  assert.deepEqual(mentions('@a:5')[0]?.at(-1), { path: 'a', startLine: 5, endLine: 5 });
  assert.deepEqual(paths('@a:0'), [['a:0']]);
});
