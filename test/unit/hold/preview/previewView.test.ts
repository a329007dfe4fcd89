import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PreviewState } from '../../../../src/agent/hold/preview/preview.ts';
import { previewView, type PreviewFacts } from '../../../../src/agent/hold/preview/previewView.ts';
import { modify as changed } from '../../../support/changes.ts';
import { attempt, modify, preview } from '../../../support/chatFixtures.ts';

const by = { actor: 'human', reason: 'It is right.', at: '' } as const;
const applied = { kind: 'applied', by } as const;
const discarded = { kind: 'discarded', by } as const;
const outcomeOf = (state: PreviewState, facts?: PreviewFacts) =>
  previewView(preview({ state }), facts).outcome;

test('a pending preview has one problem: conflicts before stale files, and these before the failure that they led to', () => {
  const markers = '<<<<<<< current file\na\n=======\nb\n>>>>>>> proposed change\n';
  const conflicted = changed('a.ts', 'a\n', markers);
  const problemOf = (state: PreviewState, change = modify('a.ts')) => {
    const { outcome } = previewView(preview({ state, changes: [change] }));
    return outcome.kind === 'pending' ? outcome.problem : assert.fail('it is pending');
  };
  assert.equal(problemOf({ kind: 'pending', stale: [] }), undefined);
  const failed = { kind: 'pending', stale: [], lastError: 'disk full' } as const;
  assert.deepEqual(problemOf(failed), { kind: 'failed', error: 'disk full' });
  const { outcome } = previewView(preview({ changes: null, state: failed }));
  const partial = { kind: 'failed', error: 'disk full', isPartial: true };
  assert.deepEqual(outcome.kind === 'pending' && outcome.problem, partial);
  const stale = { ...failed, stale: ['a.ts'] };
  assert.deepEqual(problemOf(stale), { kind: 'stale', paths: ['a.ts'] });
  const conflicts = { kind: 'conflicts', files: [{ path: 'a.ts', count: 1 }] };
  assert.deepEqual(problemOf(stale, conflicted), conflicts);
  assert.deepEqual(problemOf({ kind: 'pending', stale: [] }, conflicted), conflicts);
});

test('an apply is recommended only where it is offered: of a stale preview it was', () => {
  const recommendation = { action: 'apply', reason: 'It counts.' } as const;
  const of = (stale: string[]) => previewView(preview({ state: { kind: 'pending', stale, recommendation } }));
  assert.deepEqual(
    [of([]).advice, of(['a.ts']).advice],
    [recommendation, { ...recommendation, isPast: true }],
  );
});

test('an outcome tells who it was and why, unless the user gave no reason', () => {
  const own = { actor: 'human', agent: undefined };
  assert.deepEqual(outcomeOf(applied), { kind: 'applied', ...own, reason: 'It is right.', run: undefined });
  const clicked = { kind: 'discarded', by: { ...by, reason: 'Discarded by the user.' } } as const;
  assert.deepEqual(outcomeOf(clicked), { kind: 'discarded', ...own, reason: undefined, run: undefined });
});

test('an agent of another program is named only if it resolved its own preview itself', () => {
  const agent = { name: 'Claude Code', version: '2.1.0' };
  const origin = { sessionId: 's', agent, asksModel: true };
  const agentOf = (actor: 'human' | 'model') => {
    const { outcome } = previewView(preview({ origin, state: { kind: 'applied', by: { ...by, actor } } }));
    return outcome.kind === 'applied' ? outcome.agent : assert.fail('it is applied');
  };
  assert.deepEqual([agentOf('model'), agentOf('human')], [agent, undefined]);
});

test('what came after an outcome counts: an error that it returned, an undo, a preview that proposes it again', () => {
  const lastAttempt = attempt({ outcome: 'returnedError', message: 'exit code 1' });
  assert.deepEqual(outcomeOf(applied, { lastAttempt }), { kind: 'returnedError', error: 'exit code 1' });
  const undoneBy = preview({ id: 'p2', state: applied });
  assert.deepEqual(outcomeOf(applied, { undoneBy }), { kind: 'undone', actor: 'human' });
  const pendingAgain = preview({ id: 'p3' });
  assert.equal(outcomeOf(discarded, { reopenedAs: pendingAgain }).kind, 'discarded');
  assert.equal(outcomeOf(discarded, { reopenedAs: preview({ id: 'p3', state: applied }) }).kind, 'applied');
});

test('there is one remedy for each outcome, and none while one is pending', () => {
  const remedyOf = (state: PreviewState, facts?: PreviewFacts) =>
    previewView(preview({ state }), facts).remedy;
  const id = preview({}).id;
  assert.deepEqual(remedyOf(applied), { type: 'undo', id });
  assert.deepEqual(remedyOf(applied, { undoneBy: preview({ id: 'p2', state: applied }) }), {
    type: 'redo',
    id: 'p2',
  });
  assert.deepEqual(remedyOf(discarded), { type: 'reopen', id });
  assert.equal(remedyOf(applied, { isUndoPending: true }), undefined);
  assert.equal(remedyOf({ kind: 'pending', stale: [] }), undefined);
});

test('the lines are summed up once every file is counted', () => {
  const changes = [modify('a.ts'), modify('b.ts')];
  const one = { added: 1, removed: 2, hunks: 1, exact: true };
  assert.equal(previewView(preview({ changes }), { stats: [one] }).total, undefined);
  assert.deepEqual(previewView(preview({ changes }), { stats: [one, { ...one, exact: false }] }).total, {
    added: 2,
    removed: 4,
    hunks: 2,
    exact: false,
  });
});
