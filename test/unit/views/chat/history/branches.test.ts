import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ConversationTree } from '../../../../../src/agent/session/conversation/conversationTree.ts';
import { branchesOf, revertTargetOf } from '../../../../../src/views/chat/history/branches.ts';
import { TreeMaker } from '../../../../support/treeMaker.ts';

/** Each branch: its own line, how many messages are on it, its title, and its tags. */
const drawing = (tree: ConversationTree): string[] =>
  branchesOf(tree).map(({ node, tip, length, titled, tags }) =>
    [`n${node}–n${tip} (${length}) n${titled}`, ...tags.map(({ kind, text }) => `${kind}: ${text}`)].join(
      ' ',
    ),
  );

test('a conversation that never went back has no branches', () => {
  const maker = new TreeMaker();
  assert.deepEqual(drawing(maker.tree), []);
  maker.user('q');
  maker.calls('', 'read_file', 'read_file');
  maker.says('done');
  assert.deepEqual(drawing(maker.tree), []);
});

test('what a revert left is a branch with its tag; what follows the current message is one, too', () => {
  const maker = new TreeMaker();
  maker.user('q');
  const [, result] = maker.calls('', 'read_file');
  assert.ok(result !== undefined);
  maker.says('dead end');
  maker.revert('failure', result, 'Generated.');
  const good = maker.says('two');
  maker.user('more');
  maker.says('three');
  assert.deepEqual(drawing(maker.tree), ['n3–n3 (1) n3 revert-lesson: Generated.']);
  maker.go(good);
  assert.deepEqual(drawing(maker.tree), ['n5–n6 (2) n5', 'n3–n3 (1) n3 revert-lesson: Generated.']);
});

test('a branch has its own branches, and follows its newest child', () => {
  const maker = new TreeMaker();
  const root = maker.user('q');
  const one = maker.says('one');
  maker.user('a');
  maker.go(one);
  maker.user('b');
  maker.go(root, 'completion', 'Both.');
  maker.says('two');
  assert.deepEqual(drawing(maker.tree), ['n1–n3 (2) n3 revert-outcome: Both.', 'n2–n2 (1) n2']);
});

test('before the first message everything is a branch, which can be switched to', () => {
  const maker = new TreeMaker();
  maker.user('q');
  const tip = maker.says('a');
  maker.go(null);
  assert.deepEqual(drawing(maker.tree), ['n0–n1 (2) n0']);
  maker.go(tip);
  assert.deepEqual(drawing(maker.tree), []);
});

test('a branch that is switched to is no branch any more, and the line that is left is one', () => {
  const maker = new TreeMaker();
  const root = maker.user('q');
  const left = maker.says('one');
  maker.revert('failure', root, 'No.');
  maker.says('two');
  maker.go(left);
  assert.deepEqual(drawing(maker.tree), ['n2–n2 (1) n2']);
});

test('a branch may start in the middle of the results of an answer', () => {
  const maker = new TreeMaker();
  maker.user('q');
  const [answer] = maker.calls('', 'read_file', 'edit_file');
  maker.go(answer);
  assert.deepEqual(drawing(maker.tree), ['n2–n3 (2) n2']);
});

test('reverting to a prompt leads to before it, to any other message to the message itself', () => {
  const maker = new TreeMaker();
  const first = maker.user('q');
  const answer = maker.says('a');
  const second = maker.user('r');
  assert.equal(revertTargetOf(maker.tree, first), null);
  assert.equal(revertTargetOf(maker.tree, answer), answer);
  assert.equal(revertTargetOf(maker.tree, second), answer);
});

test('random trees: every message is on the trunk or on one branch', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let round = 0; round < 50; round++) {
    const maker = new TreeMaker();
    for (let step = 0; step < 40; step++) {
      const target = random(maker.tree.size + 1) - 1;
      const kind = random(5);
      if (kind === 0) maker.says(String(step));
      else if (kind === 1) maker.user(String(step));
      else if (kind === 2) maker.local('/help');
      else if (kind === 3) maker.calls(random(2) === 0 ? '' : 'x', 'read_file', 'edit_file');
      else if (maker.tree.size > 0)
        maker.go(target < 0 ? null : target, random(2) === 0 ? 'tangent' : null, 'x');
    }
    const { tree } = maker;
    const onBranches = branchesOf(tree).reduce((sum, { length }) => sum + length, 0);
    assert.equal(onBranches + tree.trunk.length, tree.size);
  }
});
