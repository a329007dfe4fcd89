import { afterEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { startScriptedServer } from '../../support/scriptedServer.ts';
import type { Script, ScriptedServer, ScriptedServerOptions } from '../../support/scriptedServer.ts';

let server: ScriptedServer;
async function start(script: Script, options?: ScriptedServerOptions): Promise<void> {
  server = await startScriptedServer(script, options);
}
afterEach(() => server.close());

const tool = (name: string): object => ({
  type: 'function',
  function: { name, description: 'd', parameters: { type: 'object' } },
});
const base = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
const forced = (name: string): object => ({ type: 'function', function: { name } });

async function ask(
  body: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; chunks: Chunk[] }> {
  const response = await fetch(`${server.baseUrl}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const data = text
    .split('\n\n')
    .flatMap(event => (event.startsWith('data: {') ? [JSON.parse(event.slice(6)) as Chunk] : []));
  return { status: response.status, text, chunks: data };
}
interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly {
        readonly id?: string;
        readonly function: { readonly arguments: string };
      }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object | null;
}

test('text and calls come in pieces, the end and the usage as asked', async () => {
  await start([
    {
      text: 'A longer answer.',
      toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'r' } }],
    },
  ]);
  const { text, chunks } = await ask({
    ...base,
    tools: [tool('resolve')],
    stream_options: { include_usage: true },
  });
  const contents = chunks.flatMap(chunk => chunk.choices[0]?.delta.content ?? []);
  assert.equal(contents.join(''), 'A longer answer.');
  assert.ok(contents.length > 3);
  const pieces = chunks.flatMap(chunk => chunk.choices[0]?.delta.tool_calls?.[0]?.function.arguments ?? []);
  assert.equal(pieces.join(''), '{"action":"apply","reason":"r"}');
  assert.ok(pieces.length > 2);
  assert.deepEqual(
    chunks.flatMap(chunk => chunk.choices[0]?.finish_reason ?? []),
    ['tool_calls'],
  );
  assert.deepEqual(chunks.at(-1)?.choices, []);
  assert.ok(chunks.at(-1)?.usage);
  assert.ok(text.endsWith('data: [DONE]\n\n'));
  assert.deepEqual(server.violations, []);
});

test('call ids are unique over the conversation', async () => {
  await start([{ toolCalls: [{ name: 't', arguments: {} }] }]);
  const history = [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 't', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'r' },
  ];
  const { chunks } = await ask({ ...base, messages: [...base.messages, ...history], tools: [tool('t')] });
  assert.deepEqual(
    chunks.flatMap(chunk => chunk.choices[0]?.delta.tool_calls?.[0]?.id ?? []),
    ['call_2'],
  );
});

const t = { toolCalls: [{ name: 't', arguments: {} }] };
for (const [what, body, reply, problem] of [
  [
    'a named choice that is not offered',
    { tools: [tool('t')], tool_choice: forced('u') },
    t,
    /names u, which is not in tools/,
  ],
  ['a choice without tools', { tool_choice: 'auto' }, t, /tool_choice without tools/],
  ['two tools of one name', { tools: [tool('t'), tool('t')] }, t, /two tools are called t/],
  ['an empty list of tools', { tools: [] }, t, /not a list with members/],
  [
    'an orphan result',
    { messages: [...base.messages, { role: 'tool', tool_call_id: 'x', content: 'r' }] },
    t,
    /not awaited/,
  ],
  ['an empty message', { messages: [{ role: 'user', content: '' }] }, t, /empty user message/],
  ['no stream', { stream: false }, t, /only streams/],
] as const) {
  test(`${what}: 400 and a violation`, async () => {
    await start([reply]);
    const { status, text } = await ask({ ...base, ...body });
    assert.equal(status, 400);
    assert.match(text, problem);
    assert.equal(server.violations.length, 1);
    assert.match(server.violations[0] ?? '', problem);
  });
}

const both = [tool('t'), tool('u')];
for (const [what, choice, reply] of [
  ['another call than the forced one', forced('u'), t],
  ['no call although one is forced', forced('u'), { text: 'no' }],
  ['more than the forced call', forced('t'), { toolCalls: [...t.toolCalls, { name: 'u', arguments: {} }] }],
  ['a call although none is allowed', 'none', t],
  ['no call although one is required', 'required', { text: 'no' }],
] as const) {
  test(`a script that answers with ${what} is told so loudly`, async () => {
    await start([reply]);
    assert.equal((await ask({ ...base, tools: both, tool_choice: choice })).status, 500);
    assert.equal(server.violations.length, 1);
  });
}

test('a script that has run out is a violation', async () => {
  await start([]);
  assert.equal((await ask(base)).status, 500);
  assert.match(server.violations[0] ?? '', /no reply/);
});

test('a choice that is met ends as OpenAI ends it', async () => {
  await start(() => t);
  const reason = async (choice: unknown): Promise<string | undefined> =>
    (await ask({ ...base, tools: both, tool_choice: choice })).chunks.flatMap(
      chunk => chunk.choices[0]?.finish_reason ?? [],
    )[0];
  assert.equal(await reason(forced('t')), 'stop');
  assert.equal(await reason('required'), 'tool_calls');
  assert.deepEqual(server.violations, []);
});

test('servers that refuse or ignore a choice', async () => {
  await start(() => ({ text: 'no' }), { namedChoice: 'reject400', required: 'ignore' });
  const refused = await ask({ ...base, tools: both, tool_choice: forced('t') });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /tool_choice/);
  assert.equal((await ask({ ...base, tools: both, tool_choice: 'required' })).status, 200);
  await server.close();
  await start(() => ({ text: 'no' }), { namedChoice: 'ignore', required: 'reject400' });
  assert.equal((await ask({ ...base, tools: both, tool_choice: forced('t') })).status, 200);
  assert.equal((await ask({ ...base, tools: both, tool_choice: 'required' })).status, 400);
  assert.deepEqual(server.violations, []);
});

test('errors, raw lines, a broken connection and a held-back reply', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>(resolve => (release = resolve));
  await start([
    { status: 429, headers: { 'retry-after': '1' } },
    { status: 400, body: 'plain' },
    { raw: ['data: {}', ''] },
    { raw: ['data: {}', ''], cut: true },
    { text: 'late', delayUntil: held },
  ]);
  const limited = await fetch(`${server.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(base),
  });
  assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '1']);
  await limited.text();
  assert.equal((await ask(base)).text, 'plain');
  assert.equal((await ask(base)).text, 'data: {}\n\n');
  await assert.rejects(ask(base));
  const late = ask(base);
  await server.request(4);
  release();
  assert.equal((await late).status, 200);
});

test('keys, requests and models', async () => {
  await start([{ text: 'ok' }, { text: 'ok' }], { key: 'k1' });
  assert.equal((await ask(base)).status, 401);
  assert.equal((await ask(base, { authorization: 'Bearer k1' })).status, 200);
  assert.deepEqual(
    server.requests.map(request => request.authorization),
    [undefined, 'Bearer k1'],
  );
  assert.deepEqual(server.requests[1]?.body, base);
  const models = await fetch(`${server.baseUrl}/models`, { headers: { authorization: 'Bearer k1' } });
  assert.deepEqual(
    ((await models.json()) as { data: { id: string }[] }).data.map(model => model.id),
    ['scripted'],
  );
  assert.equal((await fetch(`${server.baseUrl}/other`)).status, 404);
});

test('close ends a hanging request', async () => {
  await start([{ hang: true }]);
  const hanging = ask(base);
  const request = await server.request(0);
  await Promise.all([assert.rejects(hanging), server.close()]);
  assert.equal(await request.left, true);
});
