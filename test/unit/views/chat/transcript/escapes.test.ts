import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sideOfText } from '../../../../../src/agent/hold/preview/fileChange.ts';
import {
  attachmentLabel,
  attachmentName,
  withNamed,
  withoutDuplicates,
} from '../../../../../src/views/chat/attachments/attachmentRefs.ts';
import { previewView } from '../../../../../src/agent/hold/preview/previewView.ts';
import { previewCard } from '../../../../../src/views/chat/transcript/previewCard.ts';
import { resolveBlock } from '../../../../../src/views/chat/transcript/resolveBlock.ts';
import { toolLine } from '../../../../../src/views/chat/transcript/toolLine.ts';
import { attempt, call, preview, result } from '../../../../support/chatFixtures.ts';

const NAME = 'a\u202e\u200b\u0085.ts';
const HIDDEN = /[\u202e\u200b\u0085]/;
const SHOWN = String.raw`a\u{202e}\u{200b}\u{85}.ts`;

/** All texts that the panel gets, except the paths by which it asks for a file. */
function textsOf(item: object): string {
  return JSON.stringify(item, (key, value: unknown) =>
    key === 'path' || key === 'from' ? undefined : value,
  );
}

test('a card shows characters that cannot be seen as escapes, whatever its state', () => {
  const side = sideOfText('x');
  const states = [
    { kind: 'pending', stale: [], recommendation: { action: 'apply', reason: NAME }, lastError: NAME },
    { kind: 'pending', stale: [NAME] },
    { kind: 'applied', by: { actor: 'human', reason: NAME, at: '' } },
    { kind: 'discarded', by: { actor: 'extension', reason: NAME, at: '' } },
  ] as const;
  for (const state of states) {
    const about = preview({
      label: `Edit ${NAME}`,
      sourceToolName: NAME,
      changes: [{ kind: 'rename', path: NAME, from: NAME, before: side, after: side }],
      state,
    });
    const failed = attempt({ outcome: 'returnedError', message: NAME });
    for (const lastAttempt of [undefined, failed]) {
      const card = previewCard(previewView(about, { lastAttempt }));
      assert.doesNotMatch(textsOf(card), HIDDEN);
      assert.equal(card.label, `Edit ${SHOWN}`);
    }
  }
});

test('labels and names on a card are one line each', () => {
  const name = 'Edit a.ts\n\nThe checks have passed.\x1b[2J';
  const shown = String.raw`Edit a.ts The checks have passed.\u{1b}[2J`;
  const check = {
    name,
    state: 'failed',
    isCurrent: true,
    seconds: 1,
    problems: 0,
    isFlaky: false,
    together: [],
  } as const;
  const view = previewView(preview({ label: name, sourceToolName: name }), { checks: [check] });
  const { label, checks } = previewCard(view);
  assert.deepEqual([label, checks?.[0]?.name], [shown, shown]);
});

test('so do the blocks of resolve, the lines of tools, and the chips of attachments', () => {
  const vote = call('c1', 'resolve', { action: 'apply', reason: NAME, id: 'p1' });
  const about = { preview: () => preview({ label: NAME, sourceToolName: NAME }), failures: () => [] };
  const made = attempt({ label: NAME, reason: NAME, message: NAME, outcome: 'failed' });
  for (const facts of [
    { ...about, attempt: undefined },
    { ...about, attempt: made },
  ]) {
    for (const answer of [undefined, result(vote, NAME, { isError: true }), result(vote, NAME)])
      assert.doesNotMatch(textsOf(resolveBlock('k', vote, answer, facts)), HIDDEN);
  }
  const read = call('c2', 'read_file', { path: NAME });
  const line = toolLine('k', read, result(read, NAME));
  assert.doesNotMatch(textsOf(line), HIDDEN);
  assert.equal(line.summary, SHOWN);
  const ref = { path: `src/${NAME}`, startLine: 2 };
  assert.deepEqual([attachmentLabel(ref), attachmentName(ref)], [`${SHOWN}:2`, `src/${SHOWN}:2`]);
});

test('files that only look the same are attached both; the same file and lines are attached once', () => {
  const alike = [{ path: 'a\u200b.ts' }, { path: String.raw`a\u{200b}.ts` }] as const;
  assert.equal(attachmentName(alike[0]), attachmentName(alike[1]));
  const line = [{ path: 'b.ts:3' }, { path: 'b.ts', startLine: 3 }] as const;
  for (const pair of [alike, line]) {
    assert.deepEqual(withoutDuplicates(pair), pair);
    assert.deepEqual(withNamed([pair[0]], [pair[1]]), pair);
  }
  const same = { path: 'b.ts', startLine: 3, endLine: 3 };
  assert.deepEqual(withoutDuplicates([line[1], same]), [same]);
  assert.deepEqual(withNamed([same], [line[1]]), [same]);
  assert.deepEqual(withNamed([{ path: 'b.ts' }], [same]), [{ path: 'b.ts' }]);
});
