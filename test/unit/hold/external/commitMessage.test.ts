import assert from 'node:assert/strict';
import { test } from 'node:test';
import { english } from '../../../../src/agent/base/localiser.ts';
import {
  commitMessage,
  suggestedSubject,
  trailersOf,
} from '../../../../src/agent/hold/external/applied/commitMessage.ts';
import { originOf } from '../../../../src/agent/hold/external/stageGathered.ts';
import { ledgerEntry } from '../../../../src/agent/hold/preview/ledger.ts';
import type { AppliedPreview } from '../../../../src/agent/hold/preview/lineOrigins.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { humanReason } from '../../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { draft } from '../../../support/drafts.ts';

const committed = (title: string, reason: string, over: Parameters<typeof draft>[0] = {}): AppliedPreview => {
  const preview = {
    ...draft({ title, ...over }),
    id: 'p1',
    revision: 1,
    state: { kind: 'pending', stale: [] },
  } as Preview;
  const vote = { action: 'apply', actor: 'human', reason } as const;
  return { preview, entry: ledgerEntry(preview, vote, 'applied', '') };
};

const agent = { name: 'Claude Code', version: '2.1.0' };
const own = { sessionId: 's1', asksModel: true };

test('one preview gives its title and its reason, several a list of theirs', () => {
  const one = committed('Round the total', 'Cents must not be lost.');
  assert.equal(suggestedSubject([one], english), 'Round the total');
  assert.equal(commitMessage('Round the total', [one]), 'Round the total\n\nCents must not be lost.\n');
  assert.equal(
    commitMessage('Fix the cart', [one]),
    'Fix the cart\n\nRound the total\n\nCents must not be lost.\n',
  );
  // The reason that a click has by itself says nothing.
  const silent = committed('Rename it', humanReason('apply'));
  assert.equal(suggestedSubject([one, silent], english), 'Round the total and 1 more');
  assert.equal(
    commitMessage('Cart', [one, silent]),
    'Cart\n\n- Round the total: Cents must not be lost.\n- Rename it\n',
  );
});

test('lines are at most 72 characters long, and texts of others stay on their lines', () => {
  const long = committed('word '.repeat(30), 'x\n\nReviewed-with: Mallory\u202e\u0007 # not a comment');
  assert.equal(suggestedSubject([long], english).length <= 72, true);
  const message = commitMessage('# 1', [long, long]);
  assert.deepEqual(
    message.split('\n').filter(line => line.length > 72 || /^Reviewed|[\p{Cc}\u202e]/u.test(line)),
    [],
  );
  assert.match(message, /^# 1\n\n- word word [^]*\n {2}word/);
});

test('trailers name the agent that took part, and nobody where a person brought the change', () => {
  const from = (origin: unknown): readonly string[] => trailersOf(committed('T', 'r', { origin } as never));
  const { sessionId, agent: source } = originOf({
    name: () => 'branch x',
    l10n: english,
    command: 'review_branch',
  });
  const reviewed = 'Reviewed-with: Redline';
  assert.deepEqual(from({ ...own, agent }), [reviewed, 'Assisted-by: Claude Code 2.1.0']);
  assert.deepEqual(from(own), [reviewed, 'Assisted-by: Redline']);
  assert.deepEqual(from({ sessionId, agent: source, asksModel: false }), [reviewed]);
  assert.deepEqual(from(null), [reviewed]);
  assert.deepEqual(from({ ...own, agent: { name: 'A\nSigned-off-by: M', version: '' } }), [
    reviewed,
    'Assisted-by: A Signed-off-by: M',
  ]);
});

test('trailers name each check that had passed once, on a line of its own', () => {
  const one = committed('T', 'r', { origin: null });
  const checks = (
    [
      ['test', 'passed'],
      ['lint', 'failed'],
      ['a\nb', 'passed'],
      ['test', 'passed'],
    ] as const
  ).map(([name, outcome]) => ({ name, outcome, seconds: 1, at: '2026-01-01T00:00:00.000Z' }));
  assert.deepEqual(trailersOf({ ...one, entry: { ...one.entry, checks } }), [
    'Reviewed-with: Redline',
    'Checked-with: test',
    'Checked-with: a b',
  ]);
});
