import { test } from 'node:test';
import assert from 'node:assert/strict';
import { drain, hello, providerFor, serve } from '../../../support/providerHarness.ts';

test('stream_options is left out once it is refused', async () => {
  const server = await serve((_, n) =>
    n === 0
      ? {
          status: 422,
          body: { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
        }
      : { text: 'ok' },
  );
  const provider = providerFor(server);
  for (let turn = 0; turn < 2; turn++) {
    const { last } = await drain(provider.stream(hello, new AbortController().signal));
    assert.ok(last.type === 'done' && last.answer.usage === undefined);
  }
  assert.deepEqual(
    server.requests.map(request => request.body.stream_options !== undefined),
    [true, false, false],
  );
});

test('reasoning is sent back once the server asks for it, and a blank replaces missing reasoning', async () => {
  const refusal = {
    status: 400,
    body: {
      error: {
        message:
          'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
      },
    },
  };
  const thought = [
    'data: {"choices":[{"delta":{"reasoning_content":"Thought."}}]}',
    '',
    'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c2","function":{"name":"read_file","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}',
    '',
  ];
  const server = await serve((_, n) => (n === 0 ? { raw: thought } : n === 1 ? refusal : { text: 'ok' }));
  const provider = providerFor(server);
  await drain(provider.stream(hello, new AbortController().signal));
  const call = (id: string) =>
    ({
      role: 'assistant',
      text: '',
      toolCalls: [{ id, name: 'read_file', arguments: '{}' }],
      stopReason: 'toolCalls',
    }) as const;
  const result = (toolCallId: string) =>
    ({ role: 'tool', toolCallId, toolName: 'read_file', content: 'x', isError: false }) as const;
  const { last } = await drain(
    provider.stream(
      { ...hello, messages: [...hello.messages, call('c1'), result('c1'), call('c2'), result('c2')] },
      new AbortController().signal,
    ),
  );
  assert.equal(last.type, 'done');
  const sent = server.requests.map(({ body }) =>
    body.messages.flatMap(message => (message.role === 'assistant' ? [message.reasoning_content] : [])),
  );
  assert.deepEqual(sent, [[], [undefined, undefined], [' ', 'Thought.']]);
});

test('thought signatures are sent back with their calls, and a stand-in on demand', async () => {
  const signed = [
    'data: {"choices":[{"delta":{"tool_calls":[{"id":"g1","function":{"name":"read_file","arguments":"{}"},"extra_content":{"google":{"thought_signature":"S"}}}]},"finish_reason":"stop"}]}',
    '',
  ];
  const refusal = {
    status: 400,
    body: [{ error: { message: 'Function call is missing a thought_signature in functionCall parts.' } }],
  };
  const server = await serve((_, n) => (n === 0 ? { raw: signed } : n === 2 ? refusal : { text: 'ok' }));
  const provider = providerFor(server);
  const turn = async (...ids: string[]): Promise<void> => {
    const messages = ids.flatMap(id => [
      {
        role: 'assistant',
        text: '',
        toolCalls: [{ id, name: 'read_file', arguments: '{}' }],
        stopReason: 'toolCalls',
      } as const,
      { role: 'tool', toolCallId: id, toolName: 'read_file', content: 'x', isError: false } as const,
    ]);
    const { last } = await drain(
      provider.stream({ ...hello, messages: [...hello.messages, ...messages] }, new AbortController().signal),
    );
    assert.equal(last.type, 'done');
  };
  await turn();
  await turn('g1');
  await turn('old', 'g1');
  const extra = server.requests.map(({ body }) =>
    body.messages.flatMap(message =>
      message.role === 'assistant' ? [message.tool_calls?.[0]?.extra_content] : [],
    ),
  );
  const signature = { google: { thought_signature: 'S' } };
  assert.deepEqual(extra, [
    [],
    [signature],
    [undefined, signature],
    [{ google: { thought_signature: 'skip_thought_signature_validator' } }, signature],
  ]);
});
