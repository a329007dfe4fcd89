import { test } from 'node:test';
import assert from 'node:assert/strict';
import { APIError } from 'openai';
import type { ProviderEvent } from '../../../../../src/agent/session/model/chatProvider.ts';
import { ChatAccumulator } from '../../../../../src/agent/session/model/openai/accumulator.ts';
import type { CollectedAnswer } from '../../../../../src/agent/session/model/openai/accumulator.ts';
import { KnownFault, ReportedError } from '../../../../../src/agent/session/model/openai/faults.ts';
import { decode } from '../../../../support/decodedStream.ts';
import { linesOf, serverFixtures } from '../../../../support/serverFixtures.ts';

const MAX = 1_000_000;

/** Collects the answer of a stream, as the provider does. */
async function collect(
  bytes: Uint8Array,
  size: number,
): Promise<CollectedAnswer & { events: ProviderEvent[] }> {
  const { chunks, sawDone } = await decode(bytes, size, MAX);
  const accumulator = new ChatAccumulator([], MAX);
  const events = chunks.flatMap(chunk => accumulator.push(chunk));
  return { events, ...accumulator.finish(sawDone) };
}

/** The bytes of an exchange of `fixtures/`, as the server sends them. */
function bytesOf(name: string, exchange: string): Uint8Array {
  const fixture = serverFixtures().get(name);
  const stream = fixture?.exchanges[exchange]?.stream;
  assert.ok(fixture && stream, `${name}: ${exchange}`);
  return Buffer.from(`${linesOf(fixture, stream).join('\n')}\n`);
}

for (const [file, fixture] of serverFixtures())
  test(`${fixture.server}: an answer is the same in whatever pieces it arrives, and with CRLF`, async () => {
    for (const [name, { stream, gives }] of Object.entries(fixture.exchanges)) {
      if (!stream || gives.error !== undefined) continue;
      const bytes = bytesOf(file, name);
      const whole = (await collect(bytes, 65_536)).answer;
      for (const size of [1, 7]) assert.deepEqual((await collect(bytes, size)).answer, whole, name);
      const crlf = Buffer.from(Buffer.from(bytes).toString('utf8').replaceAll('\n', '\r\n'));
      assert.deepEqual((await collect(crlf, 3)).answer, whole, name);
    }
  });

test('text is passed on as it arrives', async () => {
  const lmstudio = bytesOf('lmstudio', 'one call after text, then an empty one without id and name');
  assert.deepEqual((await collect(lmstudio, 10)).events, [
    { type: 'text', delta: 'Let me ' },
    { type: 'text', delta: 'look.' },
  ]);
});

test('reasoning is passed on as it arrives, and nothing of its tags', async () => {
  const tags = bytesOf('ollama', 'reasoning in tags, from a model whose template does not mark it');
  assert.deepEqual((await collect(tags, 10)).events, [
    { type: 'reasoning', delta: '\nHm.' },
    { type: 'reasoning', delta: '\n' },
    { type: 'text', delta: 'Here: <think> is a tag.' },
  ]);
  const field = bytesOf('deepseek', 'reasoning, text and usage in the last chunk');
  assert.deepEqual((await collect(field, 10)).events, [
    { type: 'reasoning', delta: 'First' },
    { type: 'reasoning', delta: ' this.' },
    { type: 'text', delta: 'Then that.' },
  ]);
});

test('leftovers: signatures by final id, and the details of the reasoning put together', async () => {
  const gemini = bytesOf('gemini', 'parallel calls without an index, one without an id');
  const { extraContent } = (await collect(gemini, 10)).leftovers;
  assert.deepEqual(
    [...extraContent],
    [['function-call-1', { google: { thought_signature: 'c2lnbmF0dXJl' } }]],
  );
  const openrouter = bytesOf('openrouter', 'reasoning in two forms, and one call');
  assert.deepEqual((await collect(openrouter, 10)).leftovers.reasoningDetails, [
    {
      type: 'reasoning.text',
      text: 'I should search.',
      index: 0,
      format: 'anthropic-claude-v1',
      signature: 'c2ln',
    },
  ]);
});

test('an error object in the stream is thrown with all its content', async () => {
  await assert.rejects(
    collect(bytesOf('openrouter', "cut: the model's host fails in the middle"), 10),
    (error: unknown) =>
      error instanceof APIError &&
      JSON.stringify(error.error) === '{"code":502,"message":"Provider disconnected"}',
  );
  for (const chunk of [{ error: 'x' }, { object: 'error', message: 'x' }, { choices: [{ error: 'x' }] }]) {
    assert.throws(() => new ChatAccumulator([], MAX).push(chunk), ReportedError);
  }
});

/** Pushes chunks with these deltas of choice 0, then an end. */
function answerOf(
  deltas: object[],
  finishReason: string | null = 'stop',
  sawDone = true,
  usedIds: string[] = [],
): CollectedAnswer['answer'] {
  const accumulator = new ChatAccumulator(usedIds, MAX);
  for (const delta of deltas) accumulator.push({ choices: [{ index: 0, delta, finish_reason: null }] });
  if (finishReason !== null)
    accumulator.push({ choices: [{ index: 0, delta: {}, finish_reason: finishReason }] });
  return accumulator.finish(sawDone).answer;
}
const callDelta = (call: object): object => ({ tool_calls: [call] });

test('missing, empty and used ids are replaced without collisions', () => {
  const calls = ['', undefined, 'call_1', 'call_1', 'call_4'].map((id, index) =>
    callDelta({ index, ...(id !== undefined && { id }), function: { name: 't', arguments: '{}' } }),
  );
  const ids = answerOf(calls, 'tool_calls', true, ['call_1', 'call_2']).toolCalls.map(call => call.id);
  assert.equal(new Set([...ids, 'call_1', 'call_2']).size, 7);
  assert.deepEqual(ids.slice(0, 2), ['call_3', 'call_4']);
});

test('a server that starts its ids over in each answer gets unique ones', () => {
  const deltas = ['0', '1'].map((id, index) =>
    callDelta({ index, id, function: { name: 't', arguments: '{}' } }),
  );
  assert.deepEqual(
    answerOf(deltas, 'tool_calls', true, ['0']).toolCalls.map(call => call.id),
    ['call_2', '1'],
  );
});

test('the id and the name may be repeated in every delta', () => {
  const deltas = ['', '{"a":', '1}'].map(piece =>
    callDelta({ index: 0, id: 'x', function: { name: 't', arguments: piece } }),
  );
  assert.deepEqual(answerOf(deltas).toolCalls, [{ id: 'x', name: 't', arguments: '{"a":1}' }]);
});

test('a name may come in pieces', () => {
  const deltas = ['res', 'olve'].map(name => callDelta({ index: 0, function: { name } }));
  assert.deepEqual(
    answerOf([...deltas, callDelta({ index: 0, function: { arguments: '{}' } })]).toolCalls[0]?.name,
    'resolve',
  );
});

test('arguments may be an object, and missing ones become an empty object', () => {
  const deltas = [
    callDelta({ id: 'a', function: { name: 't', arguments: { path: 'x' } } }),
    callDelta({ id: 'b', function: { name: 'u' } }),
  ];
  assert.deepEqual(answerOf(deltas).toolCalls, [
    { id: 'a', name: 't', arguments: '{"path":"x"}' },
    { id: 'b', name: 'u', arguments: '{}' },
  ]);
});

test('the legacy function_call and a whole message of a server that does not stream', () => {
  const legacy = answerOf(
    [{ function_call: { name: 't', arguments: '{"a"' } }, { function_call: { arguments: ':1}' } }],
    'function_call',
  );
  assert.deepEqual(legacy.toolCalls, [{ id: 'call_1', name: 't', arguments: '{"a":1}' }]);
  const accumulator = new ChatAccumulator([], MAX);
  accumulator.push({
    choices: [{ message: { content: 'Hello', tool_calls: null }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  });
  assert.deepEqual(accumulator.finish(true).answer, {
    text: 'Hello',
    toolCalls: [],
    stopReason: 'stop',
    usage: { inputTokens: 1, outputTokens: 2 },
  });
});

test('of content in parts only the text counts; other choices are ignored', () => {
  const accumulator = new ChatAccumulator([], MAX);
  accumulator.push({
    choices: [
      { index: 1, delta: { content: 'no' } },
      {
        index: 0,
        delta: {
          content: [
            { type: 'thinking', thinking: [] },
            { type: 'text', text: 'yes' },
          ],
        },
      },
    ],
  });
  accumulator.push({ choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] });
  assert.equal(accumulator.finished, false);
  accumulator.push({ choices: [{ index: 0, finish_reason: 'stop' }] });
  assert.equal(accumulator.finish(false).answer.text, 'yes');
});

const text = { content: 'Hi' };
const openCall = callDelta({ index: 0, id: 'a', function: { name: 't', arguments: '{"a":' } });
const wholeCall = callDelta({ index: 0, id: 'a', function: { name: 't', arguments: '{"a":1}' } });

test('the end: finish_reason without [DONE], and [DONE] without finish_reason', () => {
  assert.equal(answerOf([text], 'stop', false).stopReason, 'stop');
  assert.equal(answerOf([text], 'eos', false).stopReason, 'stop');
  assert.equal(answerOf([wholeCall], 'stop', false).stopReason, 'toolCalls');
  assert.equal(answerOf([text], null, true).stopReason, 'stop');
  assert.equal(answerOf([wholeCall], null, true).stopReason, 'toolCalls');
});

for (const [what, deltas, sawDone] of [
  ['neither of them', [text], false],
  ['neither of them, a call being whole', [wholeCall], false],
  ['[DONE] in the middle of arguments', [openCall], true],
  ['[DONE] after nothing', [], true],
] as const) {
  test(`broken: ${what}`, () => {
    assert.throws(() => answerOf([...deltas], null, sawDone), { code: 'broken' });
  });
}

test('length keeps the calls unchanged', () => {
  const answer = answerOf(
    [text, openCall, callDelta({ index: 1, id: 'b', function: { name: 'u' } })],
    'length',
  );
  assert.equal(answer.stopReason, 'length');
  assert.deepEqual(
    answer.toolCalls.map(call => call.arguments),
    ['{"a":', ''],
  );
});

test('an answer that the server cut short or gave up is a fault with its own code', () => {
  const code = (reason: string): string => {
    try {
      answerOf([text], reason);
    } catch (error) {
      if (error instanceof KnownFault) return error.code;
    }
    return 'none';
  };
  assert.equal(code('content_filter'), 'badRequest');
  assert.equal(code('error'), 'server');
  assert.equal(code('abort'), 'server');
  assert.equal(code('content_filter: RECITATION'), 'badRequest');
  assert.equal(code('function_call_filter: MALFORMED_FUNCTION_CALL'), 'server');
});

test('a call without a name is ignored if it has no arguments, else the answer is broken', () => {
  assert.deepEqual(answerOf([text, callDelta({ index: 0, id: '' })]).toolCalls, []);
  assert.throws(() => answerOf([callDelta({ index: 0, function: { arguments: '{}' } })]), { code: 'broken' });
});

test('the size of an answer is limited, whatever it consists of', () => {
  for (const delta of [
    { content: 'xxxx' },
    { reasoning_content: 'xxxx' },
    { reasoning_details: [{}, {}] },
    callDelta({ index: 0, function: { name: 't', arguments: 'xxxx' } }),
  ]) {
    const accumulator = new ChatAccumulator([], 10);
    const push = (): unknown => accumulator.push({ choices: [{ delta, finish_reason: 'stop' }] });
    push();
    push();
    assert.throws(push, { code: 'broken' });
  }
});

test('anything that is not a chunk is ignored', () => {
  const accumulator = new ChatAccumulator([], MAX);
  for (const odd of [
    undefined,
    null,
    1,
    'ping',
    [],
    {},
    { choices: null },
    { choices: [null] },
    { choices: [{ delta: null }] },
    { choices: [{ delta: { tool_calls: [null, 1, { function: 5 }] } }] },
  ]) {
    assert.deepEqual(accumulator.push(odd), []);
  }
});
