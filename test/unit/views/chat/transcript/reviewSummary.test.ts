import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Preview } from '../../../../../src/agent/preview/preview.ts';
import { reviewOf } from '../../../../../src/views/chat/transcript/reviewSummary.ts';
import { english, modify, preview } from '../../../../support/chatFixtures.ts';

const counted = ({ changes }: { readonly changes: readonly unknown[] | null }) =>
  (changes ?? []).map(() => ({ added: 2, removed: 1, hunks: 1, exact: true }));

test('what is pending is counted by previews and different files, with the sum of the lines', () => {
  assert.equal(reviewOf([], counted, english), undefined);
  const one = preview();
  const two = preview({ id: 'p2', changes: [modify('a.ts', 'new\n', 'newer\n'), modify('b.ts')] });
  assert.deepEqual(reviewOf([one], counted, english), {
    label: '1 change · 1 file',
    stat: { added: '+2', removed: '−1' },
  });
  assert.deepEqual(reviewOf([one, two], counted, english), {
    label: '2 changes · 2 files',
    stat: { added: '+6', removed: '−3' },
  });
});

test('a plan is no change: it is approved on its card', () => {
  const plan = { ...preview({ id: 'p2', details: { title: 'T', text: 'x' } }), kind: 'plan', changes: null };
  assert.equal(reviewOf([plan as Preview], counted, english), undefined);
  assert.equal(reviewOf([preview(), plan as Preview], counted, english)?.label, '1 change · 1 file');
});

test('lines are left out while they are counted, for opaque previews, and if there is too much to count', () => {
  assert.deepEqual(
    reviewOf([preview()], () => undefined, english),
    { label: '1 change · 1 file' },
  );
  assert.deepEqual(reviewOf([preview({ changes: null })], counted, english), { label: '1 change' });
  const many = Array.from({ length: 101 }, (_, i) =>
    preview({ id: `p${i + 1}`, changes: [modify(`${i}.ts`)] }),
  );
  const neverAsked = (): never => assert.fail('its lines would be counted');
  assert.deepEqual(reviewOf(many, neverAsked, english), { label: '101 changes · 101 files' });
});
