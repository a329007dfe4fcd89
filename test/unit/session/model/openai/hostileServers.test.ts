import { afterEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  listOpenAiModels,
  type OpenAiProviderOptions,
} from '../../../../../src/agent/session/model/openai/completions.ts';
import { createOpenAiProvider } from '../../../../../src/agent/session/model/openai/provider.ts';
import {
  closeServerAfterEach,
  drain,
  failureIn,
  hello,
  logger,
} from '../../../../support/providerHarness.ts';
import type { Outcome } from '../../../../support/providerHarness.ts';

closeServerAfterEach();

const MB = 1_048_576;
const said = 'data: {"choices":[{"index":0,"delta":{"content":"Whole"}}]}\n\n';
const finished = `${said}data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

interface HostileServer {
  readonly baseUrl: string;
  /** Resolves once the client has closed the connection. */
  readonly left: Promise<void>;
  /** What it has been able to send, in bytes. */
  sent(): number;
}

/** A server that sends this head, and then the endless piece as often as it is read. */
async function endless(
  { status = 200, type = 'text/event-stream', head = '' },
  piece: string | undefined,
  everyMs?: number,
): Promise<HostileServer> {
  let sent = 0;
  const left = Promise.withResolvers<void>();
  const pour = (response: ServerResponse): void => {
    if (piece === undefined || response.destroyed) return;
    const next = (): void => {
      sent += piece.length;
      pour(response);
    };
    response.write(piece, everyMs === undefined ? next : () => setTimeout(next, everyMs));
  };
  const started = createServer((incoming, response) => {
    incoming.resume();
    response.once('close', left.resolve);
    response.writeHead(status, { 'content-type': type });
    response.write(head || '\n');
    pour(response);
  });
  server = started;
  await new Promise<void>(resolve => started.listen(0, '127.0.0.1', resolve));
  const { port } = started.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, left: left.promise, sent: () => sent };
}

function ask({ baseUrl }: HostileServer, options: Partial<OpenAiProviderOptions> = {}): Promise<Outcome> {
  const provider = createOpenAiProvider({
    baseUrl,
    model: 'm',
    logger,
    maxRetries: 0,
    maxAnswerChars: MB,
    ...options,
  });
  return drain(provider.stream(hello, new AbortController().signal));
}

const filler = 'x'.repeat(65_536);
for (const [what, head, piece] of [
  ['a line that never ends', 'data: "', filler],
  ['an event that never ends', '', `data: ${filler}\n`],
  ['a comment that never ends', ':', filler],
] as const) {
  test(`${what} is bounded`, async () => {
    const hostile = await endless({ head }, piece);
    const broken = failureIn(await ask(hostile));
    assert.equal(broken.code, 'broken');
    assert.match(broken.message, /one piece of an answer that is too large/);
    await hostile.left;
    assert.ok(hostile.sent() < 32 * MB, `${hostile.sent()} bytes were read`);
  });

  test(`${what} after finish_reason costs nothing of the answer`, async () => {
    const hostile = await endless({ head: finished + head }, piece);
    const { last } = await ask(hostile);
    assert.ok(last.type === 'done' && last.answer.text === 'Whole', JSON.stringify(last));
    await hostile.left;
    assert.ok(hostile.sent() < 32 * MB, `${hostile.sent()} bytes were read`);
  });
}

for (const [what, piece] of [
  ['pings', ': ping\n\n'],
  ['events without data', 'event: ping\n\n'],
  ['empty chunks', 'data: {"choices":[]}\n\n'],
] as const) {
  test(`endless ${what} after finish_reason end with the answer`, async () => {
    const hostile = await endless({ head: finished }, piece, 5);
    const { last } = await ask(hostile, { idleMs: 500 });
    assert.ok(last.type === 'done' && last.answer.text === 'Whole', JSON.stringify(last));
    await hostile.left;
  });
}

test('an unreadable event after finish_reason costs nothing of the answer', async () => {
  const hostile = await endless({ head: `${finished}data: {"choices":[{\n\n` }, undefined);
  const { last } = await ask(hostile);
  assert.ok(last.type === 'done' && last.answer.text === 'Whole', JSON.stringify(last));
  await hostile.left;
});

test('events without data before the answer are ignored', async () => {
  const head = `event: ping\n\ndata:\n\n: comment\n\nid: 7\n\n${finished}data: [DONE]\n\n`;
  const { last } = await ask(await endless({ head }, undefined));
  assert.ok(last.type === 'done' && last.answer.text === 'Whole', JSON.stringify(last));
});

test('only the beginning of an endless error body is read', async () => {
  const hostile = await endless({ status: 400, type: 'text/plain', head: 'Too long.' }, filler);
  const refused = failureIn(await ask(hostile));
  assert.deepEqual([refused.code, refused.status], ['badRequest', 400]);
  assert.match(refused.message, /Too long/);
  await hostile.left;
  assert.ok(hostile.sent() < 32 * MB, `${hostile.sent()} bytes were read`);
});

test('an error body that stays open is quoted as far as it arrived', async () => {
  const hostile = await endless({ status: 400, type: 'text/plain', head: 'Too long.' }, undefined);
  const refused = failureIn(await ask(hostile, { idleMs: 500 }));
  assert.equal(refused.code, 'badRequest');
  assert.match(refused.message, /Too long/);
  await hostile.left;
});

test('the size of a list of models is limited', async () => {
  const hostile = await endless({ type: 'application/json', head: '{"data":["' }, filler);
  const list = await listOpenAiModels({ baseUrl: hostile.baseUrl });
  assert.ok('failure' in list && list.failure.code === 'broken', JSON.stringify(list).slice(0, 1_000));
  await hostile.left;
  assert.ok(hostile.sent() < 128 * MB, `${hostile.sent()} bytes were read`);
});

test('the size of an answer in one piece is limited', async () => {
  const hostile = await endless({ type: 'application/json', head: '{"choices":["' }, filler);
  assert.equal(failureIn(await ask(hostile)).code, 'broken');
  await hostile.left;
  assert.ok(hostile.sent() < 32 * MB, `${hostile.sent()} bytes were read`);
});
