import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as net from 'node:net';
import { after, before, test } from 'node:test';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { LineTransport } from '../../../../src/agent/clients/mcp/lineTransport.ts';
import { AnsweredError, ClosedError, LineClient } from '../../../../src/agent/clients/stdio/lineClient.ts';

const listener = net.createServer({ allowHalfOpen: true });
before(() => new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve)));
after(() => listener.close());

/** Both ends of a connection, of which the window's can be half open, as those of its server can. */
async function connected(): Promise<{ agent: net.Socket; window: net.Socket }> {
  const accepted = once(listener, 'connection') as Promise<[net.Socket]>;
  const agent = net.connect((listener.address() as net.AddressInfo).port, '127.0.0.1');
  const [window] = await accepted;
  after(() => [agent, window].map(socket => socket.destroy()));
  return { agent, window };
}

/** What a window of an earlier version of Redline answers with. */
function earlierWindow(): { server: Server; cancelled: Promise<unknown> } {
  const server = new Server({ name: 'redline', version: '0' }, { capabilities: { tools: {} } });
  const { promise: cancelled, resolve } = Promise.withResolvers<unknown>();
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, _meta, sendNotification }) => {
    if (params.name === 'fails') throw new Error('It failed.');
    if (params.name === 'hangs') {
      signal.addEventListener('abort', resolve);
      return new Promise(() => undefined);
    }
    const progressToken = _meta?.progressToken ?? 'none';
    await sendNotification({
      method: 'notifications/progress',
      params: { progressToken, progress: 1, message: 'half' },
    });
    return { content: [{ type: 'text', text: JSON.stringify(params.arguments ?? 'nothing') }] };
  });
  return { server, cancelled };
}

const NAME = { name: 'tester', version: '1' };

test('the program works with a window of an earlier version', async () => {
  const { agent, window } = await connected();
  const { server, cancelled } = earlierWindow();
  await server.connect(new LineTransport(window));
  const client = await LineClient.connect(agent, NAME, 10_000);
  assert.equal(server.getClientVersion()?.name, 'tester');
  const heard: unknown[] = [];
  const onProgress = (progress: unknown): unknown => heard.push(progress);
  const timeout = 10_000;
  const { content } = await client.callTool('echo', { a: null }, { timeout, onProgress });
  assert.deepEqual(content, [{ type: 'text', text: '{"a":null}' }]);
  assert.deepEqual(heard, [{ progress: 1, message: 'half' }]);
  const without = await client.callTool('echo', undefined, { timeout });
  assert.deepEqual(without.content, [{ type: 'text', text: '"nothing"' }]);
  await assert.rejects(client.callTool('fails', {}, { timeout }), AnsweredError);
  const controller = new AbortController();
  const hanging = client.callTool('hangs', {}, { timeout, signal: controller.signal });
  controller.abort();
  await assert.rejects(hanging, { name: 'AbortError' });
  await cancelled;
  assert.ok(client.isOpen);
  // A window that answers nothing else is there as long as it says so.
  const { promise: askedTwice, resolve } = Promise.withResolvers<void>();
  let pings = 0;
  window.on('data', (chunk: Buffer) => chunk.includes('"ping"') && ++pings === 2 && resolve());
  const long = client.callTool('hangs', {}, { timeout: 300 });
  await Promise.race([askedTwice, long]);
  assert.ok(client.isOpen);
  window.pause();
  await assert.rejects(long, ClosedError);
  assert.equal(client.isOpen, false);
  await assert.rejects(client.callTool('echo', {}, { timeout }), ClosedError);
});

test('calls end when the window ends its side of the connection', async () => {
  const { agent, window } = await connected();
  const { server } = earlierWindow();
  await server.connect(new LineTransport(window));
  const client = await LineClient.connect(agent, NAME, 10_000);
  const hanging = client.callTool('hangs', {}, { timeout: 60_000 });
  window.end();
  await assert.rejects(hanging, ClosedError);
});

test('a window that does not greet is not waited for', async () => {
  const { agent, window } = await connected();
  window.resume();
  await assert.rejects(LineClient.connect(agent, NAME, 5), ClosedError);
});

test('the connection ends when the agent has ended its side, which leaves it half open', async () => {
  const { agent, window } = await connected();
  const transport = new LineTransport(window);
  const closed = new Promise<void>(resolve => (transport.onclose = resolve));
  await transport.start();
  agent.end('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await closed;
  assert.ok(window.destroyed);
});
