import assert from 'node:assert/strict';
import { test } from 'node:test';
import { english, type Sentence } from '../../../../src/agent/base/localiser.ts';
import { editTitle, replacementTitle, titled } from '../../../../src/agent/session/tools/titles.ts';

const text = 'one\nlet total = 0;\nthree\n';
const edit = (old: string, now: string) => {
  const start = text.indexOf(old);
  return { start, end: start + old.length, text: now };
};

const said = (title: string | Sentence): string => (typeof title === 'string' ? title : title(english));

const cases: readonly [what: string, old: string, now: string, title: string][] = [
  ['a word', 'let total = 0;', 'let sum = 0;', 'cart.ts:2 total → sum'],
  ['whole words, not the letters in which they differ', 'total', 'tax', 'cart.ts:2 total → tax'],
  ['an insertion', 'total = 0', 'total = 0 + tax', 'cart.ts:2 0 → 0 + tax'],
  ['an insertion before a word', 'total', 'subtotal + total', 'cart.ts:2 total → subtotal + total'],
  ['an insertion alone', '= ', '= - ', 'cart.ts:2 + -'],
  ['a removal', 'let total', 'total', 'cart.ts:2 let total → total'],
  ['the line of the change, not of its context', 'one\nlet total', 'one\nlet sum', 'cart.ts:2 total → sum'],
  ['several lines', 'one\nlet', 'uno\ndue', 'Edit src/cart.ts'],
  ['spaces alone', 'let total', 'let  total', 'Edit src/cart.ts'],
];

for (const [what, old, now, title] of cases) {
  test(`the title of an edit: ${what}`, () => {
    assert.equal(said(editTitle('src/cart.ts', text, [edit(old, now)])), title);
  });
}

test('a number with a point is one word', () => {
  const rate = 'rate = 0.19;';
  const numbers = editTitle('tax.ts', rate, [{ start: 0, end: rate.length, text: 'rate = 0.2;' }]);
  assert.equal(said(numbers), 'tax.ts:1 0.19 → 0.2');
});

test('the title of several edits names the file', () => {
  assert.equal(said(editTitle('cart.ts', text, [edit('one', '1'), edit('three', '3')])), 'Edit cart.ts');
});

test('a long side is cut', () => {
  const title = editTitle('cart.ts', text, [edit('total', 'x'.repeat(100))]);
  assert.equal(title, `cart.ts:2 total → ${'x'.repeat(39)}…`);
});

test('the title of a structural replacement names the pattern and its replacement', () => {
  const op = { pat: 'console.warn($A)', out: 'logger.warn($A)' };
  assert.equal(replacementTitle([op]), 'console.warn($A) → logger.warn($A)');
  assert.equal(replacementTitle([{ ...op, out: '' }]), '− console.warn($A)');
  assert.equal(replacementTitle([op, op]), 'console.warn($A) → logger.warn($A), …');
  assert.equal(said(replacementTitle([{ ...op, out: 'a\nb' }])), 'Structural replacement');
});

test('the title that the model gives comes first, on one line and not too long', () => {
  const given = { title: 'Round totals', modelTitle: 'Round totals' };
  const derived = { title: 'derived' };
  assert.deepEqual(titled('  Round\n totals ', 'derived'), given);
  assert.deepEqual(titled('   ', 'derived'), derived);
  assert.deepEqual(titled(undefined, 'derived'), derived);
  assert.equal(titled('y'.repeat(300), 'derived').modelTitle?.length, 80);
});
