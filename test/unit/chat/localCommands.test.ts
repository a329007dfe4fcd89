import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSlashCommand } from '../../../src/agent/model/slashCommands.ts';
import { LocalCommands } from '../../../src/views/chat/localCommands.ts';
import { fill } from '../../../src/views/chat/protocol.ts';
import { silentLogger } from '../../../src/agent/base/log.ts';
import { sentenceFor } from '../../../src/views/errorSentence.ts';
import { createTestSession, type TestSessionOptions } from '../../support/testSession.ts';
import { modify } from './fixtures.ts';

function setUp(options: TestSessionOptions = {}) {
  const t = createTestSession({ files: { 'a.ts': 'old\n', 'b.ts': 'old\n' }, ...options });
  const shown: { id?: string } = {};
  let discarded = 0;
  const commands = new LocalCommands({
    store: t.store,
    invoker: t.invoker,
    tools: t.tools,
    settings: t.settings,
    activePreviewId: () => shown.id,
    discardAll: () => Promise.resolve(discarded),
    l10n: { t: fill },
    sentenceFor: error => sentenceFor(error, { t: fill }),
    logger: silentLogger,
  });
  const run = (typed: string): Promise<string> => {
    const command = parseSlashCommand(typed);
    assert.ok(command && command.kind !== 'call');
    return commands.run(command);
  };
  const stage = (path: string) => t.stage({ label: `Edit ${path}`, changes: [modify(path)] });
  return { ...t, shown, run, stageEdit: stage, willDiscard: (count: number) => (discarded = count) };
}

test('/apply takes the head, and is a human vote in the ledger', async () => {
  const { run, stageEdit, workspace, store } = setUp();
  stageEdit('a.ts');
  stageEdit('b.ts');
  assert.equal(await run('/apply'), 'Applied p2 (Edit b.ts).');
  assert.equal(workspace.text('b.ts'), 'new\n');
  assert.equal(workspace.text('a.ts'), 'old\n');
  const { actor, reason, previewId } = store.ledger()[0] ?? assert.fail();
  assert.deepEqual([actor, reason, previewId], ['human', 'Applied by the user.', 'p2']);
});

test('the preview in the active editor comes before the head, while it is pending', async () => {
  const { run, stageEdit, shown } = setUp();
  stageEdit('a.ts');
  stageEdit('b.ts');
  shown.id = 'p1';
  assert.match(await run('/discard Not this'), /^Discarded p1/);
  assert.match(await run('/discard'), /^Discarded p2/);
  assert.equal(await run('/discard'), 'Nothing is pending.');
});

test('a reason reaches the ledger; a second vote is told what happened', async () => {
  const { run, stageEdit, store } = setUp();
  stageEdit('a.ts');
  await run('/discard p1 It is *wrong*.');
  assert.equal(store.ledger()[0]?.reason, 'It is *wrong*.');
  assert.equal(await run('/apply p1'), 'p1 (Edit a.ts) was discarded before: It is \\*wrong\\*.');
  assert.equal(store.ledger().length, 1);
});

test('a stale base is told as a sentence, and the preview stays', async () => {
  const { run, stageEdit, workspace, store } = setUp();
  stageEdit('a.ts');
  workspace.put('a.ts', 'other\n');
  assert.match(await run('/apply'), /^Nothing was written: a\.ts changed/);
  assert.equal(store.get('p1')?.state.kind, 'pending');
});

test('an unknown id, an unexpected failure, /discard-all, /tools, /help and a wrong form', async () => {
  const { run, stage, willDiscard } = setUp();
  assert.equal(await run('/apply p9'), 'There is no preview p9.');
  stage({
    label: 'Run `it`',
    apply: () => Promise.resolve({ content: [{ type: 'text', text: 'No disk.' }], isError: true }),
  });
  assert.equal(await run('/apply'), 'p1 (Run \\`it\\`) failed: No disk.');
  willDiscard(0);
  assert.equal(await run('/discard-all'), 'Nothing is pending.');
  willDiscard(1);
  assert.equal(await run('/discard-all'), 'Discarded 1 preview.');
  willDiscard(3);
  assert.equal(await run('/discard-all'), 'Discarded 3 previews.');
  const tools = await run('/tools');
  assert.match(tools, /- `edit_file`: Propose edits to one file\./);
  assert.ok(!tools.includes('`resolve`'));
  assert.match(await run('/help'), /- `\/discard-all`/);
  assert.equal(await run('/call x'.replace('x', '{')), 'That command needs the form `/call <tool> [json]`.');
});
