import assert from 'node:assert/strict';
import { test } from 'node:test';
import { childrenOf, keyOf, PAGE, type PendingNode } from '../../../../src/views/pending/pendingNodes.ts';
import { create } from '../../../support/changes.ts';
import { agentWorld, TestAgent } from '../../../support/agentClients.ts';

const named = (name: string) => ({ id: `agent-${name}`, agent: { name, version: '1' } });

test('previews of one agent are not grouped', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world, named('Claude Code'));
  await agent.edit('one', 'ONE');
  await agent.edit('two', 'TWO');
  const rows = childrenOf(world.store, world.store.list('newestFirst'), undefined);
  // The second builds on the first.
  assert.deepEqual(rows.map(keyOf), ['preview:p1', 'preview:p2']);
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
    childrenOf(world.store, world.store.list('newestFirst'), group).map(keyOf);
  assert.deepEqual(groups.map(rowsOf), [['preview:p4', 'preview:p1'], ['preview:p3'], ['preview:p2']]);
  assert.equal(new Set(groups.map(keyOf)).size, 3);
});

test('thousands of previews of one of several agents are folded', async () => {
  const world = agentWorld({ files: {} });
  const codex = new TestAgent(world, named('Codex'));
  for (let n = 0; n < PAGE; n++) await codex.ok('propose_edit', { path: `${n}.txt`, content: 'x' });
  // One agent has no more pending at once than fit on a page; what it proposed earlier may be there, too.
  const agent = world.store.list('oldestFirst')[0]?.origin?.agent ?? assert.fail('an agent');
  world.stage({ label: 'more', changes: [create('more.txt', 'x')], sessionId: 'earlier', agent });
  world.stage({ label: 'of Redline', changes: [create('new.txt', 'x')] });
  const group: PendingNode = { kind: 'agent', agent: 'Codex', count: PAGE + 1 };
  const rows = childrenOf(world.store, world.store.list('oldestFirst'), group);
  assert.deepEqual(rows.at(-1), { kind: 'more', from: PAGE, count: 1, agent: 'Codex' });
  const more = rows.at(-1) ?? assert.fail('there are rows');
  assert.deepEqual(childrenOf(world.store, world.store.list('oldestFirst'), more).map(keyOf), [
    `preview:p${PAGE + 1}`,
  ]);
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
    keys.push(...below.map(keyOf));
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
