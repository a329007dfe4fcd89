import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detailsText } from '../../../src/views/plainText.ts';

const textOf = (details: unknown): string | undefined => detailsText({ details, kind: 'action' }, 2);

test('details are shown as their text or as JSON', () => {
  assert.equal(textOf('two\nlines'), 'two\nlines');
  assert.equal(textOf({ n: 1 }), '{\n  "n": 1\n}');
  assert.equal(textOf(undefined), undefined);
});

test('details from a log that are nested too deeply are replaced by a text that says so', () => {
  for (const levels of [4_000, 1_000_000])
    assert.match(textOf(JSON.parse('['.repeat(levels) + ']'.repeat(levels))) ?? '', /^\[not storable: /);
});
