import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { parseSlashCommand } from '../../../../src/agent/session/model/offline/slashCommands.ts';
import { textResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { humanReason } from '../../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import type { LoadProblem } from '../../../../src/agent/session/tools/custom/loading/loadProblem.ts';
import { LocalCommands } from '../../../../src/views/chat/localCommands.ts';
import { modify } from '../../../support/chatFixtures.ts';
import { Gate } from '../../../support/gate.ts';
import { createTestSession, type TestSessionOptions } from '../../../support/testSession.ts';

function setUp(options: TestSessionOptions = {}) {
  const t = createTestSession({ files: { 'a.ts': 'old\n', 'b.ts': 'old\n' }, ...options });
  const shown: { id?: string; revision?: number } = {};
  const opened: string[] = [];
  let discarded: number | undefined;
  let refusing = false;
  const customTools = { problems: [] as LoadProblem[], withheld: [] as string[] };
  const told: string[] = [];
  const commands = new LocalCommands({
    session: t.session,
    tell: answer => void told.push(answer),
    store: t.store,
    tools: t.tools,
    customTools,
    nameOf: file => file.replace('/project/', ''),
    review: { list: () => t.store.list('newestFirst') },
    activePreviewId: () => shown.id,
    shownRevision: id => (id === shown.id ? shown.revision : undefined),
    // As the commands do: they tell an error themselves, and resolve nothing where the person is asked and says no.
    vote: async (action, id, reason, revision) =>
      refusing
        ? undefined
        : t.invoker
            .resolve({ id, revision, action, reason: humanReason(action, reason), actor: 'human' })
            .then(({ kind }) => kind)
            .catch(() => undefined),
    open: id => Promise.resolve(opened.push(id)),
    discardAll: () => Promise.resolve(discarded),
    logger: silentLogger,
  });
  const parsed = (typed: string) => {
    const command = parseSlashCommand(typed);
    assert.ok(command && command.kind !== 'call');
    return command;
  };
  const run = (typed: string): Promise<string> => commands.run(parsed(typed));
  const answer = (typed: string): Promise<string> => commands.answer(typed, parsed(typed));
  const stage = (path: string) => t.stage({ label: `Edit ${path}`, changes: [modify(path)] });
  return {
    ...t,
    shown,
    opened,
    run,
    answer,
    told,
    customTools,
    stageEdit: stage,
    willDiscard: (count: number | undefined) => (discarded = count),
    willRefuse: () => (refusing = true),
  };
}

test('/apply does the same as clicking Apply on the preview in the active editor', async () => {
  const { run, stageEdit, shown, workspace, store } = setUp();
  stageEdit('a.ts');
  stageEdit('b.ts');
  shown.id = 'p1';
  assert.equal(await run('/apply'), 'Applied p1 (Edit a.ts).');
  assert.equal(workspace.text('a.ts'), 'new\n');
  assert.equal(workspace.text('b.ts'), 'old\n');
  const { actor, reason, previewId } = store.ledger()[0] ?? assert.fail();
  assert.deepEqual([actor, reason, previewId], ['human', 'Applied by the user.', 'p1']);
});

for (const typed of ['/apply', '/apply p1', '/discard', '/discard p1'])
  test(`${typed} is a vote on what the editor shows: nothing that a rebase brought and that is not shown yet`, async () => {
    const { run, stageEdit, shown, store, workspace } = setUp();
    stageEdit('a.ts');
    Object.assign(shown, { id: 'p1', revision: 1 });
    await store.revise('p1', [modify('a.ts', 'old\n', 'newer\n')], [], 'rebase');
    assert.equal(await run(typed), 'p1 (Edit a.ts) is still pending.');
    assert.equal(workspace.text('a.ts'), 'old\n');
    shown.revision = 2;
    assert.match(await run(typed), /^(Applied|Discarded) p1/);
  });

test('without an open preview, nothing is resolved unseen: the head opens', async () => {
  const { run, stageEdit, shown, opened, store, workspace } = setUp();
  assert.equal(await run('/apply'), 'Nothing is pending.');
  stageEdit('a.ts');
  stageEdit('b.ts');
  for (const command of ['/apply', '/discard']) {
    assert.match(await run(command), /^No preview was open, so p2 \(Edit b\.ts\) has been opened/);
  }
  assert.deepEqual(opened, ['p2', 'p2']);
  assert.equal(store.ledger().length, 0);
  assert.equal(workspace.text('b.ts'), 'old\n');
  shown.id = 'p2';
  assert.match(await run('/discard Not this'), /^Discarded p2/);
  assert.match(await run('/discard'), /^No preview was open, so p1/);
});

test('declining the confirmation leaves the preview pending', async () => {
  const { run, stageEdit, willRefuse, store } = setUp();
  stageEdit('a.ts');
  willRefuse();
  assert.equal(await run('/apply p1'), 'p1 (Edit a.ts) is still pending.');
  assert.equal(store.get('p1')?.state.kind, 'pending');
});

test('a reason reaches the ledger; a second vote reports the first outcome', async () => {
  const { run, stageEdit, store } = setUp();
  stageEdit('a.ts');
  await run('/discard p1 It is *wrong*.');
  assert.equal(store.ledger()[0]?.reason, 'It is *wrong*.');
  assert.equal(await run('/apply p1'), 'p1 (Edit a.ts) is already discarded: It is \\*wrong\\*.');
  assert.equal(store.ledger().length, 1);
});

test('on a stale base nothing is written, and the preview stays', async () => {
  const { run, stageEdit, workspace, store } = setUp();
  stageEdit('a.ts');
  workspace.put('a.ts', 'other\n');
  assert.equal(await run('/apply p1'), 'p1 (Edit a.ts) is still pending.');
  assert.equal(workspace.text('a.ts'), 'other\n');
  assert.equal(store.get('p1')?.state.kind, 'pending');
});

test('an unknown id, an unexpected failure, /discard-all, /tools, /help and wrong usage', async () => {
  const { run, stage, willDiscard } = setUp();
  assert.equal(await run('/apply p9'), 'There is no preview p9.');
  stage({
    label: 'Run `it`',
    apply: () => Promise.resolve({ content: [{ type: 'text', text: 'No disk.' }], isError: true }),
  });
  assert.equal(await run('/apply p1'), 'Applied p1 (Run \\`it\\`), which returned an error: No disk.');
  willDiscard(undefined);
  assert.equal(await run('/discard-all'), 'Nothing is pending.');
  willDiscard(0);
  assert.equal(await run('/discard-all'), 'Nothing was discarded.');
  willDiscard(1);
  assert.equal(await run('/discard-all'), 'Discarded 1 preview.');
  willDiscard(3);
  assert.equal(await run('/discard-all'), 'Discarded 3 previews.');
  const tools = await run('/tools');
  assert.match(tools, /- `edit_file`: Propose edits to one file\./);
  assert.ok(!tools.includes('`resolve`'));
  assert.match(await run('/help'), /- `\/discard-all`/);
  assert.equal(await run('/call x'.replace('x', '{')), 'Usage: `/call <tool> [json]`');
});

test('/revert reverts the conversation for the user, whatever the settings', async () => {
  const { run, session, answers } = setUp({ script: [{ text: 'one' }, { text: 'two' }] });
  await session.prompt('One.');
  await session.prompt('Two.');
  assert.equal(await run('/revert n1 failure Not this way.'), 'The conversation was reverted to n1.');
  assert.equal(session.tree.active, 1);
  assert.equal(session.tree.tagsOf(1)[0]?.text, 'Not this way.');
  assert.equal(answers().length, 1);
  assert.match(await run('/revert 9 tangent'), /^The conversation cannot be reverted to n9/);
  const begun = session.new();
  assert.equal(await run('/revert n0 failure'), 'Nothing was reverted: another session was opened.');
  await begun;
});

test('/tools lists the current tools, problems with others, and untrusted ones', async () => {
  const { run, tools, customTools } = setUp();
  const registered = tools.register({
    ...(tools.get('read_file') ?? assert.fail()),
    name: 'mine',
    description: 'Does *things*. And more.',
  });
  assert.match(await run('/tools'), /\n- `mine`: Does \\\*things\\\*\.$/);
  registered.dispose();
  assert.doesNotMatch(await run('/tools'), /mine/);
  const place = { line: 0, column: 0 };
  customTools.problems.push({
    ...place,
    file: '/project/.redline/tools/bad_one.ts',
    fault: { kind: 'importFailed', message: 'boom' },
  });
  customTools.withheld.push('/project/.redline/tools/a.ts', '/project/.redline/tools/b.ts');
  const told = await run('/tools');
  assert.match(
    told,
    /Custom tools with problems:\n\n- \.redline\/tools\/bad\\_one\.ts: This tool cannot be imported: boom\n/,
  );
  assert.match(
    told,
    /not trusted: its custom tools are not loaded \(\.redline\/tools\/a\.ts, \.redline\/tools\/b\.ts\)\.$/,
  );
});

test('the outcome of a command stands in the conversation in which it was typed, or is told', async () => {
  const { answer, told, session, stage } = setUp({ script: [{ text: 'Hello.' }] });
  await session.prompt('Hello');
  const gate = new Gate();
  stage({ label: 'Deploy', apply: () => gate.pass().then(() => textResult('Deployed.')) });
  const applying = answer('/apply p1');
  await gate.reached;
  await session.new();
  gate.open();
  const outcome = await applying;
  assert.match(outcome, /p1/);
  assert.deepEqual([session.messages, told], [[], [outcome]]);

  const help = await answer('/help');
  assert.deepEqual(session.messages, [{ role: 'local', text: '/help', answer: help }]);
  assert.equal(told.length, 1);
});
