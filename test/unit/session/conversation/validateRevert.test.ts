import { test } from 'node:test';
import assert from 'node:assert/strict';
import { REVERT_TOOL } from '../../../../src/agent/session/conversation/revert.ts';
import { refusalText } from '../../../../src/agent/session/conversation/validateRevert.ts';
import { TreeMaker } from '../../../support/treeMaker.ts';

test('an applied revert leaves a record of what it abandoned, including its own call and result', () => {
  const t = new TreeMaker();
  t.user('q');
  t.calls('', 'edit_file');
  t.calls('', REVERT_TOOL);
  const { timestamp, ...record } = t.revert('failure', 0, 'wrong way');
  assert.deepEqual(record, {
    category: 'failure',
    target: 0,
    abandonedNodeIds: [1, 2, 3, 4],
    summary: 'wrong way',
    applied: true,
    reason: null,
    actor: 'model',
  });
  assert.ok(!Number.isNaN(Date.parse(timestamp)));
  assert.deepEqual(t.tree.trunk, [0]);
});

test('the tag says when it was made and what was abandoned; its kind follows the category', () => {
  for (const [category, kind] of [
    ['failure', 'revert-lesson'],
    ['tangent', 'revert-finding'],
    ['completion', 'revert-outcome'],
    ['step-summary', 'revert-checkpoint'],
  ] as const) {
    const t = new TreeMaker();
    t.user('q');
    t.calls('', 'read_file', 'edit_file', 'read_file');
    t.calls('', REVERT_TOOL);
    t.revert(category, 0, 'what\n  I learned');
    assert.deepEqual(t.tree.tagsOf(0), [
      {
        kind,
        text: 'what I learned (abandoned: read_file, edit_file)',
        summary: 'what I learned',
        createdAtTurn: 2,
        abandonedNodeIds: [1, 2, 3, 4, 5, 6],
      },
    ]);
  }
});

test('a tag without a summary names the tools; without tools it says that there was a branch', () => {
  const t = new TreeMaker();
  t.user('q');
  t.calls('', 'edit_file');
  t.revert('failure', 0);
  t.says('thinking');
  t.revert('failure', 0);
  assert.deepEqual(
    t.tree.tagsOf(0).map(({ text }) => text),
    ['abandoned: edit_file', 'a branch was abandoned here'],
  );
});

function rejected(t: TreeMaker, target: number, reason: string): void {
  const before = t.tree.trunk;
  const record = t.revert('failure', target, 's');
  assert.deepEqual(
    [record.applied, record.reason, record.abandonedNodeIds, record.target],
    [false, reason, [], target],
  );
  assert.deepEqual(t.tree.trunk, before);
  assert.equal(t.tree.hasTags, false);
  assert.equal(
    refusalText(record),
    `Your revert to n${target} was not applied: ${reason}. Nothing has changed; continue from here.`,
  );
}

test('rejected: an unknown node', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  rejected(t, 9, 'there is no node n9');
});

test('rejected: to the model a local message is not a node', () => {
  const t = new TreeMaker();
  t.user('q');
  const note = t.local('/apply');
  t.says('a');
  rejected(t, note, 'there is no node n1');
});

test('rejected: a node that is not on the trunk', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  t.go(0);
  t.calls('', 'edit_file');
  rejected(t, 1, 'n1 is not on the trunk: it was abandoned before');
});

test('rejected: the span contains a user prompt', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  t.user('more');
  t.calls('', 'edit_file');
  rejected(t, 1, "the user's prompt n2 comes after n1, and what the user said is never dropped");
});

test('rejected: only the call itself and messages of the runtime come after the target', () => {
  const t = new TreeMaker();
  t.user('q');
  t.steering('reminder');
  const [answer, result] = t.calls('I go back.', REVERT_TOOL);
  for (const target of [0, 1, answer, result as number])
    rejected(t, target, `nothing but the revert itself comes after n${target}`);
});

test('onto the last result, whose text the summary replaces: nothing else has to come after it', () => {
  for (const category of ['failure', 'tangent', 'completion'] as const) {
    const t = new TreeMaker();
    t.user('q');
    const [, result] = t.calls('', 'read_file');
    t.calls('', REVERT_TOOL);
    assert.equal(t.revert(category, result as number).applied, category !== 'completion', category);
  }
});

test('reminders and steering messages are not prompts', () => {
  const t = new TreeMaker();
  t.user('q');
  t.calls('', 'edit_file');
  t.steering('reminder');
  t.calls('', REVERT_TOOL);
  assert.ok(t.revert('failure', 0).applied);
});

test('onto a call, and onto a result in the middle of its neighbours', () => {
  const t = new TreeMaker();
  t.user('q');
  const [answer, first, second] = t.calls('', 'a', 'b', REVERT_TOOL);
  assert.ok(t.revert('tangent', first as number).applied);
  assert.deepEqual(t.tree.tagsOf(first as number)[0]?.abandonedNodeIds, [second, 4]);
  assert.ok(t.revert('tangent', answer).applied);
});

test('the user may drop prompts and go to any node and before the first one, but not to the active one', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  t.user('more');
  assert.deepEqual(t.go(0).abandonedNodeIds, [1, 2]);
  assert.ok(t.go(2).applied);
  assert.deepEqual(t.go(null).abandonedNodeIds, [0, 1, 2]);
  assert.equal(t.go(null).reason, 'nothing comes after the beginning');
  assert.equal(t.go(9).reason, 'there is no node n9');
});

test('a switch of branches by the user leaves no tag and no message', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  t.go(0);
  assert.equal(t.tree.hasTags, false);
  assert.deepEqual(t.request(), ['q']);
});
