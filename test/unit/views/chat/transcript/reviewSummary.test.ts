import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import { reviewOf } from '../../../../../src/views/chat/transcript/reviewSummary.ts';
import { reviewText } from '../../../../../src/views/chat/words/statusWords.ts';
import { modify, preview } from '../../../../support/chatFixtures.ts';

const counted = ({ changes }: { readonly changes: readonly unknown[] | null }) =>
  (changes ?? []).map(() => ({ added: 2, removed: 1, hunks: 1, exact: true }));

test('what is pending is counted by previews and different files, with the sum of the lines', () => {
  assert.equal(reviewOf([], counted), undefined);
  const one = preview();
  const two = preview({ id: 'p2', changes: [modify('a.ts', 'new\n', 'newer\n'), modify('b.ts')] });
  assert.deepEqual(reviewOf([one], counted), {
    previews: 1,
    apply: 1,
    discard: 1,
    stale: 0,
    conflicts: 0,
    edited: 0,
    files: 1,
    stat: { added: 2, removed: 1, exact: true },
  });
  assert.deepEqual(reviewOf([one, two], counted), {
    previews: 2,
    apply: 2,
    discard: 2,
    stale: 0,
    conflicts: 0,
    edited: 0,
    files: 2,
    stat: { added: 6, removed: 3, exact: true },
  });
});

test('a plan is no change: it is approved on its card', () => {
  const plan = { ...preview({ id: 'p2', details: { title: 'T', text: 'x' } }), kind: 'plan', changes: null };
  assert.equal(reviewOf([plan as Preview], counted), undefined);
  assert.equal(reviewOf([preview(), plan as Preview], counted)?.previews, 1);
});

test('lines are left out while they are counted, for opaque previews, and if there is too much to count', () => {
  assert.deepEqual(
    reviewOf([preview()], () => undefined),
    { previews: 1, apply: 1, discard: 1, stale: 0, conflicts: 0, edited: 0, files: 1, stat: undefined },
  );
  assert.deepEqual(reviewOf([preview({ changes: null })], counted), {
    previews: 1,
    apply: 1,
    discard: 1,
    stale: 0,
    conflicts: 0,
    edited: 0,
    files: 0,
    stat: undefined,
  });
  const many = Array.from({ length: 101 }, (_, i) =>
    preview({ id: `p${i + 1}`, changes: [modify(`${i}.ts`)] }),
  );
  const neverAsked = (): never => assert.fail('its lines would be counted');
  assert.deepEqual(reviewOf(many, neverAsked), {
    previews: 101,
    apply: 101,
    discard: 101,
    stale: 0,
    conflicts: 0,
    edited: 0,
    files: 101,
    stat: undefined,
  });
});

test('what needs a vote of its own is counted, and not among those that are applied together', () => {
  const run = preview({ id: 'p2', changes: null, purpose: 'command', humanOnly: true });
  const counts = (shown: ReturnType<typeof reviewOf>) => [shown?.previews, shown?.apply];
  assert.deepEqual(counts(reviewOf([preview(), run], counted)), [2, 1]);
  assert.deepEqual(counts(reviewOf([run], counted)), [1, 0]);
});

test('what an apply of all leaves is not counted, and said; a plan is discarded with the others', () => {
  const stale = preview({ id: 'p2', state: { kind: 'pending', stale: ['a.ts'] } });
  const plan = {
    ...preview({ id: 'p3', changes: null, humanOnly: true, details: { title: 'T', text: 'x' } }),
    kind: 'plan',
  };
  const shown = reviewOf([preview(), stale, plan as Preview], counted);
  assert.deepEqual([shown?.previews, shown?.apply, shown?.discard, shown?.stale], [2, 1, 3, 1]);
});

test('a proposal that is being edited is not applied with the others, and said', () => {
  const shown = reviewOf([preview(), preview({ id: 'p2' })], counted, undefined, id => id === 'p2');
  assert.deepEqual([shown?.apply, shown?.discard, shown?.edited], [1, 2, 1]);
  assert.equal(reviewText(shown ?? assert.fail()), '2 previews · 1 edited, not saved · 1 file');
});
