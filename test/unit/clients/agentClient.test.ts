import assert from 'node:assert/strict';
import { test } from 'node:test';
import { undoAction } from '../../../src/agent/hold/preview/undo.ts';
import { ReviewComments } from '../../../src/agent/hold/preview/reviewComments.ts';
import { resolvePart } from '../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { modify } from '../../support/changes.ts';
import { agentWorld, TestAgent } from '../../support/agentClients.ts';

const NEWS = /^Since your last call:\n/;

test('a proposal answers at once, says that nothing is decided, and changes no file', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  assert.match(
    await agent.edit('two', 'TWO'),
    /^Staged as p1, not on disk, not decided yet\. .*\na\.txt: 1 edit/,
  );
  assert.equal(world.workspace.text('a.txt'), 'one\ntwo\nthree\n');
  const [preview] = world.store.all();
  assert.deepEqual(
    [preview?.sourceToolName, preview?.origin, preview?.state.kind],
    [
      'propose_edit',
      {
        sessionId: 'agent-1',
        agent: { name: 'tester', version: '1.0' },
        asksModel: false,
        setId: 'agent-1/1',
      },
      'pending',
    ],
  );
  assert.deepEqual([world.session.state, world.requests.length], ['idle', 0]);
});

test('a text that occurs several times is refused with what helps, and that helps', async () => {
  const world = agentWorld({ files: { 'a.txt': 'one\none\n' } });
  const agent = new TestAgent(world);
  const edits = [{ old: 'one', new: 'ONE' }];
  assert.match(await agent.refused('propose_edit', { path: 'a.txt', edits }), /or set replaceAll\.$/);
  const all = edits.map(edit => ({ ...edit, replaceAll: true }));
  assert.match(await agent.ok('propose_edit', { path: 'a.txt', edits: all }), /^Staged as p1/);
  assert.match(
    await agent.ok('propose_changes', {
      changes: [
        { path: 'b.txt', content: 'b' },
        { path: 'a.txt', edits: [{ old: 'ONE', new: '1', replaceAll: true }] },
      ],
    }),
    /^Staged as p2/,
  );
  assert.match(await agent.ok('read_file', { path: 'a.txt' }), /1\t1\n2\t1$/);
});

test('what was decided, by whom and why, comes before the next result, and only once', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  await agent.edit('one', 'ONE');
  await agent.edit('two', 'TWO');
  await world.click('p1', 'apply', 'Good.');
  await world.click('p2', 'discard', 'Keep it.');
  assert.equal(
    await agent.ok('read_file', { path: 'a.txt', endLine: 1 }),
    'Since your last call:\n' +
      'The user applied p1 (Edit a.txt (1 edit)). Reason: "Good."\n' +
      'The user discarded p2 (Edit a.txt (1 edit)). This is the user\'s decision, not a failure. Reason: "Keep it."\n' +
      '\na.txt, lines 1-1 of 3.\n1\tONE',
  );
  assert.doesNotMatch(await agent.ok('status'), NEWS);
  assert.match(
    await agent.ok('status'),
    /^Nothing of yours is pending\.\nDecided:\n- p1 .*: applied by the user\. Reason: Good\. \(set agent-1\/1\)\n- p2 .*: discarded by/,
  );
});

test('an agent tells no prompts: its change set ends once all of it is decided', async () => {
  const world = agentWorld({ files: { 'a.txt': 'one\ntwo\nthree\n' } });
  const agent = new TestAgent(world);
  const propose = (path: string): Promise<string> => agent.ok('propose_edit', { path, content: 'x\n' });
  await propose('b.txt');
  await propose('c.txt');
  await world.click('p1', 'apply', 'Good.');
  await propose('d.txt');
  await world.click('p2', 'discard', 'No.');
  await world.click('p3', 'apply', 'Good.');
  await propose('e.txt');
  assert.deepEqual(
    world.store.all().map(({ origin }) => origin?.setId),
    ['agent-1/1', 'agent-1/1', 'agent-1/1', 'agent-1/4'],
  );
  await world.click('p4', 'discard', 'No.');
  // The ledger still has what is forgotten, by its set.
  await world.store.forgetResolved(new Date(Date.now() + 60_000));
  await propose('f.txt');
  assert.equal(world.store.get('p5')?.origin?.setId, 'agent-1/5');
});

test('a hunk that is decided by itself is told with the refused lines, and the rest stays pending', async () => {
  const world = agentWorld({ files: { 'a.txt': `one\n${'-\n'.repeat(20)}two\n` } });
  const agent = new TestAgent(world);
  const edits = [
    { old: 'one', new: 'ONE' },
    { old: 'two', new: 'TWO' },
  ];
  await agent.ok('propose_edit', { path: 'a.txt', edits });
  const vote = { id: 'p1', revision: 1, action: 'discard', reason: 'No.', actor: 'human' } as const;
  await resolvePart(world, vote, { path: 'a.txt', hunk: 0 });
  const told = await agent.ok('status');
  assert.match(
    told,
    /The user discarded p2 \(.*\), a part of p1\. .*Reason: "No\."\nThe refused part:\n[^]*-one\n\+ONE/,
  );
  assert.match(told, /Pending:\n- p1 .*revision 2: pending/);
  assert.equal(world.store.get('p2')?.origin?.agent?.name, 'tester');
});

test('a call that is cancelled tells nothing, so that the next one does', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  await agent.edit('one', 'ONE');
  await world.click('p1', 'discard');
  const cancelled = await agent.client.call('status', {}, AbortSignal.abort());
  assert.doesNotMatch(cancelled.text, NEWS);
  assert.match(await agent.ok('status'), NEWS);
});

test('an agent sees its own pending changes, and those of no one else', async () => {
  const world = agentWorld();
  world.stage({ label: 'of Redline', changes: [modify('a.txt', 'one\ntwo\nthree\n', 'ours')] });
  const first = new TestAgent(world);
  const second = new TestAgent(world, { id: 'agent-2', agent: { name: 'other', version: '' } });
  await first.edit('two', 'TWO');
  assert.match(
    await first.ok('read_file', { path: 'a.txt' }),
    /as it would be with the pending preview p\d applied.*\n1\tone\n2\tTWO/s,
  );
  assert.match(await second.ok('read_file', { path: 'a.txt' }), /\n2\ttwo/);
  assert.match(await first.edit('TWO', '2'), /Builds on the pending preview p2\./);
  assert.match(await second.ok('status'), /^Nothing of yours is pending\.$/);
});

test('two agents may propose for one file; the one that is applied first wins, and both are told', async () => {
  const world = agentWorld();
  const first = new TestAgent(world);
  const second = new TestAgent(world, { id: 'agent-2' });
  await first.edit('two', 'from the first');
  await second.edit('two', 'from the second');
  await world.click('p1', 'apply');
  await assert.rejects(world.click('p2', 'apply'), /changed after the preview was made/);
  assert.equal(world.workspace.text('a.txt'), 'one\nfrom the first\nthree\n');
  assert.match(await first.ok('status'), /^Since your last call:\nThe user applied p1 [^\n]*\n\n/);
  const told = await second.ok('status');
  assert.match(told, /The user tried to apply p2 .*, which failed, so it was not applied/);
  assert.match(told, /- p2 .*: stale, since a\.txt changed\. Discard it if you may/);
});

test('an agent is told once that a proposal is stale, and not that it was for a while', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  await agent.edit('two', 'TWO');
  await world.store.markStale('p1', ['a.txt']);
  await world.store.markStale('p1', []);
  assert.doesNotMatch(await agent.ok('status'), NEWS);
  await world.store.markStale('p1', ['a.txt']);
  assert.match(await agent.ok('status'), /^Since your last call:\np1 \(.*\) is stale and cannot be applied/);
  assert.doesNotMatch(await agent.ok('status'), NEWS);
  await world.store.markStale('p1', []);
  assert.match(await agent.ok('status'), /^Since your last call:\np1 \(.*\) is no longer stale/);
});

test('an agent is told that a proposal is stale after an attempt that was under way', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  await agent.edit('two', 'TWO');
  await world.store.markStale('p1', ['a.txt']);
  const before = world.store.get('p1');
  assert.ok(before);
  world.store.beginResolving('p1', 'apply', 'human');
  assert.doesNotMatch(await agent.ok('status'), NEWS);
  void world.store.endResolving([], [before]);
  assert.match(await agent.ok('status'), /^Since your last call:\np1 \(.*\) is stale and cannot be applied/);
  assert.doesNotMatch(await agent.ok('status'), NEWS);
});

test('previews of others cannot be resolved or withdrawn, and are not even known', async () => {
  const world = agentWorld({ settings: { modelAuthority: 'apply' } });
  const first = new TestAgent(world);
  const second = new TestAgent(world, { id: 'agent-2' });
  await first.edit('two', 'TWO');
  for (const id of ['p1', 'p99'])
    assert.equal(
      await second.refused('resolve', { id, action: 'apply', reason: 'Mine.' }),
      `${id} is not one of your previews. Call status to see them.`,
    );
  assert.match(await second.refused('withdraw', { ids: ['p1'] }), /^p1 is not one of your previews/);
  assert.equal(world.store.get('p1')?.state.kind, 'pending');
});

test('its apply is a recommendation in Review, is executed in Auto, and is refused in Manual', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  const apply = (id: string): Promise<string> =>
    agent.ok('resolve', { id, action: 'apply', reason: 'Tested.' });
  await agent.edit('one', 'ONE');
  assert.match(await apply('p1'), /recommendation for p1 .* is recorded\. The user decides/);
  world.settings.modelAuthority = 'none';
  assert.equal(
    await apply('p1'),
    'Only the user decides on p1. Nothing has changed; the decision will come before the result of a later call.',
  );
  assert.equal(world.workspace.text('a.txt'), 'one\ntwo\nthree\n');
  world.settings.modelAuthority = 'apply';
  assert.match(await apply('p1'), /^Applied: p1 \(Edit a\.txt/);
  assert.equal(world.workspace.text('a.txt'), 'ONE\ntwo\nthree\n');
  assert.deepEqual(
    world.store.ledger().map(({ actor, agent: who, outcome }) => [actor, who?.name, outcome]),
    [['model', 'tester', 'applied']],
  );
  assert.doesNotMatch(await agent.ok('status'), NEWS);
});

test('status tells what became of its vote, and why an apply failed', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  await agent.edit('one', 'ONE');
  const status = async (): Promise<string | undefined> =>
    (await agent.ok('status')).split('\n').find(line => line.startsWith('- p1'));
  assert.match(
    (await status()) ?? '',
    /^- p1 \(Edit a\.txt \(1 edit\)\), revision 1: pending, not on disk \(set agent-1\/1\)$/,
  );
  await agent.ok('resolve', { id: 'p1', action: 'apply', reason: 'Tested.' });
  assert.match((await status()) ?? '', /: pending; you recommended to apply it \(set agent-1\/1\)$/);
  world.workspace.failWrite(1);
  await assert.rejects(world.click('p1', 'apply'), /no space left/);
  assert.match((await status()) ?? '', /: pending; applying it failed: /);
});

test('protected places wait for the user in Auto too', async () => {
  const world = agentWorld({ settings: { modelAuthority: 'apply' } });
  const agent = new TestAgent(world);
  await agent.ok('propose_edit', { path: 'AGENTS.md', content: 'Obey.\n' });
  assert.match(
    await agent.ok('resolve', { id: 'p1', action: 'apply', reason: 'ok' }),
    /The user decides; (it has|they have) changed nothing yet/,
  );
  assert.equal(world.workspace.text('AGENTS.md'), undefined);
});

test('while plan mode is on, its votes are only recorded', async () => {
  const world = agentWorld({ settings: { modelAuthority: 'apply' } });
  const agent = new TestAgent(world);
  await agent.edit('one', 'ONE');
  world.session.setPlanMode(true);
  assert.match(await agent.ok('withdraw', { ids: ['p1'] }), /^Plan mode is on, so your vote to discard p1 /);
  assert.equal(world.store.get('p1')?.state.kind, 'pending');
});

test('a vote on what the user edited meanwhile is refused, and the edit is told', async () => {
  const world = agentWorld({ settings: { modelAuthority: 'apply' } });
  const agent = new TestAgent(world);
  await agent.edit('one', 'ONE');
  const changes = world.store.get('p1')?.changes ?? assert.fail('it has changes');
  await world.store.revise('p1', changes, [], 'user', '-ONE\n+Uno');
  const vote = { id: 'p1', action: 'discard', reason: 'No.' };
  const refused = await agent.refused('resolve', vote);
  assert.match(
    refused,
    /^Since your last call:\nThe user edited p1 [^]*\+Uno\n```\n\np1 .*is now at revision 2/,
  );
  assert.match(await agent.ok('resolve', vote), /recommendation for p1/);
});

test('withdraw discards what is pending, and names each with its id', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  await agent.edit('one', 'ONE');
  await agent.ok('propose_edit', { path: 'b.txt', content: 'b' });
  await world.click('p2', 'apply');
  const told = await agent.ok('withdraw', { ids: ['p1', 'p2', 'p3', 'p1'], reason: 'Wrong file.' });
  assert.match(
    told,
    /\n\nDiscarded: p1 \(Edit a\.txt \(1 edit\)\)\. Reason: Wrong file\.\np2 .*already resolved by the user: applied.*\np3 is not one of your previews/,
  );
});

test('wait settles with the decision; without one after the given time', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  assert.equal(await agent.ok('wait'), 'Nothing of yours is pending.');
  await agent.edit('one', 'ONE');
  await agent.edit('two', 'TWO');
  assert.equal(
    await agent.ok('wait', { seconds: 0 }),
    'Nothing was decided in 0 seconds. Still pending: p1, p2.',
  );
  const waiting = agent.ok('wait');
  await world.click('p1', 'apply');
  assert.match(await waiting, /^Since your last call:\nThe user applied p1 .*\n\nStill pending: p2\.$/s);
  assert.match(await agent.refused('wait', { seconds: 46 }), /seconds: .*45/);
});

test('cancelling a wait ends it', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  await agent.edit('one', 'ONE');
  const controller = new AbortController();
  const waiting = agent.client.call('wait', {}, controller.signal);
  controller.abort();
  assert.equal((await waiting).isError, true);
});

test('an agent that comes back goes on with its previews, and hears what it has missed', async () => {
  const world = agentWorld();
  const before = new TestAgent(world);
  await before.edit('one', 'ONE');
  await before.edit('two', 'TWO');
  await world.click('p1', 'apply');
  await before.ok('status');
  const { heard } = before.client;
  before.client.dispose();
  await world.click('p2', 'discard', 'No.');
  const after = new TestAgent(agentWorld({ log: world.log, workspace: world.workspace }), { heard });
  const told = await after.ok('status');
  assert.match(told, /^Since your last call:\nThe user discarded p2 .*"No\."\n\nNothing/);
  assert.doesNotMatch(told, /The user applied p1/);
  assert.doesNotMatch(await after.ok('status'), NEWS);
});

test('an agent that comes back cannot vote on a revision that it was never told about', async () => {
  const world = agentWorld();
  const before = new TestAgent(world);
  await before.edit('one', 'ONE');
  const { heard } = before.client;
  before.client.dispose();
  const preview = world.store.get('p1') ?? assert.fail();
  await world.store.revise('p1', preview.changes ?? [], [], 'rebase');
  const after = new TestAgent(agentWorld({ log: world.log, workspace: world.workspace }), { heard });
  assert.match(
    await after.refused('resolve', { id: 'p1', action: 'apply', reason: 'Good.' }),
    /^Since your last call:\np1 .* is at revision 2\. It may have changed .*\n\n.*this vote was for revision 1/s,
  );
  assert.equal(world.workspace.text('a.txt'), 'one\ntwo\nthree\n');
  assert.doesNotMatch(await after.ok('status'), NEWS);
});

test('the previews of an agent that went away stay pending, across a reload, and name it', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  await agent.edit('one', 'ONE');
  agent.client.dispose();
  const reloaded = agentWorld({ log: world.log, workspace: world.workspace });
  assert.deepEqual(reloaded.store.get('p1')?.origin?.agent, { name: 'tester', version: '1.0' });
  await reloaded.click('p1', 'apply');
  assert.equal(world.workspace.text('a.txt'), 'ONE\ntwo\nthree\n');
  assert.deepEqual(reloaded.store.ledger()[0]?.agent, { name: 'tester', version: '1.0' });
});

test('paths outside, odd names and oversized input are refused with a sentence, and stage nothing', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  const create = (path: string, content = 'x'): Promise<string> =>
    agent.refused('propose_edit', { path, content });
  assert.match(await create('../outside.txt'), /outside the workspace/);
  assert.match(await create('/etc/passwd'), /outside the workspace/);
  assert.match(await create('.git/config'), /belongs to git/);
  assert.match(await create('a.txt/b.txt'), /a\.txt is a file/);
  assert.match(await create('nul.txt', 'a\0b'), /NUL/);
  assert.match(await create('large.txt', 'x'.repeat(5 * 1024 * 1024 + 1)), /larger than 5 MB/);
  assert.match(await agent.refused('propose_edit', { path: 'a.txt' }), /^Give edits, or content/);
  assert.match(await agent.refused('propose_edit', 'nonsense'), /^Invalid arguments for propose_edit/);
  const deep: unknown = Array.from({ length: 200 }).reduce<unknown>(inner => ({ inner }), {});
  assert.match(await agent.refused('propose_edit', deep), /nested more than 100 levels/);
  assert.match(
    await agent.refused('write_file', {}),
    /^There is no tool named write_file\. Available: propose_edit, /,
  );
  assert.deepEqual(world.store.all(), []);
});

test('five hundred proposals at once are staged in the order of the calls, and each decision is told', async () => {
  const world = agentWorld({ files: {} });
  const agent = new TestAgent(world);
  const count = 500;
  const names = Array.from({ length: count }, (_, n) => `f${n}.txt`);
  await Promise.all(names.map(path => agent.ok('propose_edit', { path, content: path })));
  assert.deepEqual(
    world.store.all().map(({ changes }) => changes?.[0]?.path),
    names,
  );
  for (const { id } of world.store.all()) await world.click(id, 'discard');
  const told: string[] = [];
  for (;;) {
    const text = await agent.ok('status');
    for (const [, id = ''] of text.matchAll(/^The user discarded (p\d+) /gm)) told.push(id);
    if (!NEWS.test(text)) break;
  }
  assert.deepEqual(
    told,
    names.map((_, n) => `p${n + 1}`),
  );
});

test('undoing what it proposed keeps its name, and it is told', async () => {
  const world = agentWorld();
  const agent = new TestAgent(world);
  await agent.edit('one', 'ONE');
  await world.click('p1', 'apply');
  const applied = world.store.get('p1') ?? assert.fail('it is known');
  world.session.stageForUser(undoAction(applied) ?? assert.fail('it can be undone'));
  assert.equal(world.store.get('p2')?.origin?.agent?.name, 'tester');
  await world.click('p2', 'apply');
  assert.equal(world.workspace.text('a.txt'), 'one\ntwo\nthree\n');
  assert.match(await agent.ok('status'), /The user applied p2 \(Undo: Edit a\.txt \(1 edit\)\)\./);
});

test('an agent has so many proposals pending, and so much text in them, and no more until some are decided', async () => {
  const t = agentWorld({ files: {} });
  const agent = new TestAgent(t);
  const propose = (path: string, content: string) => ({ path, content });
  for (let n = 0; n < 5; n++) await agent.ok('propose_edit', propose(`${n}.txt`, 'x'.repeat(4_000_000)));
  assert.match(
    await agent.refused('propose_edit', propose('more.txt', 'x'.repeat(1_000_000))),
    /^With this, the text of your pending previews would exceed 20 million characters.*Nothing was staged/,
  );
  assert.match(await agent.ok('withdraw', { ids: ['p1'] }), /^Discarded/);
  await agent.ok('propose_edit', propose('more.txt', 'x'.repeat(1_000_000)));

  const many = new TestAgent(t, { id: 'agent-2' });
  for (let n = 0; n < 500; n++) await many.ok('propose_edit', propose(`many/${n}.txt`, 'x'));
  assert.match(
    await many.refused('propose_edit', propose('last.txt', 'x')),
    /^You have 500 pending previews/,
  );
  await new TestAgent(t, { id: 'agent-3' }).ok('propose_edit', propose('last.txt', 'x'));
});

test('a reason is kept up to a length', async () => {
  const t = agentWorld();
  const agent = new TestAgent(t);
  await agent.edit('one', 'ONE');
  await agent.edit('two', 'TWO');
  await agent.ok('withdraw', { ids: ['p1'], reason: 'no '.repeat(2_000_000) });
  await agent.ok('resolve', { id: 'p2', action: 'discard', reason: `${'x'.repeat(999)}😀` });
  const reasons = t.store.ledger().map(({ reason }) => reason);
  assert.deepEqual(
    reasons.map(({ length }) => length),
    [1_000, 1_000],
  );
  assert.ok(reasons.every(reason => reason.endsWith('…') && reason.isWellFormed()));
});

test('comments that the user sends are told of with the next call, listed by status, and can be answered', async () => {
  const world = agentWorld();
  const comments = new ReviewComments(world.store);
  const sent = () => comments.all.filter(({ isSent }) => isSent);
  const host = {
    ...world.host,
    sentComments: sent,
    answerComment: (id: string, text: string) => comments.answer(id, text),
  };
  const agent = new TestAgent({ host });
  const other = new TestAgent({ host }, { id: 'agent-2' });
  await agent.edit('two', 'TWO');
  comments.add({ previewId: 'p1', path: 'a.txt', side: 'proposal', line: 1 }, 'In lower case, please.');
  assert.doesNotMatch(await agent.ok('status'), /lower case/);
  comments.markSent(comments.drafts.map(({ id }) => id));
  const told = await agent.ok('read_file', { path: 'a.txt' });
  assert.match(told, /^Since your last call:\nThe user sent 1 comment on your previews\. Call status/);
  assert.match(
    await agent.ok('status'),
    /Comments of the user; call answer to reply:\n\[c1\] p1, a\.txt, line 2 of the preview, hunk 1:\n> TWO\nIn lower case, please\.$/,
  );
  assert.doesNotMatch(await other.ok('status'), /Comments/);
  await agent.ok('answer', { comment: 'c1', text: ' It is a constant. ' });
  assert.deepEqual(comments.all[0]?.answers, ['It is a constant.']);
  assert.match(await other.refused('answer', { comment: 'c1', text: 'x' }), /c1 is not a comment on your/);
  assert.match(
    await agent.refused('answer', { comment: 'c2', text: 'x' }),
    /Call status to list those that are/,
  );
});
