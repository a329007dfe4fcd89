import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  closeServerAfterEach,
  KEY,
  failureIn,
  freePort,
  hello,
  providerFor,
  run,
  serve,
} from '../../../../support/providerHarness.ts';

closeServerAfterEach();

test('401 becomes a sentence without the key, although the server repeats it', async () => {
  const server = await serve([
    { status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}.` } } },
  ]);
  const refused = failureIn(await run(server, { apiKey: async () => KEY }));
  assert.equal(refused.code, 'unauthorized');
  assert.match(refused.message, /rejected the API key \(401\).*Incorrect API key provided: \*\*\*/);
});

test('a key that cannot be read or sent becomes a sentence, and nothing is sent', async () => {
  const server = await serve([]);
  const unreadable = failureIn(await run(server, { apiKey: () => Promise.reject(new Error('locked')) }));
  assert.deepEqual([unreadable.code, /locked/.test(unreadable.detail)], ['unauthorized', true]);
  const odd = failureIn(await run(server, { apiKey: async () => `${KEY}\u2026x` }));
  assert.equal(odd.code, 'unauthorized');
  assert.equal(server.requests.length, 0);
});

test('a base URL that cannot be used', async () => {
  const server = await serve([]);
  for (const baseUrl of ['', 'nonsense', 'file:///etc', server.baseUrl.replace('//', `//user:${KEY}@`)]) {
    assert.equal(failureIn(await run(server, { baseUrl })).code, 'notFound', baseUrl);
  }
  assert.equal(failureIn(await run(server, { model: ' ' })).code, 'noModel');
  assert.equal(server.requests.length, 0);
});

test('404 and a web page say that the address or the model is wrong', async () => {
  const server = await serve([
    { status: 404, body: { error: { message: 'model "m" not found, try pulling it first' } } },
    { raw: ['<html></html>'], contentType: 'text/html; charset=utf-8' },
  ]);
  const missing = failureIn(await run(server));
  assert.deepEqual([missing.code, missing.status], ['notFound', 404]);
  assert.match(missing.message, /try pulling it first/);
  const page = failureIn(await run(server));
  assert.equal(page.code, 'notFound');
  assert.match(page.message, /text\/html.*\/v1/);
  assert.equal(
    failureIn(await run(server, { baseUrl: server.baseUrl.replace('/v1', '/v2') })).code,
    'notFound',
  );
});

test('a redirect is not followed', async () => {
  const server = await serve([
    { status: 307, headers: { location: 'http://127.0.0.1:9/v1/chat/completions' } },
  ]);
  assert.match(
    failureIn(await run(server, { apiKey: async () => KEY })).message,
    /redirects to another address \(307\)/,
  );
});

test('429, then success: Retry-After is honoured', async () => {
  const server = await serve([{ status: 429, headers: { 'retry-after': '0' } }, { text: 'ok' }]);
  const { last } = await run(server);
  assert.ok(last.type === 'done' && last.answer.text === 'ok');
  assert.equal(server.requests.length, 2);
});

test('a wait before the request is sent again is told before it begins, and why', async () => {
  const refused = (status: number) => ({ status, headers: { 'retry-after': '0.02' } });
  const server = await serve([refused(429), refused(503), { text: 'ok' }]);
  const { events } = await run(server);
  assert.deepEqual(events.slice(0, 2), [
    { type: 'retrying', delayMs: 20, code: 'rateLimited' },
    { type: 'retrying', delayMs: 20, code: 'server' },
  ]);
  // The last refusal is not followed by another request.
  const down = await serve(() => refused(429));
  const { events: waits, last } = await run(down, { maxRetries: 1 });
  assert.deepEqual([waits.length, last.type, down.requests.length], [2, 'error', 2]);
});

test('a wait that only the words of a refusal or another header tell is kept to', async () => {
  const bodies = [
    [{ error: { code: 429, details: [{ '@type': 'google.rpc.RetryInfo', retryDelay: '0.03s' }] } }],
    { error: { message: 'Rate limit reached. Please try again in 40ms. Visit …' } },
    { error: { message: 'Please retry in 0.05 seconds.' } },
  ];
  const server = await serve([
    ...bodies.map(body => ({ status: 429, body })),
    { status: 429, headers: { 'retry-after-ms': '60', 'retry-after': '1' } },
    { text: 'ok' },
  ]);
  const { events, last } = await run(server, { maxRetries: 4 });
  const waits = events.flatMap(event => (event.type === 'retrying' ? [event.delayMs] : []));
  assert.deepEqual(waits, [30, 40, 50, 60]);
  assert.equal(last.type, 'done');
  const minutes = await serve([{ status: 429, body: 'try again in 1m30.5s' }]);
  assert.match(failureIn(await run(minutes)).message, /about 2 minutes/);
});

test('a request is not sent again if the account is used up', async () => {
  const server = await serve([
    { status: 429, body: { error: { message: 'Check your plan.', code: 'insufficient_quota' } } },
    { status: 429, body: { error: { quotaId: 'RequestsPerDayPerModel', message: 'Please retry in 34s.' } } },
  ]);
  assert.match(failureIn(await run(server)).message, /no credit left \(429\)/);
  assert.equal(failureIn(await run(server)).code, 'rateLimited');
  assert.equal(server.requests.length, 2);
});

test('without Retry-After the waits grow, and are told as they are', async () => {
  const server = await serve([{ status: 429 }, { status: 429 }, { text: 'ok' }]);
  let asked = performance.now();
  const waits: { readonly told: number; readonly took: number }[] = [];
  for await (const event of providerFor(server).stream(hello, new AbortController().signal)) {
    if (event.type !== 'retrying') continue;
    asked = performance.now();
    await server.request(waits.length + 1);
    waits.push({ told: event.delayMs, took: performance.now() - asked });
  }
  const [first, second] = waits;
  assert.ok(first && second && second.told > first.told, JSON.stringify(waits));
  for (const { told, took } of waits) assert.ok(took > told * 0.8, JSON.stringify(waits));
});

test('429 with a long wait fails at once', async () => {
  const server = await serve([{ status: 429, headers: { 'retry-after': '600' } }]);
  const limited = failureIn(await run(server));
  assert.equal(limited.code, 'rateLimited');
  assert.match(limited.message, /about 10 minutes/);
  assert.equal(server.requests.length, 1);
});

test('four times 500 is one failure', async () => {
  const server = await serve(() => ({
    status: 500,
    headers: { 'retry-after': '0' },
    body: 'upstream is down',
  }));
  const broken = failureIn(await run(server));
  assert.deepEqual([broken.code, broken.status], ['server', 500]);
  assert.match(broken.message, /upstream is down/);
  assert.equal(server.requests.length, 4);
});

test('an invalid request is not repeated', async () => {
  const server = await serve(() => ({ status: 400, body: { error: { message: 'too long' } } }));
  assert.equal(failureIn(await run(server)).code, 'badRequest');
  assert.equal(server.requests.length, 1);
});

test('no process listens on the port', async () => {
  const server = await serve([]);
  const port = await freePort();
  const unreachable = failureIn(await run(server, { baseUrl: `http://127.0.0.1:${port}/v1`, maxRetries: 0 }));
  assert.equal(unreachable.code, 'unreachable');
  assert.equal(unreachable.message, `Nothing answers at 127.0.0.1:${port}. Is the server running?`);
});
