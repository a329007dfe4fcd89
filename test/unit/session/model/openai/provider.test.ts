import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { listOpenAiModels } from '../../../../../src/agent/session/model/openai/completions.ts';
import { createOpenAiProvider } from '../../../../../src/agent/session/model/openai/provider.ts';
import {
  closeServerAfterEach,
  KEY,
  drain,
  failureIn,
  freePort,
  hello,
  logged,
  logger,
  run,
  serve,
} from '../../../../support/providerHarness.ts';

closeServerAfterEach();

/** Keys and headers of the environment were not entered for this server. */
const ENVIRONMENT = {
  OPENAI_API_KEY: 'sk-of-the-environment',
  OPENAI_ADMIN_KEY: 'sk-admin-of-the-environment',
  OPENAI_ORG_ID: 'org-of-the-environment',
  OPENAI_CUSTOM_HEADERS: 'x-from-environment: yes',
  OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
};
const earlier = { ...process.env };
before(() => void Object.assign(process.env, ENVIRONMENT));
after(() => {
  for (const name of Object.keys(ENVIRONMENT)) {
    if (earlier[name] === undefined) delete process.env[name];
    else process.env[name] = earlier[name];
  }
});

const read = {
  name: 'read_file',
  description: 'Reads.',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
};
const resolve = { name: 'resolve', description: 'Resolves.', parameters: { type: 'object', properties: {} } };
test('an answer with text and calls, as it streams', async () => {
  const server = await serve([
    {
      text: 'Let me look at both files.',
      toolCalls: [
        { name: 'read_file', arguments: { path: 'a.ts' } },
        { name: 'read_file', arguments: '{"path": "b' },
      ],
      usage: { inputTokens: 5, outputTokens: 6 },
    },
  ]);
  const { events, last } = await run(server, {}, { ...hello, tools: [read] });
  const text = events.flatMap(event => (event.type === 'text' ? [event.delta] : []));
  assert.ok(text.length > 2);
  assert.equal(text.join(''), 'Let me look at both files.');
  assert.deepEqual(last, {
    type: 'done',
    answer: {
      text: 'Let me look at both files.',
      toolCalls: [
        { id: 'call_1', name: 'read_file', arguments: '{"path":"a.ts"}' },
        { id: 'call_2', name: 'read_file', arguments: '{"path": "b' },
      ],
      stopReason: 'toolCalls',
      usage: { inputTokens: 5, outputTokens: 6 },
    },
  });
  assert.deepEqual(server.requests[0]?.body, {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ],
    stream: true,
    stream_options: { include_usage: true },
    tools: [{ type: 'function', function: read }],
  });
  assert.deepEqual(server.violations, []);
});

test('a named choice is sent, and one that is not offered is not', async () => {
  const server = await serve([{ toolCalls: [{ name: 'resolve', arguments: {} }] }, { text: 'ok' }]);
  const forced = await run(
    server,
    {},
    { ...hello, tools: [read, resolve], toolChoice: { type: 'tool', name: 'resolve' } },
  );
  assert.ok(forced.last.type === 'done' && forced.last.answer.stopReason === 'toolCalls');
  await run(server, {}, { ...hello, tools: [read], toolChoice: { type: 'tool', name: 'resolve' } });
  assert.deepEqual(
    server.requests.map(request => request.body.tool_choice),
    [{ type: 'function', function: { name: 'resolve' } }, undefined],
  );
  assert.ok(logged.some(line => /resolve is not offered/.test(line)));
  assert.deepEqual(server.violations, []);
});

test('the key is looked up for each request and sent to its server only; nothing comes from the environment', async () => {
  const server = await serve(() => ({ text: 'ok' }), { key: KEY });
  let asked = 0;
  const provider = createOpenAiProvider({
    baseUrl: server.baseUrl,
    model: 'm',
    logger,
    apiKey: async () => (++asked === 2 ? undefined : ` ${KEY}\n`),
  });
  const one = await drain(provider.stream(hello, new AbortController().signal));
  assert.equal(one.last.type, 'done');
  const two = failureIn(await drain(provider.stream(hello, new AbortController().signal)));
  assert.equal(two.code, 'unauthorized');
  assert.match(two.message, /requires an API key/);
  assert.equal(asked, 2);
  assert.equal(server.requests[0]?.authorization, `Bearer ${KEY}`);
  assert.equal(server.requests[1]?.authorization, undefined);
  for (const { headers } of server.requests)
    assert.doesNotMatch(JSON.stringify(headers), /environment|stainless/i);
});

test('a refusal of the choice reaches the caller with the server’s message', async () => {
  const server = await serve([], { namedChoice: 'reject400' });
  const refused = failureIn(
    await run(server, {}, { ...hello, tools: [resolve], toolChoice: { type: 'tool', name: 'resolve' } }),
  );
  assert.equal(refused.code, 'badRequest');
  assert.match(refused.message, /tool_choice/);
  assert.equal(server.requests.length, 1);
});

test('a server without keys works without an Authorization header', async () => {
  const server = await serve([{ text: 'ok' }]);
  assert.equal((await run(server)).last.type, 'done');
  assert.equal(server.requests[0]?.authorization, undefined);
});

test('a server that does not stream is understood', async () => {
  const server = await serve([
    {
      raw: ['{"choices":[{"message":{"role":"assistant","content":"All at once"},"finish_reason":"stop"}]}'],
      contentType: 'application/json',
    },
    { raw: ['{"error":"no"}'], contentType: 'application/json' },
    { raw: [''], contentType: 'application/json' },
  ]);
  const { last } = await run(server);
  assert.ok(last.type === 'done' && last.answer.text === 'All at once');
  assert.equal(failureIn(await run(server)).code, 'server');
  assert.equal(failureIn(await run(server)).code, 'broken');
});

test('the query of a base URL is sent with each request; id and label contain neither query nor password', async () => {
  const server = await serve([{ text: 'ok' }]);
  assert.equal(
    (await run(server, { baseUrl: `${server.baseUrl}/?api-version=2024-10-21` })).last.type,
    'done',
  );
  const { id, label } = createOpenAiProvider({
    baseUrl: `https://u:${KEY}@api.example/v1/?key=${KEY}`,
    model: 'gpt-5',
    logger,
  });
  assert.equal(id, 'openai:https://api.example/v1:gpt-5');
  assert.equal(label, 'gpt-5 (api.example)');
});

test('the models of a server', async () => {
  const server = await serve([], { key: KEY, models: ['b', 'a', 'b'] });
  const { baseUrl } = server;
  assert.deepEqual(await listOpenAiModels({ baseUrl, apiKey: async () => KEY }), { models: ['a', 'b'] });
  const refused = await listOpenAiModels({ baseUrl });
  assert.ok('failure' in refused && refused.failure.code === 'unauthorized');
  const wrong = await listOpenAiModels({ baseUrl: baseUrl.replace('/v1', ''), apiKey: async () => KEY });
  assert.ok('failure' in wrong && wrong.failure.code === 'notFound');
  const unreachable = await listOpenAiModels({
    baseUrl: `http://127.0.0.1:${await freePort()}/v1`,
    maxRetries: 0,
  });
  assert.ok('failure' in unreachable && unreachable.failure.code === 'unreachable');
});

test('Azure’s older addresses get the key in another header', async t => {
  const sent: { url: string; headers: Headers; redirect: unknown }[] = [];
  t.mock.method(globalThis, 'fetch', async (input: string, init: RequestInit) => {
    sent.push({ url: input, headers: new Headers(init.headers), redirect: init.redirect });
    return Response.json({ choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] });
  });
  const baseUrl = 'https://name.openai.azure.com/openai/deployments/gpt?api-version=2024-10-21';
  const provider = createOpenAiProvider({ baseUrl, model: 'gpt', logger, apiKey: async () => KEY });
  assert.equal((await drain(provider.stream(hello, new AbortController().signal))).last.type, 'done');
  assert.equal(
    sent[0]?.url,
    'https://name.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21',
  );
  assert.deepEqual([sent[0]?.headers.get('api-key'), sent[0]?.headers.get('authorization')], [KEY, null]);
  assert.equal(sent[0]?.redirect, 'manual');
});
