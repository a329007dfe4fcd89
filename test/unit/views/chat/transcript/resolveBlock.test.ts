import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToolResultMessage } from '../../../../../src/agent/session/model/messages.ts';
import type { LedgerEntry } from '../../../../../src/agent/hold/preview/ledger.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import { resolveBlock } from '../../../../../src/views/chat/transcript/resolveBlock.ts';
import {
  resolveDetail,
  resolveSource,
  resolveTitle,
} from '../../../../../src/views/chat/words/resolveWords.ts';
import { attempt, call, preview, result } from '../../../../support/chatFixtures.ts';

interface World {
  readonly args?: unknown;
  readonly previews?: readonly Preview[];
  readonly failures?: readonly LedgerEntry[];
  readonly attempt?: LedgerEntry;
}

function block(content: string | undefined, more: Partial<ToolResultMessage> = {}, world: World = {}) {
  const made = call('r1', 'resolve', world.args ?? { action: 'apply', reason: 'Tests pass.' });
  const shown = resolveBlock('k', made, content === undefined ? undefined : result(made, content, more), {
    preview: id => world.previews?.find(known => known.id === id),
    failures: () => world.failures ?? [],
    attempt: world.attempt,
  });
  return {
    outcome: shown.outcome,
    reason: shown.reason,
    title: resolveTitle(shown),
    source: resolveSource(shown),
    detail: resolveDetail(shown),
  };
}

const details = (more: object = {}) => ({
  details: {
    action: 'apply',
    reason: 'Tests pass.',
    label: 'Edit a.ts (1 edit)',
    sourceToolName: 'edit_file',
    ...more,
  },
});

test('an executed apply and discard', () => {
  const applied = block('Applied', details());
  assert.deepEqual(
    [applied.outcome, applied.title, applied.reason, applied.source],
    ['accept', 'Accept: Edit a.ts (1 edit)', 'Tests pass.', 'edit_file, by the model'],
  );
  const discarded = block('Discarded', details({ action: 'discard' }));
  assert.deepEqual([discarded.outcome, discarded.title], ['discard', 'Discard: Edit a.ts (1 edit)']);
});

test('a block names a preview as its card does, by its title, whichever way the preview is known', () => {
  const titled = { ...preview({ id: 'p1' }), title: 'a.ts bearbeiten' };
  const world = { previews: [titled] };
  const args = { action: 'apply', id: 'p1' };
  assert.equal(block(undefined, {}, { ...world, args }).title, 'Resolving: a.ts bearbeiten');
  assert.equal(block('Applied', details(), { ...world, args }).title, 'Accept: a.ts bearbeiten');
  const recommended = details({ sourceResultDetails: { recommended: 'p1' } });
  assert.equal(block('ok', recommended, world).title, 'Recommends Apply: a.ts bearbeiten');
  assert.equal(block('Applied', details(), world).title, 'Accept: Edit a.ts (1 edit)');
});

test('fallbacks if nothing is known', () => {
  const bare = block('ok', {}, { args: { action: 'apply' } });
  assert.deepEqual(
    [bare.title, bare.reason, bare.source],
    ['Accept: pending action', undefined, 'by the model'],
  );
  const blank = block('ok', details({ reason: '  ', label: '' }));
  assert.deepEqual([blank.title, blank.reason], ['Accept: pending action', undefined]);
});

test('a submitted plan is not an acceptance, and is shown with its title', () => {
  const plan = { sourceToolName: 'plan_approval', label: 'Plan ready for approval' };
  const submitted = block(
    'ok',
    details({ ...plan, sourceResultDetails: { title: 'Sum up', submitted: 'p1' } }),
  );
  assert.deepEqual(
    [submitted.outcome, submitted.title, submitted.source],
    ['submit', 'Submits for approval: Sum up', 'plan_approval, by the model'],
  );
});

test('a recorded recommendation is not an acceptance', () => {
  const sourceResultDetails = { recommended: 'p1' };
  const by = { actor: 'human', reason: 'Applied by the user.', at: '' } as const;
  const shown = block('recorded', details({ sourceResultDetails }), {
    args: { action: 'apply', reason: 'Tests pass.', id: 'p1' },
    previews: [preview({ state: { kind: 'applied', by } })],
  });
  assert.deepEqual([shown.outcome, shown.title], ['recommendApply', 'Recommends Apply: Edit a.ts (1 edit)']);
  const against = block('recorded', details({ sourceResultDetails, action: 'discard' }));
  assert.equal(against.title, 'Recommends Discard: Edit a.ts (1 edit)');
});

test('a vote on several previews is an acceptance only of what was applied', () => {
  const vote = (id: string, sourceResultDetails: object = {}) => ({
    id,
    ...details({ sourceResultDetails }),
  });
  const shown = (action: string, ...votes: object[]) => {
    const { title, detail } = block('p1: …', details({ label: 'p1, p2', action, votes }));
    return [title, detail];
  };
  const [one, other] = [vote('p1', { recommended: 'p1' }), vote('p2', { recommended: 'p2' })];
  assert.deepEqual(shown('apply', one, other), ['Recommends Apply: 2 changes', undefined]);
  assert.deepEqual(shown('discard', one, other), ['Recommends Discard: 2 changes', undefined]);
  assert.deepEqual(shown('apply', vote('p1'), vote('p2')), ['Accept: 2 changes', undefined]);
  const partly = 'Only a part of it was carried out.';
  assert.deepEqual(shown('apply', vote('p1'), other), ['Accept: 2 changes', partly]);
  assert.deepEqual(shown('apply', one, { id: 'p2', failed: true }), ['Recommends Apply: 2 changes', partly]);
  const late = vote('p1', { alreadyResolved: 'p1' });
  assert.deepEqual(shown('apply', late, late), [
    'Failed: 2 changes',
    'It was too late: nothing was left to decide.',
  ]);
});

test('a vote that came too late shows the outcome and who decided', () => {
  const by = { actor: 'human', reason: 'Not now.', at: '' } as const;
  const previews = [preview({ state: { kind: 'discarded', by } })];
  const marked = details({ sourceResultDetails: { alreadyResolved: 'p1' } });
  for (const shown of [
    block('already resolved', marked, { previews }),
    block('already resolved', details(), { previews, args: { action: 'apply', reason: 'x', id: 'p1' } }),
  ]) {
    assert.deepEqual(
      [shown.outcome, shown.title, shown.reason, shown.source],
      ['discard', 'Discard: Edit a.ts (1 edit)', 'Not now.', 'edit_file, by you'],
    );
  }
});

test('a vote on an expired preview is not an acceptance', () => {
  const marked = details({ sourceResultDetails: { alreadyResolved: 'p1' } });
  const shown = block('It has expired.', marked, { previews: [preview({ state: { kind: 'expired' } })] });
  assert.deepEqual([shown.outcome, shown.detail], ['failed', 'It was too late: nothing was left to decide.']);
});

test('a failed apply finds its label in the ledger', () => {
  const failures = [
    attempt({ outcome: 'failed', reason: 'Other.', message: 'disk full', label: 'Other' }),
    attempt({ outcome: 'failed', reason: 'Tests pass.', message: 'disk full' }),
  ];
  const shown = block('Apply failed: disk full', { isError: true }, { failures });
  assert.deepEqual(
    [shown.outcome, shown.title, shown.detail, shown.source],
    [
      'failed',
      'Failed: Edit a.ts (1 edit)',
      'It failed, and was not applied: disk full',
      'edit_file, by the model',
    ],
  );
});

test('an apply that returned an error is told from one that failed', () => {
  const returned = attempt({ outcome: 'returnedError', message: 'exit code 1' });
  const shown = block(
    'p1 counts as applied …\nexit code 1',
    { isError: true, ...details() },
    { attempt: returned },
  );
  assert.deepEqual(
    [shown.outcome, shown.title, shown.detail],
    ['failed', 'Failed: Edit a.ts (1 edit)', 'It was applied, and returned an error: exit code 1'],
  );
  const failed = attempt({ outcome: 'failed', message: 'disk full' });
  assert.equal(
    block('Apply failed: disk full', { isError: true }, { attempt: failed }).detail,
    'It failed, and was not applied: disk full',
  );
  const kept = attempt({ action: 'discard', outcome: 'failed', message: 'disk full' });
  assert.equal(
    block('disk full', { isError: true }, { attempt: kept }).detail,
    'It failed, and was not discarded: disk full',
  );
});

const INTERRUPTED = 'Interrupted by the user while it ran.';

test('an interrupted call whose vote was carried out says so, with its label', () => {
  const applied = attempt({ interrupted: true, message: 'Applied.' });
  const shown = block(INTERRUPTED, { isError: true }, { attempt: applied });
  assert.deepEqual(
    [shown.outcome, shown.title, shown.detail, shown.reason, shown.source],
    [
      'accept',
      'Accept: Edit a.ts (1 edit)',
      'It finished after the call was interrupted.',
      'Because.',
      'edit_file, by the model',
    ],
  );
  const discarded = attempt({ interrupted: true, action: 'discard', outcome: 'discarded' });
  const against = block(INTERRUPTED, { isError: true }, { attempt: discarded });
  assert.deepEqual([against.outcome, against.title], ['discard', 'Discard: Edit a.ts (1 edit)']);
});

test('an interrupted call whose apply failed, or was never executed, says so', () => {
  const failed = attempt({ interrupted: true, outcome: 'failed', message: 'disk full' });
  const shown = block(INTERRUPTED, { isError: true }, { attempt: failed });
  assert.deepEqual(
    [shown.outcome, shown.title, shown.detail],
    ['failed', 'Failed: Edit a.ts (1 edit)', 'It failed, and was not applied: disk full'],
  );
  const never = block(INTERRUPTED, { isError: true });
  assert.deepEqual(
    [never.outcome, never.title, never.detail],
    ['failed', 'Failed: pending action', 'It was interrupted.'],
  );
});

test('a failure without a preview says so', () => {
  const shown = block('No pending action to resolve.', { isError: true });
  assert.deepEqual(
    [shown.title, shown.detail],
    ['Failed: pending action', 'It was not carried out. The agent was told why.'],
  );
  const returned = block('exit code 1', { isError: true, ...details() });
  assert.equal(returned.title, 'Failed: Edit a.ts (1 edit)');
});

test('a call that still runs, and arguments that are not JSON', () => {
  assert.deepEqual(
    [block(undefined).outcome, block(undefined).title],
    ['running', 'Resolving: pending action'],
  );
  const named = block(undefined, {}, { args: { id: 'p1' }, previews: [preview()] });
  assert.equal(named.title, 'Resolving: Edit a.ts (1 edit)');
  const broken = block('not valid JSON', { isError: true }, { args: '{"action":' });
  assert.deepEqual([broken.outcome, broken.reason], ['failed', undefined]);
});
