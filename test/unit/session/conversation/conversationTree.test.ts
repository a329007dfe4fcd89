import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { StoredBody } from '../../../../src/agent/session/conversation/bodies.ts';
import { ConversationTree } from '../../../../src/agent/session/conversation/conversationTree.ts';
import { validateRevert } from '../../../../src/agent/session/conversation/validateRevert.ts';
import type { SessionMessage } from '../../../../src/agent/session/model/messages.ts';
import { TreeMaker } from '../../../support/treeMaker.ts';

const user = (text: string): SessionMessage => ({ role: 'user', text });
const texts = (tree: ConversationTree): string[] =>
  tree.messages.map(message => ('text' in message ? message.text : ''));

test('ids count up from 0 for the whole session, over all branches', () => {
  const t = new TreeMaker();
  assert.deepEqual([t.user('q'), t.says('a')], [0, 1]);
  t.go(0);
  assert.equal(t.says('b'), 2);
  t.go(null);
  assert.equal(t.user('r'), 3);
});

test('each message follows the active node; parallel results form a chain in call order', () => {
  const t = new TreeMaker();
  t.user('q');
  t.calls('', 'a', 'b', 'c');
  assert.deepEqual(
    [0, 1, 2, 3, 4].map(id => t.tree.get(id)?.parentId),
    [null, 0, 1, 2, 3],
  );
});

test('the trunk leads from the root to the active node; abandoned nodes stay in the tree', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  t.go(0);
  t.says('b');
  assert.deepEqual(t.tree.trunk, [0, 2]);
  assert.deepEqual(texts(t.tree), ['q', 'b']);
  assert.equal(t.tree.active, 2);
  assert.equal(t.tree.size, 3);
  assert.deepEqual(t.tree.get(1), {
    id: 1,
    parentId: 0,
    message: { role: 'assistant', text: 'a', toolCalls: [], stopReason: 'stop' },
  });
});

test('children and roots are in the order of creation; the tip follows the newest', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  t.go(0);
  t.says('b');
  t.says('b2');
  t.go(null);
  t.user('r');
  assert.deepEqual(t.tree.childrenOf(null), [0, 4]);
  assert.deepEqual(t.tree.childrenOf(0), [1, 2]);
  assert.deepEqual(t.tree.childrenOf(99), []);
  assert.equal(t.tree.tipOf(0), 3);
  assert.equal(t.tree.tipOf(1), 1);
});

test('an abandoned branch can be switched back to, and only nodes that do not lead there leave the trunk', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  t.says('a2');
  t.go(0);
  t.says('b');
  assert.deepEqual(t.tree.nodesLeaving(2), [3]);
  assert.deepEqual(t.go(2).abandonedNodeIds, [3]);
  assert.deepEqual(t.tree.trunk, [0, 1, 2]);
});

test('only nodes on the trunk have a position', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  t.go(0);
  t.says('b');
  assert.deepEqual(
    [0, 1, 2, 7].map(id => t.tree.positionOf(id)),
    [0, -1, 1, -1],
  );
  assert.deepEqual(t.tree.nodesAfter(0), [2]);
  assert.deepEqual(t.tree.nodesAfter(null), [0, 2]);
  assert.deepEqual(t.tree.nodesAfter(1), []);
});

test('turns count through the whole session, never restarting', () => {
  const t = new TreeMaker();
  t.user('q');
  t.says('a');
  t.says('b');
  t.go(0);
  assert.equal(t.tree.turns, 2);
  t.says('c');
  assert.equal(t.tree.turns, 3);
});

test('a tree of many nodes keeps its shape', () => {
  const tree = new ConversationTree();
  for (let i = 0; i < 2_000; i++) tree.append(user(`${i}`));
  assert.equal(tree.positionOf(1_999), 1_999);
  assert.deepEqual(tree.childrenOf(1_000), [1_001]);
  assert.equal(tree.tipOf(0), 1_999);
});

test('ids with gaps are found, and the next id is above all of them', () => {
  const tree = new ConversationTree();
  for (const id of [0, 1, 5, 6, 9])
    assert.ok(tree.restore({ id, parentId: id === 0 ? null : id - 1, message: user(`${id}`) }));
  assert.deepEqual(
    [0, 1, 2, 5, 6, 7, 9].map(id => tree.has(id)),
    [true, true, false, true, true, false, true],
  );
  assert.equal(tree.nextId, 10);
  assert.deepEqual(tree.trunk, [0, 1, 5, 6, 9]);
});

test('a stored message whose parent is missing follows the active node', () => {
  const tree = new ConversationTree();
  tree.restore({ id: 0, parentId: null, message: user('0') });
  tree.restore({ id: 2, parentId: 1, message: user('2') });
  assert.deepEqual(tree.trunk, [0, 2]);
});

test('a stored message with an id that is not above all others is refused', () => {
  const tree = new ConversationTree();
  tree.restore({ id: 3, parentId: null, message: user('3') });
  assert.equal(tree.restore({ id: 3, parentId: null, message: user('again') }), false);
  assert.equal(tree.restore({ id: 1, parentId: null, message: user('older') }), false);
  assert.deepEqual(texts(tree), ['3']);
});

test('a stored message has its place by its parent, even if the revert that led there is missing', () => {
  const tree = new ConversationTree();
  tree.restore({ id: 0, parentId: null, message: user('0') });
  tree.restore({ id: 1, parentId: 0, message: user('1') });
  tree.restore({ id: 2, parentId: 0, message: user('2') });
  assert.deepEqual(tree.trunk, [0, 2]);
});

test('a revert whose target is missing leads to the parent of the abandoned branch', () => {
  const t = new TreeMaker();
  const { tree } = t;
  tree.restore({ id: 0, parentId: null, message: user('0') });
  tree.restore({ id: 2, parentId: 1, message: user('2') });
  const record = {
    category: 'failure',
    summary: 's',
    applied: true,
    reason: null,
    timestamp: '',
    actor: 'model',
  } as const;
  tree.apply({ ...record, target: 1, abandonedNodeIds: [2] });
  assert.deepEqual(tree.trunk, [0]);
  assert.equal(tree.tagsOf(0).length, 1);
  tree.apply({ ...record, target: 77, abandonedNodeIds: [78] });
  assert.deepEqual(tree.trunk, [0]);
});

test('stored messages are parsed once, at their first use; reading ahead follows the trunk', async () => {
  const read: number[] = [];
  const tree = new ConversationTree();
  const stored = (id: number): StoredBody => ({
    role: 'user',
    read: () => {
      read.push(id);
      return { role: 'user', text: `${id}` };
    },
  });
  for (let id = 0; id < 1_000; id++)
    tree.restore({ id, parentId: id === 0 ? null : id - 1, message: stored(id) });
  assert.equal(tree.roleOf(999), 'user');
  assert.deepEqual(read, []);
  const ahead = tree.readAhead();
  assert.ok(read.length < 1_000, 'others have their turn');
  tree.apply(validateRevert(tree, { category: null, target: 499, summary: null, actor: 'human' }));
  tree.append({ role: 'user', text: 'new' });
  await ahead;
  assert.deepEqual(read, [...read.keys()].slice(0, 500));
  assert.deepEqual(
    tree.messages.map(message => (message.role === 'user' ? message.text : '')),
    [...read.map(String), 'new'],
  );
  assert.equal(read.length, 500);
});
