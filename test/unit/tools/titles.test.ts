import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editTitle, replacementTitle, titled } from '../../../src/agent/tools/titles.ts';

const text = 'one\nlet total = 0;\nthree\n';
const edit = (old: string, now: string) => {
  const start = text.indexOf(old);
  return { start, end: start + old.length, text: now };
};

const cases: readonly [what: string, old: string, now: string, title: string | undefined][] = [
  ['a word', 'let total = 0;', 'let sum = 0;', 'cart.ts:2 total → sum'],
  ['whole words, not the letters in which they differ', 'total', 'tax', 'cart.ts:2 total → tax'],
  ['an insertion', 'total = 0', 'total = 0 + tax', 'cart.ts:2 + + tax'],
  ['a removal', 'let total', 'total', 'cart.ts:2 − let'],
  ['the line of the change, not of its context', 'one\nlet total', 'one\nlet sum', 'cart.ts:2 total → sum'],
  ['several lines', 'one\nlet', 'uno\ndue', undefined],
  ['spaces alone', 'let total', 'let  total', undefined],
];

for (const [what, old, now, title] of cases) {
  test(`the title of an edit: ${what}`, () => {
    assert.equal(editTitle('src/cart.ts', text, [edit(old, now)]), title);
  });
}

test('several edits have no title of their own', () => {
  assert.equal(editTitle('cart.ts', text, [edit('one', '1'), edit('three', '3')]), undefined);
});

test('a long side is cut', () => {
  const title = editTitle('cart.ts', text, [edit('total', 'x'.repeat(100))]);
  assert.equal(title, `cart.ts:2 total → ${'x'.repeat(39)}…`);
});

test('the title of a structural replacement names the pattern, its replacement and the files', () => {
  const op = { pat: 'console.warn($A)', out: 'logger.warn($A)' };
  assert.equal(replacementTitle([op], 2), 'console.warn($A) → logger.warn($A) · 2 files');
  assert.equal(replacementTitle([{ ...op, out: '' }], 1), '− console.warn($A) · 1 file');
  assert.equal(replacementTitle([op, op], 2), undefined);
});

test('the title that the model gives comes first, on one line and not too long', () => {
  assert.deepEqual(titled('  Round\n totals ', 'derived'), { title: 'Round totals' });
  assert.deepEqual(titled('   ', 'derived'), { title: 'derived' });
  assert.deepEqual(titled(undefined, undefined), {});
  assert.equal(titled('y'.repeat(300), undefined).title?.length, 80);
});
