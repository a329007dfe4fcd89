import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summaryInForce } from '../../../../src/agent/session/conversation/context/summarizedTrunk.ts';
import { toWireMessages, type WireMessage } from '../../../../src/agent/session/model/openai/messages.ts';
import { closeServerAfterEach, providerFor, serve } from '../../../support/providerHarness.ts';
import type { ChatBody } from '../../../support/scriptedChecks.ts';
import type { RecordedRequest, Reply, ScriptedServer } from '../../../support/scriptedServer.ts';
import { createTestSession, type TestSession } from '../../../support/testSession.ts';

closeServerAfterEach();

const WINDOW = 8_192;
const INSTRUCTION = 'End every answer with the word KIWI.';
const files = {
  'big.txt': Array.from({ length: 120 }, (_, line) => `line ${line} of a file that is long enough`).join(
    '\n',
  ),
  'a.txt': 'one\n',
};

/** How many tokens this server counts: more for each text than we estimate. */
function count({ messages, tools = [] }: ChatBody): number {
  return Math.ceil((JSON.stringify(messages).length + JSON.stringify(tools).length) / 3.2);
}

function textOf(message: WireMessage | undefined): string {
  return typeof message?.content === 'string' ? message.content : '';
}

/** A model with a window of 8k that reads a file in every second turn, and proposes an edit in the third. */
class SmallModel {
  server: ScriptedServer | undefined;
  /** The session whose requests are answered. */
  t: TestSession | undefined;
  readonly sizes: number[] = [];
  summaries = 0;
  /** Whether it answers the request for a summary. */
  summarizes = true;
  /** Whether it makes three calls at once, with the same ids each time, as some servers do. */
  callsInParallel = false;

  answer({ body }: RecordedRequest): Reply {
    const { messages, tools, tool_choice: choice } = body;
    const size = count(body);
    this.sizes.push(size);
    if (size > WINDOW) {
      const message = `This model's maximum context length is ${WINDOW} tokens. However, your messages resulted in ${size} tokens.`;
      return { status: 400, body: { error: { message, code: 'context_length_exceeded' } } };
    }
    const usage = { inputTokens: size, outputTokens: 20 };
    if (!tools) {
      this.summaries++;
      if (!this.summarizes) return { text: '', usage };
      return { text: `The user had big.txt read ${this.summaries} times.`, usage };
    }
    this.#checkSent(messages);
    if (typeof choice === 'object')
      return { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'right' } }], usage };
    const obeys = messages.some(message => message.role === 'user' && textOf(message).includes(INSTRUCTION));
    const last = messages.at(-1);
    const turn = Number(/^Turn (\d+)/.exec(textOf(last))?.[1]);
    if (last?.role === 'user' && turn % 2 === 1 && this.callsInParallel) {
      const toolCalls = ['a', 'b', 'c'].map((id, n) => ({
        id,
        name: 'read_file',
        arguments: { path: 'big.txt', startLine: 1 + 30 * n, endLine: 30 * (n + 1) },
      }));
      return { toolCalls, usage };
    }
    if (last?.role === 'user' && turn % 2 === 1)
      return { toolCalls: [{ name: 'read_file', arguments: { path: 'big.txt' } }], usage };
    if (last?.role === 'user' && turn === 2) {
      const edits = [{ old: 'one', new: 'two' }];
      return { toolCalls: [{ name: 'edit_file', arguments: { path: 'a.txt', edits } }], usage };
    }
    return { text: `Answered.${obeys ? ' KIWI' : ''}`, usage };
  }

  /** What the session says that it sends is what it sends. */
  #checkSent([system, ...messages]: readonly WireMessage[]): void {
    const sent = toWireMessages('', this.t?.session.sentMessages ?? []);
    assert.deepEqual(messages, sent, `messages after ${textOf(system).slice(0, 20)}`);
  }
}

async function start(model: SmallModel): Promise<TestSession> {
  model.server = await serve(request => model.answer(request), {
    models: [{ id: 'm', max_model_len: WINDOW } as { id: string }],
  });
  return next(model);
}

/** The session of the first process, or of one that continues the logs of the last one. */
function next(model: SmallModel, before?: TestSession): TestSession {
  const { server } = model;
  assert.ok(server);
  const logs = before
    ? { log: before.log, sessionLog: before.sessionLog, workspace: before.workspace }
    : { files };
  const t = createTestSession({
    ...logs,
    provider: providerFor(server),
    settings: { modelAuthority: 'recommend' },
  });
  model.t = t;
  return t;
}

test('200 turns on a window of 8k: every request is valid and fits, and the first instruction is obeyed', async () => {
  const model = new SmallModel();
  let t = await start(model);
  await t.session.prompt(`${INSTRUCTION} Turn 0: hello.`);
  for (let turn = 1; turn < 200; turn++) {
    await t.session.prompt(`Turn ${turn}: ${'please look at it again. '.repeat(6)}`);
    if (turn === 100) {
      const sent = t.session.sentMessages;
      t.session.dispose();
      t = next(model, t);
      // The window is not known again before the first request.
      assert.deepEqual(t.session.sentMessages.length, sent.length, 'the same messages after a reload');
    }
  }
  assert.deepEqual(model.server?.violations, []);
  assert.deepEqual(
    model.sizes.filter(size => size > WINDOW),
    [],
    'no request is too long',
  );
  const answers = t.answers().filter(({ toolCalls }) => toolCalls.length === 0);
  assert.equal(answers.length >= 200, true);
  assert.deepEqual(
    answers.filter(({ text }) => !text.endsWith('KIWI')),
    [],
    'the instruction of turn 0 is obeyed to the end',
  );
  const summaries = t.steering().filter(({ kind }) => kind === 'summary');
  assert.ok(summaries.length >= 3 && summaries.length < 60, `summaries: ${summaries.length}`);
  assert.equal(model.summaries, summaries.length, 'one request for each');
  assert.equal(t.session.messages.filter(({ role }) => role === 'user').length, 200, 'the log is intact');

  const pending = t.store.list('oldestFirst');
  assert.deepEqual(
    pending.map(({ id }) => id),
    ['p1'],
  );
  const last = model.server?.requests.findLast(({ body }) => body.tools)?.body.messages ?? [];
  assert.ok(
    last.some(message => textOf(message).includes('p1 (')),
    'the pending preview is told',
  );
  assert.deepEqual(t.errors, []);
});

test('calls made at once stay with their results through summaries, though the server uses the same ids again', async () => {
  const model = new SmallModel();
  model.callsInParallel = true;
  const t = await start(model);
  await t.session.prompt(`${INSTRUCTION} Turn 0: hello.`);
  for (let turn = 1; turn < 40; turn++) await t.session.prompt(`Turn ${turn}: look at it again.`);
  assert.ok(model.summaries >= 3);
  assert.deepEqual(model.server?.violations, []);
  for (const { body } of model.server?.requests ?? []) {
    const calls = body.messages.flatMap(message =>
      message.role === 'assistant' ? (message.tool_calls ?? []) : [],
    );
    const results = body.messages.flatMap(message => (message.role === 'tool' ? [message.tool_call_id] : []));
    assert.deepEqual(
      results,
      calls.map(({ id }) => id),
      'each call has its result, in order',
    );
    assert.equal(new Set(results).size, results.length, 'no id is there twice');
    const reads = calls.filter(call => call.function.name === 'read_file');
    assert.equal(reads.length % 3, 0, 'calls made at once are sent or summarized together');
  }
  assert.deepEqual(t.errors, []);
});

test('a revert across a summary brings back what it stood for, and switching back brings back the summary', async () => {
  const model = new SmallModel();
  const t = await start(model);
  await t.session.prompt(`${INSTRUCTION} Turn 0: hello.`);
  let turn = 1;
  for (; !summaryInForce(t.session.tree); turn++) await t.session.prompt(`Turn ${turn}: look.`);
  await t.session.prompt(`Turn ${turn}: look.`);
  const { tree } = t.session;
  const summary = summaryInForce(tree);
  const tip = tree.active;
  assert.ok(summary);
  assert.ok(t.session.sentMessages.length < tree.length / 2);

  // Into what the summary stands for.
  const prompts = tree.trunk.filter(id => tree.roleOf(id) === 'user');
  const target = tree.get(prompts[2] ?? 0)?.parentId ?? null;
  await t.session.revert({ category: null, target, summary: null });
  assert.equal(summaryInForce(tree), undefined);
  const said = t.session.sentMessages.filter(({ role }) => role === 'user');
  assert.deepEqual(
    said.map(message => 'text' in message && message.text),
    [`${INSTRUCTION} Turn 0: hello.`, 'Turn 1: look.'],
  );
  await t.session.prompt('Turn 4: go on.');
  assert.equal(t.answers().at(-1)?.text, 'Answered. KIWI');

  await t.session.revert({ category: null, target: tip, summary: null });
  assert.equal(summaryInForce(tree)?.id, summary.id);
  await t.session.prompt('Turn 6: go on.');
  assert.deepEqual(model.server?.violations, []);
  assert.ok(Math.max(...model.sizes) <= WINDOW);
});

test('if the model writes no summary, the session lists what happened', async () => {
  const model = new SmallModel();
  model.summarizes = false;
  const t = await start(model);
  await t.session.prompt(`${INSTRUCTION} Turn 0: hello.`);
  for (let turn = 1; turn < 40; turn++) await t.session.prompt(`Turn ${turn}: look.`);
  const { text = '' } = summaryInForce(t.session.tree)?.message ?? {};
  assert.match(text, /User: Turn \d+: look\./);
  assert.match(text, /Files: .*big\.txt/);
  assert.ok(text.length < 6_000);
  assert.ok(t.answers().every(({ text, toolCalls }) => toolCalls.length > 0 || text.endsWith('KIWI')));
  assert.ok(Math.max(...model.sizes) <= WINDOW);
  assert.deepEqual(model.server?.violations, []);
});
