import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  closeServerAfterEach,
  failureIn,
  hello,
  logger,
  providerFor,
  run,
  serve,
} from '../../../../support/providerHarness.ts';
import { replyOf } from '../../../../support/serverFixtures.ts';

closeServerAfterEach();

const read = { name: 'read_file', description: 'Reads.', parameters: { type: 'object' } };
const head = ['data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Half"}}]}', ''];
const openCall = [
  'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read_file","arguments":"{}"}}]}}]}',
  '',
];
const stop = ['data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}', ''];

test('a stream that breaks midway returns nothing half-parsed', async () => {
  for (const reply of [{ raw: [...head, ...openCall], cut: true }, { raw: [...head, ...openCall] }]) {
    const server = await serve([reply]);
    const outcome = await run(server);
    assert.equal(failureIn(outcome).code, 'broken');
    assert.deepEqual(
      outcome.events.map(event => event.type),
      ['text', 'error'],
    );
    assert.equal(server.requests.length, 1);
    await server.close();
  }
});

test('a connection that breaks after the end of the answer costs nothing', async () => {
  const server = await serve([{ raw: [...head, ...stop], cut: true }]);
  const { last } = await run(server);
  assert.ok(last.type === 'done' && last.answer.text === 'Half');
});

test('a finish_reason with each piece ends nothing before the last one', async t => {
  const piece = (content: string): string[] => [
    `data: {"choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":"stop"}]}`,
    '',
  ];
  const server = await serve([
    { raw: [...piece('Half '), ...piece('of it')], cut: true },
    { raw: [...piece('Half '), ...piece('of it'), 'data: [DONE]', ''] },
    { raw: [...piece('Half '), ...piece('of it')], hang: true },
  ]);
  assert.equal(failureIn(await run(server)).code, 'broken');
  const { last } = await run(server);
  assert.ok(last.type === 'done' && last.answer.text === 'Half of it');
  // It may think for long between two pieces.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stopped = new AbortController();
  const types: string[] = [];
  for await (const event of providerFor(server).stream(hello, stopped.signal)) {
    types.push(event.type);
    if (types.length === 2) {
      setImmediate(() => {
        t.mock.timers.tick(30_000);
        setImmediate(() => stopped.abort());
      });
    }
  }
  assert.deepEqual(types, ['text', 'text', 'aborted']);
});

test('[DONE] ends an answer although the connection stays open', async () => {
  const server = await serve([{ raw: [...head, ...stop, 'data: [DONE]', ''], hang: true }]);
  assert.equal((await run(server)).last.type, 'done');
  assert.equal(await server.requests[0]?.left, true);
});

test('malformed JSON and an error object in the middle', async () => {
  const server = await serve([
    { raw: [...head, 'data: {"choices":[{', ''] },
    { raw: [...head, 'event: error', 'data: {"error":{"message":"out of memory","code":null}}', ''] },
  ]);
  const malformed = failureIn(await run(server));
  assert.equal(malformed.code, 'broken');
  assert.match(malformed.detail, /\{"choices":\[\{/);
  const reported = failureIn(await run(server));
  assert.equal(reported.code, 'server');
  assert.match(reported.message, /out of memory/);
});

test('an error in a stream is reported with its status', async () => {
  const server = await serve([replyOf('openrouter', "cut: the model's host fails in the middle")]);
  const failed = failureIn(await run(server));
  assert.deepEqual([failed.code, failed.status], ['server', 502]);
  assert.match(failed.message, /Provider disconnected/);
});

test('a request is sent again if its stream begins with a refusal that passes, and only then', async () => {
  const refusal = (code: number, message = 'Overloaded, try again in 10ms'): string[] => [
    ': PROCESSING',
    '',
    `data: {"error":{"code":${code},"message":"${message}"}}`,
    '',
  ];
  const server = await serve([
    { raw: refusal(429) },
    { raw: refusal(503) },
    { text: 'ok' },
    { raw: refusal(400) },
    { raw: [...head, ...refusal(503)] },
  ]);
  const { events } = await run(server);
  assert.deepEqual(
    events.map(event => (event.type === 'retrying' ? event.code : event.type)),
    ['rateLimited', 'server', 'text', 'done'],
  );
  assert.equal(failureIn(await run(server)).code, 'badRequest');
  assert.equal(failureIn(await run(server)).code, 'server');
  assert.equal(server.requests.length, 5);
  const down = await serve(() => ({ raw: refusal(503) }));
  assert.equal(failureIn(await run(down)).status, 503);
  assert.equal(down.requests.length, 4);
  const waits = await serve([{ raw: refusal(503, 'try again in 30s') }]);
  const stopped = new AbortController();
  for await (const event of providerFor(waits).stream(hello, stopped.signal)) {
    if (event.type === 'retrying') stopped.abort();
    else assert.equal(event.type, 'aborted');
  }
});

test('Stop while the server is silent before its answer', async () => {
  const server = await serve([{ hang: true }]);
  const stopped = new AbortController();
  const outcome = run(server, {}, hello, stopped.signal);
  await server.request(0);
  stopped.abort();
  assert.equal((await outcome).last.type, 'aborted');
  assert.equal(await server.requests[0]?.left, true);
});

test('Stop while the server stalls in its answer', async () => {
  const server = await serve([{ raw: head, hang: true }]);
  const stopped = new AbortController();
  const provider = providerFor(server);
  const types: string[] = [];
  for await (const event of provider.stream(hello, stopped.signal)) {
    types.push(event.type);
    if (event.type === 'text') stopped.abort();
  }
  assert.deepEqual(types, ['text', 'aborted']);
  assert.equal(await server.requests[0]?.left, true);
});

test('Stop while waiting for the next attempt, and before the first', async t => {
  // The wait itself never ends, so only Stop can end the stream.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const server = await serve([{ status: 429, headers: { 'retry-after': '30' } }]);
  const stopped = new AbortController();
  const debug = (message: string): void => {
    if (message.endsWith('answered 429')) setImmediate(() => stopped.abort());
  };
  const outcome = await run(server, { logger: { ...logger, debug } }, hello, stopped.signal);
  assert.equal(outcome.last.type, 'aborted');
  assert.equal((await run(server, {}, hello, AbortSignal.abort())).last.type, 'aborted');
  assert.equal(server.requests.length, 1);
});

test('Stop while the key is looked up', async () => {
  const server = await serve([]);
  const stopped = new AbortController();
  const apiKey = (): Promise<string> => {
    queueMicrotask(() => stopped.abort());
    return new Promise(() => undefined);
  };
  assert.equal((await run(server, { apiKey }, hello, stopped.signal)).last.type, 'aborted');
});

test('the client gives up on a server that goes silent', async () => {
  const server = await serve([{ raw: head, hang: true }]);
  const silent = failureIn(await run(server, { idleMs: 20 }));
  assert.equal(silent.code, 'broken');
  assert.match(silent.message, /stopped responding/);
  assert.equal(await server.requests[0]?.left, true);
});

test('a reader that leaves early closes the connection', async () => {
  const server = await serve([{ raw: head, hang: true }]);
  const provider = providerFor(server);
  for await (const event of provider.stream(hello, new AbortController().signal)) {
    assert.equal(event.type, 'text');
    break;
  }
  assert.equal(await server.requests[0]?.left, true);
});

test('10 MB of arguments arrive complete; more than the limit is an error', async () => {
  const text = 'x'.repeat(10_000_000);
  const server = await serve(() => ({ toolCalls: [{ name: 'read_file', arguments: { text } }] }));
  const { last } = await run(server, {}, { ...hello, tools: [read] });
  assert.ok(last.type === 'done' && last.answer.toolCalls[0]?.arguments === JSON.stringify({ text }));
  const tooMuch = failureIn(
    await run(server, { maxAnswerChars: 5 * 1_048_576 }, { ...hello, tools: [read] }),
  );
  assert.equal(tooMuch.code, 'broken');
  assert.match(tooMuch.message, /grew past 5 MB/);
});
