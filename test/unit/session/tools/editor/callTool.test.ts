import { test } from 'node:test';
import assert from 'node:assert/strict';
import { CommandRuns } from '../../../../../src/agent/sandbox/commands/commandRuns.ts';
import { EditorTools } from '../../../../../src/agent/session/tools/editor/editorTools.ts';
import { builtInTools } from '../../../../../src/agent/session/tools/builtIn.ts';
import { toolCallOf } from '../../../../../src/agent/hold/preview/toolCallPlan.ts';
import { FakeToolHost } from '../../../../support/fakeToolHost.ts';
import {
  createTestSession,
  type TestSession,
  type TestSessionOptions,
} from '../../../../support/testSession.ts';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';

interface Options extends TestSessionOptions {
  readonly args?: object;
  readonly readOnlyTools?: string[];
  readonly timeLimit?: number;
}

/** A session whose model calls the tool `mcp_echo` once. */
function setUp({ args = { text: 'hi' }, readOnlyTools = [], timeLimit = 5, ...options }: Options = {}) {
  const host = new FakeToolHost();
  host.offer({ mcp_echo: {} });
  const runs = new CommandRuns();
  const registry = builtInTools();
  const editorTools = new EditorTools({
    host,
    registry,
    runs,
    timeLimit: () => timeLimit,
    settings: () => ({ toolsFromVsCode: ['mcp_*'], readOnlyTools }),
    logger: { ...silentLogger, warn: text => assert.fail(text), error: text => assert.fail(text) },
  });
  const t: TestSession = createTestSession({
    registry,
    prepareTools: () => editorTools.refresh(),
    commands: runs,
    settings: { forcing: 'off', modelAuthority: 'recommend' },
    script: [{ toolCalls: [{ name: 'mcp_echo', arguments: args }] }, {}, {}, {}],
    ...options,
  });
  return { t, host };
}

const outcome = (t: TestSession): string =>
  t.steering().findLast(({ kind }) => kind === 'outcome')?.text ?? '';
const never = (): Promise<never> => new Promise(() => undefined);

test('a call waits as an opaque preview with its arguments in full; Apply makes it, and the model is told the answer', async () => {
  const { t, host } = setUp();
  await t.session.prompt('Go.');
  const preview = t.store.get('p1') ?? assert.fail();
  assert.equal(preview.kind, 'action');
  assert.equal(preview.label, 'Call: mcp_echo {"text":"hi"}');
  assert.deepEqual(toolCallOf(preview), {
    tool: 'mcp_echo',
    origin: { kind: 'mcp' },
    arguments: { text: 'hi' },
    timeLimit: 5,
  });
  assert.deepEqual(host.calls, []);
  assert.match(
    t.results()[0]?.content ?? '',
    /^Staged as p1, .* Only the user decides on it; .*\nThe tool has not been called yet\.$/,
  );
  host.answer = async () => [
    { kind: 'text', text: 'hi back' },
    { kind: 'other', name: '12 bytes of image/png' },
  ];
  await t.click('p1', 'apply');
  await t.untilState('idle');
  assert.deepEqual(host.calls, ['mcp_echo {"text":"hi"}']);
  assert.match(
    outcome(t),
    /^The user applied p1 .*\nIts result:\n```\nhi back\n\[12 bytes of image\/png, which is not shown\]\n```$/,
  );
  t.assertSound();
});

test("the model's own apply never makes the call, not even in Auto", async () => {
  const resolve = { name: 'resolve', arguments: { action: 'apply', reason: 'Safe.', id: 'p1' } };
  const { t, host } = setUp({
    settings: { modelAuthority: 'apply', continueAfterReview: false },
    script: [
      { toolCalls: [{ name: 'mcp_echo', arguments: { text: 'hi' } }] },
      { toolCalls: [resolve] },
      {},
      {},
    ],
  });
  await t.session.prompt('Go.');
  assert.deepEqual(host.calls, []);
  const state = t.store.get('p1')?.state;
  assert.equal(state?.kind === 'pending' && state.recommendation?.action, 'apply');
});

test('a tool that only reads, by the word of the user, is called at once', async () => {
  const { t, host } = setUp({ readOnlyTools: ['mcp_echo'] });
  await t.session.prompt('Go.');
  assert.deepEqual(host.calls, ['mcp_echo {"text":"hi"}']);
  assert.deepEqual(t.store.all(), []);
  assert.equal(t.results()[0]?.content, '```\ndone\n```');
});

for (const readOnlyTools of [[], ['mcp_echo']])
  test(`arguments that the schema refuses reach neither the user nor the tool (${readOnlyTools.length})`, async () => {
    const { t, host } = setUp({ readOnlyTools, args: { text: 7 } });
    await t.session.prompt('Go.');
    assert.match(t.results()[0]?.content ?? '', /^Invalid arguments for mcp_echo\. .*text.*string/);
    assert.deepEqual([t.store.all(), host.calls], [[], []]);
  });

test('a schema whose pattern would take for ever is left to the tool', async () => {
  const { t, host } = setUp({ args: { text: `${'a'.repeat(40)}!` } });
  host.offer({
    mcp_echo: {
      inputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
    },
  });
  await t.session.prompt('Go.');
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
});

test('a schema that is none is offered as it is, and takes any object', async () => {
  const { t, host } = setUp();
  host.offer({ mcp_echo: { inputSchema: { type: 'object', properties: 'none' } } });
  await t.session.prompt('Go.');
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
});

test('arguments that no person could read are refused', async () => {
  const { t } = setUp({ args: { text: 'x'.repeat(100_001) } });
  await t.session.prompt('Go.');
  assert.match(t.results()[0]?.content ?? '', /^The arguments have 100012 characters, more than the 100000/);
  assert.deepEqual(t.store.all(), []);
});

test('a tool that went away, or belongs to someone else now, is not called; its preview waits', async () => {
  const { t, host } = setUp();
  await t.session.prompt('Go.');
  host.offer({});
  await assert.rejects(
    t.click('p1', 'apply'),
    /VS Code does not offer the tool mcp_echo now\. Nothing was called/,
  );
  host.offer({ mcp_echo: { origin: { kind: 'extension', id: 'other.one', name: 'Other' } } });
  await assert.rejects(
    t.click('p1', 'apply'),
    /comes from another extension or server now\. Nothing was called/,
  );
  host.offer({ mcp_echo: {} });
  host.trusted = false;
  await assert.rejects(t.click('p1', 'apply'), /not trusted/);
  assert.deepEqual(host.calls, []);
  host.trusted = true;
  await t.click('p1', 'apply');
  await t.untilState('idle');
  assert.deepEqual(host.calls, ['mcp_echo {"text":"hi"}']);
});

test('a tool that throws has been called: the preview is over, and the model is told', async () => {
  const { t, host } = setUp();
  await t.session.prompt('Go.');
  host.answer = () => Promise.reject(new Error(`No such ${'x'.repeat(5_000)}`));
  await t.click('p1', 'apply');
  await t.untilState('idle');
  assert.match(outcome(t), /The tool failed:\n```\nNo such x+\n```$/);
  assert.ok(outcome(t).length < 2_300);
  assert.equal(t.store.ledger().at(-1)?.outcome, 'returnedError');
});

test('a question of VS Code that the user declines is told as such', async () => {
  const { t, host } = setUp();
  await t.session.prompt('Go.');
  host.answer = () => Promise.reject(new DOMException('Canceled', 'AbortError'));
  await t.click('p1', 'apply');
  await t.untilState('idle');
  assert.match(outcome(t), /The call was cancelled: VS Code asked the user about it and the user declined/);
});

for (const readOnlyTools of [[], ['mcp_echo']])
  test(`a tool that hangs is cancelled at the time limit (${readOnlyTools.length})`, async () => {
    const { t, host } = setUp({ readOnlyTools, timeLimit: 0.02 });
    let signal: AbortSignal | undefined;
    host.answer = given => {
      signal = given;
      return never();
    };
    await t.session.prompt('Go.');
    if (readOnlyTools.length === 0) await t.click('p1', 'apply');
    await t.untilState('idle');
    const told = readOnlyTools.length === 0 ? outcome(t) : (t.results()[0]?.content ?? '');
    assert.match(told, /The tool did not answer within .* Whether it did anything is not known\.$/);
    assert.equal(signal?.aborted, true);
  });

test('Stop cancels a call that hangs', async () => {
  const { t, host } = setUp();
  const started = new Promise<void>(resolve => {
    host.answer = () => {
      resolve();
      return never();
    };
  });
  await t.session.prompt('Go.');
  const applied = t.click('p1', 'apply');
  await started;
  t.session.stop();
  await applied;
  assert.match(t.store.ledger().at(-1)?.message ?? '', /^The user stopped the call\./);
});

for (const readOnlyTools of [[], ['mcp_echo']])
  test(`of 100 MB the model is told the beginning (${readOnlyTools.length})`, async () => {
    const { t, host } = setUp({ readOnlyTools });
    host.answer = async () => [
      { kind: 'text', text: 'first' },
      { kind: 'text', text: 'x'.repeat(100_000_000) },
      { kind: 'text', text: 'last' },
    ];
    await t.session.prompt('Go.');
    if (readOnlyTools.length === 0) await t.click('p1', 'apply');
    await t.untilState('idle');
    const told = readOnlyTools.length === 0 ? outcome(t) : (t.results()[0]?.content ?? '');
    assert.match(told, /first\nx+\n```\n\[Cut off: 99970009 more characters\.\]$/);
    assert.ok(told.length < 31_000);
  });
