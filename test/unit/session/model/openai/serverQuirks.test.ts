import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../../../src/agent/session/model/chatProvider.ts';
import type { SessionMessage } from '../../../../../src/agent/session/model/messages.ts';
import type { WireMessage } from '../../../../../src/agent/session/model/openai/messages.ts';
import {
  closeServerAfterEach,
  drain,
  failureIn,
  hello,
  providerFor,
  serve,
} from '../../../../support/providerHarness.ts';
import { replyOf } from '../../../../support/serverFixtures.ts';
import type { RecordedRequest, Reply } from '../../../../support/scriptedServer.ts';

closeServerAfterEach();

const call = (id: string, reasoning?: string): SessionMessage => ({
  role: 'assistant',
  text: '',
  ...(reasoning !== undefined && { reasoning }),
  toolCalls: [{ id, name: 'read_file', arguments: '{}' }],
  stopReason: 'toolCalls',
});
const result = (toolCallId: string): SessionMessage => ({
  role: 'tool',
  toolCallId,
  toolName: 'read_file',
  content: 'x',
  isError: false,
});
const note: SessionMessage = { role: 'steering', kind: 'notice', text: 'Note.', previewIds: [] };
const after = (...messages: SessionMessage[]): ChatRequest => ({
  ...hello,
  messages: [...hello.messages, ...messages],
});

/** Sends the requests one after the other to a server that answers with these replies, and then with text. */
async function send(replies: readonly Reply[], ...requests: readonly ChatRequest[]) {
  const server = await serve((_, n) => replies[n] ?? { text: 'ok' });
  const provider = providerFor(server);
  for (const request of requests) {
    const { last } = await drain(provider.stream(request, new AbortController().signal));
    assert.equal(last.type, 'done', JSON.stringify(last));
  }
  return server.requests;
}

const assistantsIn = ({ body }: RecordedRequest) =>
  body.messages.filter(message => message.role === 'assistant');
const shapeOf = (messages: readonly WireMessage[]): string[] =>
  messages.map(({ role, content }) => {
    const said = typeof content === 'string' ? content : JSON.stringify(content);
    return `${role}: ${content === null ? 'call' : said}`;
  });

test('stream_options is left out once it is refused', async () => {
  const requests = await send([replyOf('mistral', 'an unknown field is refused')], hello, hello);
  assert.deepEqual(
    requests.map(request => request.body.stream_options !== undefined),
    [true, false, false],
  );
});

for (const server of ['deepseek', 'kimi'])
  test(`${server}: reasoning is sent back once it is asked for, and a blank replaces missing reasoning`, async () => {
    const requests = await send(
      [replyOf(server, 'reasoning is asked back')],
      after(call('c1'), result('c1'), call('c2', 'Thought.'), result('c2')),
    );
    assert.deepEqual(
      requests.map(request => assistantsIn(request).map(message => message.reasoning_content)),
      [
        [undefined, undefined],
        [' ', 'Thought.'],
      ],
    );
  });

test('Mistral: reasoning is never sent again to a server that refuses it', async () => {
  const asked = replyOf('deepseek', 'reasoning is asked back');
  const refused = replyOf('mistral', 'reasoning is refused back');
  const server = await serve((_, n) => [asked, refused, asked][n] ?? { text: 'ok' });
  const provider = providerFor(server);
  const request = after(call('c1', 'Thought.'), result('c1'));
  const { events, last } = await drain(provider.stream(request, new AbortController().signal));
  assert.equal(failureIn({ events, last }).code, 'badRequest');
  assert.deepEqual(
    server.requests.map(sent => assistantsIn(sent).map(message => message.reasoning_content)),
    [[undefined], ['Thought.'], [undefined]],
  );
});

test('Gemini: signatures are sent back with their calls, and a stand-in on demand', async () => {
  const refusal = {
    status: 400,
    body: [{ error: { message: 'Function call is missing a thought_signature in functionCall parts.' } }],
  };
  const turn = (...ids: string[]): ChatRequest => after(...ids.flatMap(id => [call(id), result(id)]));
  const signed = replyOf('gemini', 'one call with its signature');
  const requests = await send(
    [signed, { text: 'ok' }, refusal],
    hello,
    turn('call_297140'),
    turn('old', 'call_297140'),
  );
  const signature = { google: { thought_signature: 'c2ln' } };
  assert.deepEqual(
    requests.map(request =>
      assistantsIn(request).map(message =>
        message.role === 'assistant' ? message.tool_calls?.[0]?.extra_content : undefined,
      ),
    ),
    [
      [],
      [signature],
      [undefined, signature],
      [{ google: { thought_signature: 'skip_thought_signature_validator' } }, signature],
    ],
  );
});

test('OpenRouter: the details of the reasoning are sent back with their answer, put together', async () => {
  const requests = await send(
    [replyOf('openrouter', 'reasoning in two forms, and one call')],
    hello,
    after(call('toolu_01'), result('toolu_01')),
  );
  const details = requests.map(request => assistantsIn(request).map(message => message.reasoning_details));
  assert.deepEqual(details, [
    [],
    [
      [
        {
          type: 'reasoning.text',
          text: 'I should search.',
          index: 0,
          format: 'anthropic-claude-v1',
          signature: 'c2ln',
        },
      ],
    ],
  ]);
});

test('Mistral: ids get its form once it refuses others, and results still name their calls', async () => {
  const conversation = after(call('call_1'), result('call_1'), call('D681PevKs'), result('D681PevKs'));
  const [, second] = await send([replyOf('mistral', 'an id of another form is refused')], conversation);
  const ids = (second?.body.messages ?? []).flatMap(message => {
    if (message.role === 'tool') return [message.tool_call_id];
    return message.role === 'assistant' ? [message.tool_calls?.[0]?.id] : [];
  });
  assert.match(ids[0] ?? '', /^[a-zA-Z0-9]{9}$/);
  assert.deepEqual(ids, [ids[0], ids[0], 'D681PevKs', 'D681PevKs']);
});

for (const [server, message] of [
  ['Claude', "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"],
  [
    'OpenAI',
    "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
  ],
] as const)
  test(`${server}: ids of another model, with which the conversation began, get a form that it takes`, async () => {
    const id = 'functions.read_file:0';
    const [, second] = await send(
      [{ status: 400, body: { error: { message } } }],
      after(call(id), result(id)),
    );
    const ids = second?.body.messages.flatMap(each => (each.role === 'tool' ? [each.tool_call_id] : []));
    assert.match(ids?.[0] ?? '', /^[a-zA-Z0-9]{9}$/);
  });

for (const [server, exchange] of [
  ['mistral', 'a user after a tool is refused'],
  ['llamacpp', 'a template that wants turns'],
] as const)
  test(`${server}: users and assistants take turns once that is asked for, at once also after a 500`, async () => {
    const requests = await send([replyOf(server, exchange)], after(note, call('c1'), result('c1'), note));
    assert.deepEqual(
      requests.map(({ body }) => shapeOf(body.messages.slice(1))),
      [
        ['user: Hello', 'user: Note.', 'assistant: call', 'tool: x', 'user: Note.'],
        ['user: Hello\n\nNote.', 'assistant: call', 'tool: x', 'assistant: OK.', 'user: Note.'],
      ],
    );
  });

test('a template without a system role gets its text with the first prompt', async () => {
  const refusal = { status: 400, body: { error: { message: 'System role not supported' } } };
  const requests = await send([refusal], hello);
  assert.deepEqual(
    requests.map(({ body }) => shapeOf(body.messages)),
    [['system: Be brief.', 'user: Hello'], ['user: Be brief.\n\nHello']],
  );
});

test('a refusal that teaches nothing new ends the request', async () => {
  const server = await serve(() => replyOf('mistral', 'a user after a tool is refused'));
  const outcome = await drain(providerFor(server).stream(hello, new AbortController().signal));
  assert.equal(failureIn(outcome).code, 'badRequest');
  assert.equal(server.requests.length, 2);
});
