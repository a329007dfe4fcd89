import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ToolError } from '../../../src/agent/base/errors.ts';
import { textOf, textResult, type AgentToolResult } from '../../../src/agent/preview/pendingAction.ts';
import { modify } from '../../support/changes.ts';
import { Gate } from '../../support/gate.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, MemoryPreviewLog } from '../../support/testSession.ts';

const files = { 'a.txt': 'a' };
const ok: ScriptedTurn = { text: 'ok' };
const done = (): Promise<AgentToolResult> => Promise.resolve(textResult('done'));
const resolve = (more: object): ScriptedTurn => ({
  toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'r', ...more } }],
});

test('the reminder, to the letter, and a line that names the preview', async () => {
  const t = createTestSession({ script: [ok], settings: { forcing: 'off' } });
  t.stage({ label: 'AST Edit: 2 replacements in 1 file', apply: done });
  await t.session.prompt('Hello.');
  assert.equal(
    t.steering()[0]?.text,
    '<system-reminder>\n' +
      'This is a preview. Call the `resolve` tool to apply or discard these changes.\n' +
      '</system-reminder>\n' +
      'Pending: p1 (AST Edit: 2 replacements in 1 file)',
  );
  assert.equal(t.steering()[0]?.kind, 'resolve-reminder');
});

const results: readonly [string, object, string, boolean][] = [
  ['nothing is pending', {}, 'No pending action to resolve. Nothing to apply or discard.', true],
  [
    'the id is unknown',
    { id: 'p9' },
    'There is no preview p9. Call resolve without an id to resolve the current one.',
    true,
  ],
];
for (const [when, args, content, isError] of results) {
  test(`the result of resolve when ${when}`, async () => {
    const t = createTestSession({ script: [resolve(args), ok] });
    await t.session.prompt('Hello.');
    assert.equal(t.results()[0]?.content, content);
    assert.equal(t.results()[0]?.isError, isError);
  });
}

test('discard without a callback: “Discarded: <label>. Reason: <reason>”', async () => {
  const t = createTestSession();
  t.stage({ label: 'Rename', apply: done });
  assert.equal(
    textOf((await t.click('p1', 'discard', 'no')) as AgentToolResult),
    'Discarded: Rename. Reason: no',
  );
});

test('apply that throws: “Apply failed: <message>”, a ToolError as it is', async () => {
  const t = createTestSession();
  t.stage({ label: 'A', apply: () => Promise.reject(new Error('boom')) });
  t.stage({ label: 'B', apply: () => Promise.reject(new ToolError('Do it otherwise.')) });
  await assert.rejects(t.click('p1', 'apply'), { name: 'ToolError', message: 'Apply failed: boom' });
  await assert.rejects(t.click('p2', 'apply'), { name: 'ToolError', message: 'Do it otherwise.' });
});

test('the staged line comes before the result, also when the call is stopped while its preview is stored', async () => {
  const gate = new Gate();
  const log = new MemoryPreviewLog();
  const append = log.append.bind(log);
  log.append = async entry => {
    await gate.pass();
    await append(entry);
  };
  const t = createTestSession({
    files,
    log,
    script: [{ toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'b' } }] }],
  });
  const prompted = t.session.prompt('Write.');
  await gate.reached;
  t.session.stop();
  await prompted;
  gate.open();
  assert.equal(
    t.results()[0]?.content,
    'Staged as p1, no file modified yet.\nInterrupted by the user while it ran.',
  );
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
});

test('a recommendation is answered with who decides, and that nothing has changed', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend' },
    script: [resolve({}), ok],
  });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.prompt('Hello.');
  assert.match(t.results()[0]?.content ?? '', /recorded\. The user decides; nothing has changed yet\./);
  assert.equal(t.results()[0]?.isError, false);
});
