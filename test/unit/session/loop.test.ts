import { test } from 'node:test';
import assert from 'node:assert/strict';
import { english } from '../../../src/agent/base/localiser.ts';
import type {
  ChatProvider,
  ProviderEvent,
  ProviderFailure,
} from '../../../src/agent/session/model/chatProvider.ts';
import type {
  SessionMessage,
  ToolCall,
  ToolResultMessage,
} from '../../../src/agent/session/model/messages.ts';
import { runLoop, type LoopPort } from '../../../src/agent/session/loop.ts';
import { LiveTurn } from '../../../src/views/chat/transcript/liveTurn.ts';
import { Gate } from '../../support/gate.ts';
import {
  createScriptedProvider,
  historyViolations,
  type Script,
  type ScriptedProvider,
} from '../../support/scriptedProvider.ts';

interface LoopHarness {
  readonly port: LoopPort;
  readonly messages: SessionMessage[];
  readonly provider: ScriptedProvider;
  /** Everything that the loop did, one word each. */
  readonly log: string[];
  readonly reported: ProviderFailure[];
  readonly controller: AbortController;
}

const resultOf = (call: ToolCall): ToolResultMessage => ({
  role: 'tool',
  toolCallId: call.id,
  toolName: call.name,
  content: `ran ${call.arguments}`,
  isError: false,
});
const call = (name: string, args: string) => ({ name, arguments: args });

function harnessOf(script: Script, over: Partial<LoopPort> = {}): LoopHarness {
  const provider = createScriptedProvider(script);
  const messages: SessionMessage[] = [];
  const log: string[] = [];
  const reported: ProviderFailure[] = [];
  const port: LoopPort = {
    l10n: english,
    provider,
    prepare: () => undefined,
    judge: () => undefined,
    nextRequest: () => ({ system: '', messages: [...messages], tools: [] }),
    retryRequest: () => undefined,
    append: message => void messages.push(message),
    execute: toolCall => Promise.resolve(resultOf(toolCall)),
    isReadOnly: ({ name }) => name === 'read',
    settle: (end, { toolCalls }) => void log.push(`settle ${end} ${toolCalls.length}`),
    mustAskAgain: () => false,
    isOver: () => false,
    betweenTurns: () => undefined,
    emit: event => {
      const what = event.type === 'turn_end' ? event.stopReason : 'call' in event ? event.call.arguments : '';
      log.push(`${event.type} ${what}`.trim());
    },
    report: failure => void reported.push(failure),
    ...over,
  };
  return { port, messages, provider, log, reported, controller: new AbortController() };
}

const run = ({ port, controller }: LoopHarness) => runLoop(port, controller.signal);
const contents = (messages: readonly SessionMessage[]): string[] =>
  messages.flatMap(message => (message.role === 'tool' ? [message.content] : []));

test('an answer without calls ends the loop', async () => {
  const harness = harnessOf([{ text: 'Hello there.' }]);
  assert.equal(await run(harness), 'done');
  assert.deepEqual(harness.messages, [
    { role: 'assistant', text: 'Hello there.', toolCalls: [], stopReason: 'stop' },
  ]);
  assert.deepEqual(harness.log, [
    'turn_start',
    'message_start',
    'message_update',
    'message_update',
    'settle resolve 0',
    'turn_end stop',
  ]);
});

test('what was staged while a request was prepared, or answered, is judged before it counts', async () => {
  const asked: string[] = [];
  const unjudged = ['p1', 'p2'];
  const harness = harnessOf([{ text: 'ok' }], {
    prepare: () => Promise.resolve(),
    judge: () => {
      const next = unjudged.shift();
      asked.push(next ?? 'none');
      return next === undefined ? undefined : Promise.resolve();
    },
    nextRequest: () => {
      asked.push('request');
      unjudged.push('p3');
      return { system: '', messages: [], tools: [] };
    },
    mustAskAgain: () => {
      asked.push('again?');
      return false;
    },
  });
  await run(harness);
  assert.deepEqual(asked, ['p1', 'p2', 'none', 'request', 'p3', 'none', 'again?']);
});

test('calls are run, their results follow the answer, and the model is asked again', async () => {
  const harness = harnessOf([{ toolCalls: [call('write', '1')] }, { text: 'ok' }]);
  assert.equal(await run(harness), 'done');
  assert.deepEqual(
    harness.messages.map(message => message.role),
    ['assistant', 'tool', 'assistant'],
  );
  assert.deepEqual(harness.provider.violations, []);
  assert.deepEqual(harness.log.slice(0, 7), [
    'turn_start',
    'message_start',
    'tool_start 1',
    'tool_end 1',
    'settle resolve 1',
    'turn_end toolCalls',
    'turn_start',
  ]);
});

test('reasoning is kept with its answer, complete or not, up to a limit', async () => {
  const thought = 'Hm. '.repeat(100_000);
  const stream = async function* (_: unknown, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
    yield { type: 'reasoning', delta: thought };
    if (signal.aborted) yield { type: 'aborted' };
    else
      yield {
        type: 'done',
        answer: { text: 'Yes', reasoning: thought, toolCalls: [], stopReason: 'stop' },
      };
  };
  const harness = harnessOf([]);
  const port = { ...harness.port, provider: { ...harness.provider, stream } };
  await runLoop(port, harness.controller.signal);
  harness.controller.abort();
  await runLoop(port, harness.controller.signal);
  assert.deepEqual(
    harness.messages.map(message => message.role === 'assistant' && message.reasoning),
    [thought.slice(0, 200_000), thought.slice(0, 200_000)],
  );
  assert.ok(harness.log.includes('reasoning_update'));
});

test('the usage that the server counted is kept', async () => {
  const usage = { inputTokens: 5, outputTokens: 2 };
  const harness = harnessOf([{ text: 'a', usage }]);
  await run(harness);
  assert.deepEqual(
    harness.messages.map(message => 'usage' in message && message.usage),
    [usage],
  );
});

test('of thousands of read-only calls only eight run in parallel; the results are in the order of the calls', async () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `${i}`);
  let running = 0;
  let most = 0;
  const harness = harnessOf([{ toolCalls: names.map(name => call('read', name)) }, {}], {
    execute: async toolCall => {
      most = Math.max(most, ++running);
      // Some take longer than those after them.
      for (let turns = Number(toolCall.arguments) % 3; turns >= 0; turns--) await Promise.resolve();
      running--;
      return resultOf(toolCall);
    },
  });
  await run(harness);
  assert.equal(most, 8);
  assert.deepEqual(
    contents(harness.messages),
    names.map(name => `ran ${name}`),
  );
});

test('neighbouring read-only calls run side by side; every other call waits for those before it', async () => {
  const gate = new Gate();
  const order: string[] = [];
  const harness = harnessOf(
    [
      {
        toolCalls: [
          call('read', 'a'),
          call('read', 'b'),
          call('write', 'c'),
          call('read', 'd'),
          call('write', 'e'),
        ],
      },
      {},
    ],
    {
      execute: async toolCall => {
        order.push(`+${toolCall.arguments}`);
        if (toolCall.arguments === 'a') await gate.pass();
        order.push(`-${toolCall.arguments}`);
        if (toolCall.arguments === 'b') gate.open();
        return resultOf(toolCall);
      },
    },
  );
  await run(harness);
  assert.deepEqual(order, ['+a', '+b', '-b', '-a', '+c', '-c', '+d', '-d', '+e', '-e']);
  assert.deepEqual(
    contents(harness.messages),
    ['ran a', 'ran b', 'ran c', 'ran d', 'ran e'],
    'in the order of the calls',
  );
});

test('a stop between two calls leaves each call with exactly one result', async () => {
  const harness = harnessOf([{ toolCalls: [call('write', '1'), call('write', '2'), call('read', '3')] }]);
  const port: LoopPort = {
    ...harness.port,
    execute: toolCall => {
      harness.controller.abort();
      return Promise.resolve(resultOf(toolCall));
    },
  };
  assert.equal(await run({ ...harness, port }), 'aborted');
  const interrupted = 'Interrupted by the user before it ran.';
  assert.deepEqual(contents(harness.messages), ['ran 1', interrupted, interrupted]);
  assert.deepEqual(historyViolations(harness.messages), []);
  assert.deepEqual(harness.log.slice(-2), ['settle aborted 3', 'turn_end aborted']);
});

test('a stop between two turns ends the loop, whatever runs there and whoever is to be asked again', async () => {
  const asks = { mustAskAgain: () => true };
  const stops = (harness: LoopHarness): Promise<void> =>
    Promise.resolve().then(() => harness.controller.abort());
  for (const over of [
    (harness: LoopHarness) => ({ betweenTurns: () => stops(harness) }),
    (harness: LoopHarness) => ({
      judge: () =>
        harness.messages.length > 0 && !harness.controller.signal.aborted ? stops(harness) : undefined,
    }),
    (harness: LoopHarness) => ({
      emit: ({ type }: { type: string }) => void (type === 'turn_end' && harness.controller.abort()),
    }),
  ]) {
    for (const answer of [{ text: 'ok' }, { toolCalls: [call('write', '1')] }]) {
      const harness = harnessOf([answer, { text: 'more' }], asks);
      assert.equal(await run({ ...harness, port: { ...harness.port, ...over(harness) } }), 'aborted');
      assert.equal(harness.provider.requests.length, 1);
    }
  }
});

test('the work between two turns knows that the user has stopped the turn', async () => {
  const ends: string[] = [];
  const harness = harnessOf([{ text: 'ok' }], {
    emit: ({ type }) => void (type === 'turn_end' && harness.controller.abort()),
    betweenTurns: end => void ends.push(end),
  });
  await run(harness);
  assert.deepEqual(ends, ['aborted']);
});

test('a stop while the answer arrives keeps its text, and none of its calls', async () => {
  const harness = harnessOf([{ text: 'I was go', hang: true }]);
  const ended = run(harness);
  while (!harness.log.includes('message_update')) await new Promise(resolve => setImmediate(resolve));
  harness.controller.abort();
  assert.equal(await ended, 'aborted');
  assert.deepEqual(harness.messages, [
    { role: 'assistant', text: 'I was go', toolCalls: [], stopReason: 'aborted' },
  ]);
  assert.deepEqual(harness.log.slice(-2), ['settle aborted 0', 'turn_end aborted']);
  assert.deepEqual(harness.reported, [], 'a stop is no failure');
});

test('a failed request ends the loop with the sentence for the user, and is reported once', async () => {
  const harness = harnessOf([{ text: 'half', error: { message: 'No connection.', code: 'unreachable' } }]);
  assert.equal(await run(harness), 'error');
  assert.deepEqual(harness.messages, [
    {
      role: 'assistant',
      text: 'half',
      toolCalls: [],
      stopReason: 'error',
      error: 'No connection.',
      errorCode: 'unreachable',
    },
  ]);
  assert.deepEqual(
    harness.reported.map(({ code }) => code),
    ['unreachable'],
  );
  assert.deepEqual(harness.log.slice(-2), ['settle error 0', 'turn_end error']);
});

test('a stream that just ends is an error, and nothing of it is executed', async () => {
  const events: ProviderEvent[] = [{ type: 'text', delta: 'x' }];
  const provider: ChatProvider = {
    id: 'cut',
    label: '',
    async *stream() {
      yield* events;
    },
  };
  const harness = harnessOf([], { provider, execute: () => assert.fail('it was executed') });
  assert.equal(await run(harness), 'error');
  assert.deepEqual(harness.messages, [
    {
      role: 'assistant',
      text: 'x',
      toolCalls: [],
      stopReason: 'error',
      error: 'The answer ended before it was complete.',
      errorCode: 'broken',
    },
  ]);
});

test('a failed request is sent in another form if there is one, and only the last failure is reported', async () => {
  const again = [
    { system: 'second', messages: [], tools: [] },
    { system: 'third', messages: [], tools: [] },
  ];
  const harness = harnessOf([{ error: { message: '1' } }, { error: { message: '2' } }, { text: 'ok' }], {
    retryRequest: () => again.shift(),
  });
  assert.equal(await run(harness), 'done');
  assert.deepEqual(
    harness.provider.requests.map(({ system }) => system),
    ['', 'second', 'third'],
  );
  assert.deepEqual(harness.reported, []);
  assert.equal(harness.messages.length, 1);
});

test('what has arrived of an answer is no part of the one that is sent for instead', async () => {
  const again = [2, 3].map(n => ({ system: `${n}`, messages: [], tools: [] }));
  const live = new LiveTurn();
  const shown: string[] = [];
  const harness = harnessOf([{ text: 'Half', error: {} }, { error: {} }, { text: 'The whole answer.' }], {
    retryRequest: () => again.shift(),
    emit: event => {
      live.follow(event);
      shown.push(live.arriving.text);
    },
  });
  assert.equal(await run(harness), 'done');
  assert.ok(shown.includes('Half'));
  assert.deepEqual(
    shown.filter(text => text.startsWith('Half') && text !== 'Half'),
    [],
  );
  assert.ok(shown.includes('The whole answer.'));
});

test('a failed request is not sent again once the turn was stopped', async () => {
  const harness = harnessOf([{ error: {} }], { retryRequest: () => assert.fail('it was made again') });
  const provider: ChatProvider = {
    ...harness.provider,
    async *stream(request, signal) {
      for await (const event of harness.provider.stream(request, signal)) {
        harness.controller.abort();
        yield event;
      }
    },
  };
  assert.notEqual(await runLoop({ ...harness.port, provider }, harness.controller.signal), 'done');
});

test('the model is asked again after an answer without calls as long as the session requires it', async () => {
  let rounds = 2;
  const harness = harnessOf([{ text: '1' }, { text: '2' }, { text: '3' }], {
    mustAskAgain: () => rounds-- > 0,
  });
  assert.equal(await run(harness), 'done');
  assert.equal(harness.provider.requests.length, 3);
});

for (const args of ['', '{}', '{"path":"a.txt","content":"cut'])
  test(`of an answer that reached its length limit, a call that it cut is not run, and the model is told why: ${args}`, async () => {
    const calls = [call('write', '{}'), call('write', args)];
    const harness = harnessOf([{ toolCalls: calls, stopReason: 'length' }, {}]);
    assert.equal(await run(harness), 'done');
    const [first, second] = contents(harness.messages);
    assert.equal(first, 'ran {}');
    assert.match(second ?? '', /^Not run: your answer reached its length limit .* Call it again with less/);
  });

test('of an answer that reached its length limit, whole calls are run', async () => {
  const harness = harnessOf([{ toolCalls: [call('write', '{"path":"a"}')], stopReason: 'length' }, {}]);
  assert.equal(await run(harness), 'done');
  assert.deepEqual(contents(harness.messages), ['ran {"path":"a"}']);
});

test('a wait before a request is sent again is an event of the session', async () => {
  const retrying = { type: 'retrying', delayMs: 10, code: 'rateLimited' } as const;
  const answer = { text: 'ok', toolCalls: [], stopReason: 'stop' } as const;
  const provider: ChatProvider = {
    id: 'waits',
    label: 'waits',
    async *stream(): AsyncGenerator<ProviderEvent> {
      yield retrying;
      yield { type: 'done', answer };
    },
  };
  const emitted: unknown[] = [];
  const harness = harnessOf([], { provider, emit: event => void emitted.push(event) });
  assert.equal(await run(harness), 'done');
  assert.deepEqual(emitted[2], retrying);
});

test('control tokens of a model in the name of a tool are no part of it', async () => {
  const harness = harnessOf([{ toolCalls: [call('read<|channel|>commentary', '1')] }, {}]);
  await run(harness);
  const [answer, result] = harness.messages;
  assert.equal(answer?.role === 'assistant' && answer.toolCalls[0]?.name, 'read');
  assert.equal(result?.role === 'tool' && result.toolName, 'read');
});
