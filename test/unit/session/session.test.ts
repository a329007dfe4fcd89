import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as z from 'zod';
import { textResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import { defineTool } from '../../../src/agent/session/tools/tool.ts';
import { create } from '../../support/changes.ts';
import { Gate } from '../../support/gate.ts';
import { createScriptedProvider, type ScriptedProvider } from '../../support/scriptedProvider.ts';
import { createTestSession, storedSession } from '../../support/testSession.ts';

const call = (name: string, args: object) => ({ name, arguments: args });
const read = (path: string) => call('read_file', { path });

test('a prompt is sent with the system prompt and all tools, and answered', async () => {
  const t = createTestSession({ script: [{ text: 'Hi.' }] });
  await t.session.prompt('Hello?');
  const [request] = t.requests;
  assert.match(request?.system ?? '', /^You are Redline/);
  assert.deepEqual(request?.messages, [{ role: 'user', text: 'Hello?' }]);
  assert.deepEqual(
    request.tools.map(tool => tool.name),
    [
      'read_file',
      'list_files',
      'edit_file',
      'write_file',
      'delete_file',
      'rename_file',
      'pending',
      'resolve',
      'todo',
    ],
  );
  assert.equal(request.toolChoice, undefined);
  assert.equal(t.session.state, 'idle');
  assert.equal(t.answers()[0]?.text, 'Hi.');
  t.assertSound();
});

test('tools and system prompt are the same in all modes, so that servers can reuse the prefix', async () => {
  const t = createTestSession({ files: { a: 'x' }, script: () => ({ text: 'ok' }) });
  for (const modelAuthority of ['recommend', 'checked', 'apply', 'none'] as const)
    for (const planning of [false, true]) {
      t.settings.modelAuthority = modelAuthority;
      t.session.setPlanMode(planning);
      await t.session.prompt('Go.');
    }
  const prefixes = new Set(t.requests.map(({ system, tools }) => JSON.stringify([system, tools])));
  assert.equal(t.requests.length, 8);
  assert.equal(prefixes.size, 1);
  t.assertSound();
});

test('a request contains the earlier messages in order, and is not changed afterwards', async () => {
  const t = createTestSession({
    files: { a: 'x' },
    script: [{ toolCalls: [read('a')] }, { text: 'ok' }, { text: '2' }],
  });
  await t.session.prompt('One.');
  await t.session.prompt('Two.');
  assert.deepEqual(
    t.requests.map(request => request.messages.map(message => message.role)),
    [['user'], ['user', 'assistant', 'tool'], ['user', 'assistant', 'tool', 'assistant', 'user']],
  );
  assert.deepEqual(t.requests[2]?.messages, t.session.messages.slice(0, 5));
  t.assertSound();
});

test('attachments are sent with their prompt; local messages are stored and shown but never sent', async () => {
  const t = createTestSession({ script: [{ text: 'Hi.' }, { text: 'Bye.' }] });
  const attachments = [{ path: 'a.ts', text: 'x' }];
  t.session.note('/apply', 'Nothing is pending.');
  await t.session.prompt('Look.', attachments);
  t.session.note('/tools', 'None.');
  await t.session.prompt('Thanks.');
  assert.deepEqual(t.requests[0]?.messages, [{ role: 'user', text: 'Look.', attachments }]);
  assert.deepEqual(
    t.requests[1]?.messages.map(message => message.role),
    ['user', 'assistant', 'user'],
  );
  const roles = ['local', 'user', 'assistant', 'local', 'user', 'assistant'];
  assert.deepEqual(
    t.session.messages.map(message => message.role),
    roles,
  );
  assert.deepEqual(t.sessionLog.stored()?.tree.messages, t.session.messages);
  t.assertSound();
});

test('a local command in the middle of a turn does not separate a call from its result', async () => {
  const gate = new Gate();
  const slow = defineTool({
    name: 'slow',
    label: 'Slow',
    description: 'Waits.',
    parameters: z.object({}),
    execute: async () => {
      await gate.pass();
      return textResult('done');
    },
  });
  const t = createTestSession({
    tools: [slow],
    script: [{ toolCalls: [call('slow', {})] }, { text: 'ok' }],
  });
  const run = t.session.prompt('Go.');
  await gate.reached;
  t.session.note('/tools', 'None.');
  gate.open();
  await run;
  assert.deepEqual(
    t.session.messages.map(message => message.role),
    ['user', 'assistant', 'local', 'tool', 'assistant'],
  );
  t.assertSound();
});

test('continue asks the model that is selected by then', async () => {
  const first = createScriptedProvider([{ error: { code: 'unreachable', message: 'Nobody.' } }], 'first');
  const second = createScriptedProvider([{ text: 'Here.' }], 'second');
  const options: { provider: ScriptedProvider } = { provider: first };
  const t = createTestSession(options);
  await t.session.prompt('Hello?');
  options.provider = second;
  await t.session.continue();
  assert.equal(t.answers().at(-1)?.text, 'Here.');
  assert.deepEqual([first.requests.length, second.requests.length], [1, 1]);
});

test('the events of a turn come in order', async () => {
  const t = createTestSession({ files: { a: 'x' }, script: [{ toolCalls: [read('a')] }, { text: 'ok' }] });
  await t.session.prompt('Go.');
  assert.deepEqual(
    t.events.map(event =>
      event.type === 'message_end' ? `${event.type} ${event.message.role}` : event.type,
    ),
    [
      'queue_changed',
      'state_changed',
      'queue_changed',
      'message_end user',
      'turn_start',
      'message_start',
      'message_end assistant',
      'tool_start',
      'tool_end',
      'message_end tool',
      'turn_end',
      'turn_start',
      'message_start',
      'message_update',
      'message_end assistant',
      'turn_end',
      'state_changed',
    ],
  );
});

test('the state is running during a run, and only then', async () => {
  const t = createTestSession({ script: () => ({ text: t.session.state }) });
  assert.equal(t.session.state, 'idle');
  const prompted = t.session.prompt('State?');
  assert.equal(t.session.state, 'running');
  await prompted;
  assert.equal(t.answers()[0]?.text, 'running');
  assert.equal(t.session.state, 'idle');
});

test('a prompt during a turn is sent after it, in the same run', async () => {
  const gate = new Gate();
  const t = createTestSession({
    script: [
      async () => {
        await gate.pass();
        return { text: 'one' };
      },
      { text: 'two' },
    ],
  });
  const first = t.session.prompt('1');
  await gate.reached;
  const second = t.session.prompt('2');
  gate.open();
  await Promise.all([first, second]);
  assert.deepEqual(
    t.session.messages.map(message => ('text' in message ? message.text : '')),
    ['1', 'one', '2', 'two'],
  );
  t.assertSound();
});

test('a prompt that waits can be removed, and is then not sent', async () => {
  const gate = new Gate();
  const t = createTestSession({
    script: [
      async () => {
        await gate.pass();
        return { text: 'one' };
      },
      { text: 'three' },
    ],
  });
  const prompts = [t.session.prompt('1'), t.session.prompt('2'), t.session.prompt('3')];
  await gate.reached;
  assert.deepEqual(
    t.session.queue.list.map(({ id, text }) => `${id} ${text}`),
    ['q2 2', 'q3 3'],
    'the first one is not waiting',
  );
  assert.equal(t.session.queue.takeBack('q2')?.text, '2');
  assert.equal(t.session.queue.takeBack('q2'), undefined, 'it is gone');
  assert.equal(t.session.queue.takeBack('q1'), undefined, 'it was sent');
  gate.open();
  await Promise.all(prompts);
  assert.deepEqual(
    t.session.messages.map(message => ('text' in message ? message.text : '')),
    ['1', 'one', '3', 'three'],
  );
});

for (const change of ['new', 'revert', 'open'] as const)
  test(`prompts that wait are given back when the turn is stopped by ${change}`, async () => {
    const t = createTestSession({ script: [{ text: 'thinking', hang: true }] });
    const first = t.session.prompt('1');
    const waiting = t.session.prompt('2');
    await t.nextEvent(event => event.type === 'message_update');
    const other = createTestSession({ script: [{ text: 'ok' }] });
    await other.session.prompt('Elsewhere.');
    const stored = other.sessionLog.stored();
    if (change === 'new') await t.session.new();
    else if (change === 'revert') await t.session.revert({ target: null, category: null, summary: null });
    else await t.session.open(stored ?? assert.fail('nothing was stored'));
    await Promise.all([first, waiting]);
    const returned = t.events.find(event => event.type === 'prompts_returned');
    assert.deepEqual(
      returned?.prompts.map(({ text }) => text),
      ['2'],
    );
    assert.ok(!t.session.messages.some(message => 'text' in message && message.text === '2'));
  });

for (const end of ['closed', 'killed'] as const)
  test(`prompts that wait when the window is ${end} wait in the next one, until the user goes on`, async () => {
    const attachments = [{ path: 'a.ts', startLine: 1, endLine: 2, text: 'x\ny' }];
    const before = createTestSession({ script: [{ text: 'thinking', hang: true }] });
    void before.session.prompt('1');
    void before.session.prompt('2', attachments);
    void before.session.prompt('3');
    void before.session.prompt('4');
    before.session.queue.takeBack('q3');
    if (end === 'closed') assert.ok(await before.session.close(Promise.resolve()));
    else await before.session.logs.drain(before.session.id);
    assert.ok(
      !before.events.some(({ type }) => type === 'prompts_returned'),
      'no input is there to take them',
    );

    const sessionLog = before.sessionLog.copy();
    const t = createTestSession({ script: () => ({ text: 'ok' }), sessionLog });
    assert.deepEqual(
      t.session.queue.list.map(({ text, attachments }) => ({ text, attachments })),
      [
        { text: '2', attachments },
        { text: '4', attachments: [] },
      ],
    );
    assert.equal(t.session.state, 'idle');
    assert.deepEqual(sessionLog.stored()?.waiting.length, 2, 'also if the window is closed once more');
    await t.session.prompt('5');
    const prompts = t.session.messages.filter(({ role }) => role === 'user');
    assert.deepEqual(
      prompts.map(message => 'text' in message && message.text),
      ['1', '2', '4', '5'],
    );
    assert.deepEqual('attachments' in (prompts[1] ?? {}) && prompts[1], {
      role: 'user',
      text: '2',
      attachments,
    });
    assert.deepEqual(sessionLog.stored()?.waiting, [], 'each is sent once');
    t.assertSound();
    before.session.dispose();
  });

test('a prompt that is sent at once, or was given back, does not wait in the log', async () => {
  const t = createTestSession({ script: [{ text: 'ok' }, { text: 'thinking', hang: true }] });
  await t.session.prompt('1');
  assert.ok(!t.sessionLog.entries.some(({ type }) => type === 'waiting'));
  const prompted = [t.session.prompt('2'), t.session.prompt('3')];
  await t.session.logs.drain(t.session.id);
  assert.deepEqual(
    t.sessionLog.stored()?.waiting.map(({ text }) => text),
    ['3'],
  );
  t.session.stop();
  await Promise.all(prompted);
  assert.deepEqual(t.sessionLog.stored()?.waiting, []);
});

test('a conversation that is opened with prompts that wait sends nothing; they are given back when it is left', async () => {
  const before = createTestSession({ script: [{ text: 'thinking', hang: true }] });
  void before.session.prompt('1');
  void before.session.prompt('2');
  await before.session.logs.drain(before.session.id);
  const stored = before.sessionLog.stored() ?? assert.fail('nothing was stored');
  before.session.dispose();

  const t = createTestSession({ script: () => ({ text: 'ok' }) });
  t.sessionLog.adopt(before.sessionLog);
  const texts = () => t.session.queue.list.map(({ text }) => text);
  await t.session.open(stored);
  assert.deepEqual([t.session.state, texts(), t.requests.length], ['idle', ['2'], 0]);
  await t.session.revert({ target: null, category: null, summary: null });
  const returned = t.events.find(event => event.type === 'prompts_returned');
  assert.deepEqual(
    returned?.prompts.map(({ text }) => text),
    ['2'],
  );
  assert.deepEqual([t.session.state, texts(), t.requests.length], ['idle', [], 0]);
  assert.deepEqual(t.sessionLog.stored()?.waiting, []);
});

test('a prompt that waits for another conversation to be opened belongs to that one', async () => {
  const t = createTestSession({ script: () => ({ text: 'ok' }) });
  await t.session.prompt('1');
  const { id } = t.session;
  const renewed = t.session.new();
  const prompted = t.session.prompt('2');
  await Promise.all([renewed, prompted]);
  assert.notEqual(t.session.id, id);
  assert.deepEqual([t.sessionLog.stored(id)?.waiting, t.sessionLog.stored()?.waiting], [[], []]);
});

for (const state of ['idle', 'running'] as const) {
  test(`a prompt from a listener that hears of the state ${state} is answered, once`, async () => {
    const t = createTestSession({ script: request => ({ text: `answer ${request.messages.length}` }) });
    let prompted: Promise<void> | undefined;
    t.session.onDidEmit(event => {
      if (event.type === 'state_changed' && event.state === state) prompted ??= t.session.prompt('second');
    });
    await t.session.prompt('first');
    await prompted;
    await t.untilState('idle');
    const said = t.session.messages.map(message => ('text' in message ? message.text : ''));
    assert.deepEqual(said, ['first', 'answer 1', 'second', 'answer 3'], 'one after the other');
    assert.equal(t.requests.length, 2);
    assert.equal(t.session.state, 'idle');
    t.assertSound();
  });
}

test('a prompt right after another is answered, whenever it comes', async () => {
  const t = createTestSession({ script: () => ({ text: 'ok' }) });
  for (let ticks = 0; ticks < 12; ticks++) {
    const ended = t.nextEvent(event => event.type === 'turn_end');
    void t.session.prompt(`first ${ticks}`);
    await ended;
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    await t.session.prompt(`second ${ticks}`);
    assert.equal(t.session.messages.findLast(message => message.role === 'user')?.text, `second ${ticks}`);
    assert.equal(t.answers().length, 2 * (ticks + 1), `after ${ticks} ticks`);
    assert.equal(t.session.state, 'idle');
  }
  t.assertSound();
});

test('a failed request is shown and logged but not thrown, and does not end the session', async () => {
  const t = createTestSession({
    script: [
      { error: { message: 'No connection.', detail: 'ECONNREFUSED', code: 'unreachable' } },
      { text: 'ok' },
    ],
  });
  await t.session.prompt('Hello?');
  assert.equal(t.answers()[0]?.error, 'No connection.');
  assert.equal(t.session.state, 'idle');
  assert.deepEqual(t.errors, ['Request to scripted failed (unreachable): ECONNREFUSED']);
  await t.session.continue();
  assert.equal(t.answers()[1]?.text, 'ok');
  t.assertSound();
});

test('a provider that breaks its contract and throws leaves the session usable', async () => {
  const t = createTestSession({
    provider: {
      id: 'broken',
      label: '',
      async *stream() {
        await Promise.resolve();
        throw new TypeError('boom');
      },
    },
  });
  await t.session.prompt('Hello?');
  assert.equal(t.session.state, 'idle');
  assert.match(t.errors.join('\n'), /boom/);
  await t.session.prompt('Again?');
  assert.equal(t.session.messages.filter(message => message.role === 'user').length, 2);
});

test('a fault of ours ends the turn with a sentence in the chat, and the next prompt is answered', async () => {
  let isBroken = true;
  const working = createScriptedProvider([{ text: 'Here again.' }]);
  const t = createTestSession({
    get provider() {
      if (isBroken) throw new TypeError('no such model');
      return working;
    },
  });
  await t.session.prompt('Hello?');
  assert.equal(t.session.state, 'idle');
  const [failed] = t.answers();
  assert.deepEqual([failed?.stopReason, failed?.error], ['error', 'Something went wrong: no such model']);
  assert.match(t.errors.join('\n'), /The session failed: TypeError: no such model/);
  isBroken = false;
  await t.session.prompt('And now?');
  assert.equal(t.answers().at(-1)?.text, 'Here again.');
});

test('stop ends the running turn at once, gives the waiting prompts back, and leaves a valid history', async () => {
  const t = createTestSession({ script: [{ text: 'thinking', hang: true }] });
  const first = t.session.prompt('1');
  const attachments = [{ path: 'a.ts', text: 'x' }];
  const waiting = [t.session.prompt('2', attachments), t.session.prompt('3')];
  await t.nextEvent(event => event.type === 'message_update');
  t.session.stop();
  t.session.stop();
  await Promise.all([first, ...waiting]);
  assert.equal(t.session.state, 'idle');
  assert.deepEqual(t.session.queue.list, []);
  assert.deepEqual(
    t.events.filter(event => event.type === 'prompts_returned'),
    [
      {
        type: 'prompts_returned',
        prompts: [
          { id: 'q2', text: '2', attachments },
          { id: 'q3', text: '3', attachments: [] },
        ],
      },
    ],
    'once',
  );
  assert.deepEqual(
    t.session.messages.map(message => message.role),
    ['user', 'assistant'],
  );
  assert.equal(t.answers()[0]?.stopReason, 'aborted');
  t.assertSound();
});

test('stop while a tool runs interrupts it and the calls after it; each has its one result', async () => {
  const gate = new Gate();
  const slow = defineTool({
    name: 'slow',
    label: 'Slow',
    description: '',
    parameters: z.object({}),
    execute: () => gate.pass().then(() => textResult('late')),
  });
  const t = createTestSession({
    tools: [slow],
    script: [{ toolCalls: [call('slow', {}), call('slow', {})] }, { text: 'ok' }],
  });
  const prompted = t.session.prompt('Go.');
  await gate.reached;
  t.session.stop();
  await prompted;
  assert.deepEqual(
    t.results().map(result => result.content),
    ['Interrupted by the user while it ran.', 'Interrupted by the user before it ran.'],
  );
  await t.session.prompt('Go on.');
  t.assertSound();
});

test('stop when nothing runs does nothing', async () => {
  const t = createTestSession({ script: [{ text: 'ok' }] });
  t.session.stop();
  await t.session.prompt('Hello?');
  t.session.stop();
  assert.equal(t.answers()[0]?.text, 'ok');
  assert.equal(t.session.state, 'idle');
});

test('continue asks the model without a prompt, and joins a current run', async () => {
  const t = createTestSession({ script: [{ text: '1' }, { text: '2' }] });
  await Promise.all([t.session.prompt('Hello?'), t.session.continue()]);
  assert.equal(t.requests.length, 1);
  await t.session.continue();
  assert.equal(t.requests.length, 2);
});

test('continue while a revert runs goes on after it, unless the user stops', async () => {
  for (const stops of [false, true]) {
    const t = createTestSession({ script: [{ text: '1' }, { text: '2' }, { text: '3' }] });
    await t.session.prompt('Hello?');
    await t.session.prompt('And now?');
    const reverting = t.session.revert({
      target: t.session.tree.trunk[0] ?? null,
      category: null,
      summary: null,
    });
    const continuing = t.session.continue();
    if (stops) t.session.stop();
    await Promise.all([reverting, continuing]);
    assert.deepEqual(
      t.answers().map(({ text }) => text),
      stops ? [] : ['3'],
    );
    assert.equal(t.session.state, 'idle');
  }
});

test('neither a revert nor a continue of a session that is being left gets into the next one', async () => {
  const before = createTestSession({ script: [{ text: '1' }] });
  await before.session.prompt('Hello?');
  const t = createTestSession({ script: [{ text: 'a', hang: true }] });
  const prompted = t.session.prompt('Hello?');
  await t.nextEvent(event => event.type === 'message_update');
  const opened = t.session.open(storedSession(before.session.id, before.sessionLog.lines));
  const [record] = await Promise.all([
    t.session.revert({ target: 0, category: null, summary: null }),
    t.session.continue(),
    ...[opened, prompted],
  ]);
  assert.equal(record.applied, false);
  assert.deepEqual([t.session.id, t.session.messages.length], [before.session.id, 2]);
  assert.equal(t.requests.length, 1);
});

test('a new session starts empty under a new id, and previews stay', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    script: [
      { toolCalls: [call('write_file', { path: 'a', content: 'x' })] },
      { text: 'ok' },
      { text: 'fresh' },
    ],
  });
  await t.session.prompt('Write.');
  const { id } = t.session;
  await t.session.new();
  assert.notEqual(t.session.id, id);
  assert.deepEqual(t.session.messages, []);
  assert.equal(t.session.state, 'idle');
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
  assert.ok(t.events.some(event => event.type === 'reset'));
  await t.session.prompt('Hello?');
  assert.deepEqual(t.requests.at(-1)?.messages, [{ role: 'user', text: 'Hello?' }]);
});

test('a new session stops the one that runs', async () => {
  const t = createTestSession({ script: [{ hang: true }] });
  const prompted = t.session.prompt('Hello?');
  await t.session.new();
  await prompted;
  assert.deepEqual(t.session.messages, []);
  assert.equal(t.session.state, 'idle');
});

test('the provider is selected once per prompt, and kept for what follows', async () => {
  const t = createTestSession({ script: [{ toolCalls: [read('none')] }, { text: '1' }, { text: '2' }] });
  await t.session.prompt('Hello?');
  await t.session.continue();
  assert.equal(t.requests.length, 3);
});

test('previews of one message come from the same message, and each from its own call', async () => {
  const writes = ['a', 'b'].map(path => call('write_file', { path, content: 'x' }));
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    script: [{ toolCalls: writes }, { toolCalls: [call('write_file', { path: 'c', content: 'x' })] }, {}],
  });
  await t.session.prompt('Write.');
  const [a, b, c] = t.store.all().map(preview => preview.origin);
  assert.equal(a?.sessionId, t.session.id);
  assert.equal(a.call?.messageId, b?.call?.messageId);
  assert.notEqual(a.call?.messageId, c?.call?.messageId);
  assert.deepEqual(
    [a, b, c].map(origin => origin?.call?.toolCallId),
    ['call_1', 'call_2', 'call_3'],
  );
});

test('previews register in the order of the calls, not of their completion', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    script: [{ toolCalls: ['slow', 'fast'].map(path => call('write_file', { path, content: 'x' })) }, {}],
  });
  t.workspace.beforeRead = async path => {
    if (path === 'slow') await new Promise(resolve => setImmediate(resolve));
  };
  await t.session.prompt('Write.');
  assert.deepEqual(
    t.store.all().map(preview => preview.changes?.[0]?.path),
    ['slow', 'fast'],
  );
});

test('staging survives a log that cannot be written', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    script: [{ toolCalls: [call('write_file', { path: 'a', content: 'x' })] }, {}],
  });
  t.log.fault = new Error('disk full');
  await t.session.prompt('Write.');
  assert.equal(t.results()[0]?.isError, false);
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
  assert.match(t.errors.join(), /disk full/);
});

test('a session that was disposed emits nothing more', async () => {
  const t = createTestSession({ script: [{ hang: true }] });
  const prompted = t.session.prompt('Hello?');
  t.session.dispose();
  const count = t.events.length;
  await prompted;
  t.stage({ label: 'x', changes: [create('a', 'x')] });
  assert.equal(t.events.length, count);
});

test('opening an older copy of the open conversation changes nothing and stops nothing', async () => {
  const t = createTestSession({ script: [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }] });
  await t.session.prompt('1');
  const before = storedSession(t.session.id, t.sessionLog.lines);
  await t.session.prompt('2');
  const running = t.session.prompt('3');
  await t.session.open(before);
  await running;
  assert.deepEqual(
    t.session.messages.map(message => ('text' in message ? message.text : '')),
    ['1', 'One.', '2', 'Two.', '3', 'Three.'],
  );
});

test('opening a conversation twice in a row opens it once', async () => {
  const t = createTestSession({ script: [{ text: 'One.' }] });
  await t.session.prompt('1');
  const { id } = t.session;
  const lines = [...t.sessionLog.lines];
  await t.session.new();
  const [first, second] = [storedSession(id, lines), storedSession(id, lines)];
  await Promise.all([t.session.open(first), t.session.open(second)]);
  assert.equal(t.session.tree, first.tree);
  assert.equal(t.events.filter(({ type }) => type === 'reset').length, 2);
});

test('of a new conversation, a stored one and a new one that follow at once, the last is open', async () => {
  const t = createTestSession({ script: [{ text: 'One.' }] });
  await t.session.prompt('1');
  const stored = storedSession(t.session.id, t.sessionLog.lines);
  const wanted = [t.session.new(), t.session.open(stored), t.session.new()];
  await Promise.all(wanted);
  assert.notEqual(t.session.id, stored.id);
  assert.deepEqual(t.session.messages, []);
});
