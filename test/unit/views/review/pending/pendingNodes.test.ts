import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PendingAction } from '../../../../../src/agent/hold/preview/pendingAction.ts';
import { childrenOf, PAGE } from '../../../../../src/views/review/pending/pendingNodes.ts';
import { nodeKey, type PendingNode } from '../../../../../src/views/review/pending/pendingNode.ts';
import { create } from '../../../../support/changes.ts';
import { agentWorld, TestAgent } from '../../../../support/agentClients.ts';

const named = (name: string) => ({ id: `agent-${name}`, agent: { name, version: '1' } });

test('what one agent proposes is one change set, which keeps what is decided and goes with its last preview', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world, named('Claude Code'));
  await agent.edit('one', 'ONE');
  await agent.edit('two', 'TWO');
  const rows = childrenOf(world.store, world.store.list('newestFirst'), undefined);
  // The second builds on the first.
  assert.deepEqual(rows.map(nodeKey), ['set:agent-Claude Code/1']);
  const below = (): string[] => {
    const [set = assert.fail()] = childrenOf(world.store, world.store.list('newestFirst'), undefined);
    return childrenOf(world.store, world.store.list('newestFirst'), set).map(nodeKey);
  };
  assert.deepEqual(below(), ['preview:p1', 'preview:p2']);
  await world.click('p1', 'apply', 'Good.');
  assert.deepEqual(below(), ['preview:p2', 'preview:p1']);
  await world.click('p2', 'apply', 'Good.');
  assert.deepEqual(childrenOf(world.store, world.store.list('newestFirst'), undefined), []);
});

test('what was decided since the row of its set was made is below it once', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world, named('Claude Code'));
  await agent.edit('one', 'ONE');
  await agent.edit('two', 'TWO');
  const [set = assert.fail()] = childrenOf(world.store, world.store.list('newestFirst'), undefined);
  await world.click('p1', 'apply', 'Good.');
  assert.deepEqual(childrenOf(world.store, world.store.list('newestFirst'), set).map(nodeKey), [
    'preview:p2',
    'preview:p1',
  ]);
});

test('with several agents there is a group for each, Redline among them', async () => {
  const world = agentWorld();
  const claude = new TestAgent(world, named('Claude Code'));
  const codex = new TestAgent(world, named('Codex'));
  await claude.edit('one', 'ONE');
  world.stage({ label: 'of Redline', changes: [create('new.txt', 'x')] });
  await codex.edit('two', 'TWO');
  await claude.ok('propose_edit', { path: 'other.txt', content: 'x' });
  const groups = childrenOf(world.store, world.store.list('newestFirst'), undefined);
  assert.deepEqual(groups, [
    { kind: 'agent', agent: 'Claude Code', count: 2 },
    { kind: 'agent', agent: 'Codex', count: 1 },
    { kind: 'agent', agent: '', count: 1 },
  ]);
  const rowsOf = (group: PendingNode): string[] =>
    childrenOf(world.store, world.store.list('newestFirst'), group).map(nodeKey);
  assert.deepEqual(groups.map(rowsOf), [['preview:p4', 'preview:p1'], ['preview:p3'], ['preview:p2']]);
  assert.equal(new Set(groups.map(nodeKey)).size, 3);
});

test('thousands of previews of one of several agents are folded, in its change set and beside it', () => {
  const world = agentWorld({ files: {} });
  const agent = { name: 'Codex', version: '1' };
  const stage = (path: string, more: Partial<PendingAction>): void =>
    void world.stage({ label: path, changes: [create(path, 'x')], agent, sessionId: 'codex', ...more });
  for (let n = 0; n <= PAGE; n++) stage(`${n}.txt`, { changeSet: { setId: 'first' } });
  for (let n = 0; n <= PAGE; n++) stage(`more${n}.txt`, { changeSet: {} });
  world.stage({ label: 'of Redline', changes: [create('new.txt', 'x')] });
  const childrenIn = (node: PendingNode): readonly PendingNode[] =>
    childrenOf(world.store, world.store.list('oldestFirst'), node);
  const rows = childrenIn({ kind: 'agent', agent: 'Codex', count: 2 * PAGE + 2 });
  assert.equal(rows.length, PAGE + 1);
  assert.deepEqual(rows.at(-1), { kind: 'more', from: PAGE, count: 2, agent: 'Codex' });
  const more = rows.at(-1) ?? assert.fail('there are rows');
  assert.deepEqual(childrenIn(more).map(nodeKey), [`preview:p${2 * PAGE + 1}`, `preview:p${2 * PAGE + 2}`]);
  const set = rows[0] ?? assert.fail('there are rows');
  const inSet = childrenIn(set);
  assert.deepEqual([inSet.length, inSet.at(-1)?.kind], [PAGE + 1, 'more']);
  assert.deepEqual(childrenIn(inSet.at(-1) ?? assert.fail()).map(nodeKey), [`preview:p${PAGE + 1}`]);
});

test('thousands of files of one preview are folded, in a row that no command takes for the preview', () => {
  const world = agentWorld({ files: {} });
  const paths = Array.from({ length: PAGE * 2 + 1 }, (_, n) => `${n}.txt`);
  world.stage({ label: 'Rewrite', changes: paths.map(path => create(path, 'x')) });
  const rows: PendingNode[] = [];
  const keys: string[] = [];
  for (
    let at: PendingNode | undefined = childrenOf(world.store, world.store.list('oldestFirst'), undefined)[0];
    at;
  ) {
    const below: readonly PendingNode[] = childrenOf(world.store, [], at);
    keys.push(...below.map(nodeKey));
    rows.push(...below.filter(({ kind }) => kind === 'file'));
    assert.ok(below.length <= PAGE + 1);
    at = below.find(({ kind }) => kind === 'more');
    assert.ok(!at || !('previewId' in at));
  }
  assert.deepEqual(
    rows.map(row => row.kind === 'file' && row.path),
    paths,
  );
  assert.equal(new Set(keys).size, PAGE * 2 + 1 + 2);
});
