import assert from 'node:assert/strict';
import * as http from 'node:http';
import * as net from 'node:net';
import { after, test } from 'node:test';
import { McpHttpServer } from '../../../../src/agent/clients/mcp/httpServer.ts';
import { LineTransport } from '../../../../src/agent/clients/mcp/lineTransport.ts';
import { proveWindow } from '../../../../src/agent/clients/mcp/proof.ts';
import { builtInTools } from '../../../../src/agent/session/tools/builtIn.ts';
import type { TextSearch } from '../../../../src/agent/hold/preview/textSearch.ts';
import { agentWorld, type AgentWorld } from '../../../support/agentClients.ts';
import { McpAgent } from '../../../support/mcpClients.ts';
import type { TestSessionOptions } from '../../../support/testSession.ts';

const servers: McpHttpServer[] = [];
after(() => Promise.all(servers.map(server => server.close())));

async function setUp(options?: TestSessionOptions): Promise<AgentWorld & { server: McpHttpServer }> {
  const world = agentWorld(options);
  const server = await McpHttpServer.start(world.host, '1.2.3');
  servers.push(server);
  return { ...world, server };
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  },
});

/** Sends a request as it is, by default a valid `initialize`, and returns the status and the body of the answer. */
function send(
  server: McpHttpServer,
  headers: http.OutgoingHttpHeaders = {},
  {
    body = INITIALIZE,
    method = 'POST',
    path = '/mcp',
  }: { body?: string; method?: string; path?: string } = {},
): Promise<{ status: number; text: string }> {
  const { port, token } = server.address;
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          Authorization: `Bearer ${token}`,
          ...headers,
        },
      },
      response => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(method === 'POST' ? body : undefined);
  });
}

test('an agent finds the tools, with their schemas, and what to do', async () => {
  const { server } = await setUp();
  const agent = await McpAgent.to(server.address);
  const { tools } = await agent.client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    [
      'propose_edit',
      'propose_changes',
      'status',
      'wait',
      'withdraw',
      'resolve',
      'answer',
      'read_file',
      'list_files',
    ],
  );
  for (const tool of tools) {
    assert.equal(tool.inputSchema.type, 'object');
    assert.ok((tool.description ?? '').length > 40, tool.name);
  }
  assert.deepEqual(
    tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name),
    ['status', 'read_file', 'list_files'],
  );
  assert.match(agent.client.getInstructions() ?? '', /propose_edit/);
  assert.equal(agent.client.getServerVersion()?.version, '1.2.3');
});

test('proposals of two agents are held back under their names, and each is told its own decisions once', async () => {
  const { server, store, workspace, click } = await setUp();
  const first = await McpAgent.to(server.address, 'First');
  const second = await McpAgent.to(server.address, 'Second');
  assert.match(await first.edit('one', 'ONE'), /^Staged as p1, not on disk, not decided yet\./);
  assert.match(await second.edit('one', '1'), /^Staged as p2, /);
  assert.deepEqual(
    store.all().map(({ origin }) => origin?.agent),
    [
      { name: 'First', version: '1.0' },
      { name: 'Second', version: '1.0' },
    ],
  );
  assert.equal(workspace.text('a.txt'), 'one\ntwo\nthree\n');
  await click('p2', 'discard', 'Not like this.');
  assert.match(await first.ok('status'), /^Pending:\n- p1 /);
  assert.match(await second.ok('status'), /^Since your last call:\n.*"Not like this\."\n\nNothing of yours/);
  assert.match(await second.ok('status'), /^Nothing of yours/);
  assert.match(await second.refused('withdraw', { ids: ['p1'] }), /not one of your previews/);
});

test('all proposal tools work over the wire', async () => {
  const { server, workspace, click } = await setUp();
  const agent = await McpAgent.to(server.address);
  await agent.ok('propose_changes', {
    title: 'Move',
    changes: [
      { path: 'a.txt', renameTo: 'b.txt' },
      { path: 'c.txt', content: 'c' },
    ],
  });
  assert.match(
    await agent.ok('read_file', { path: 'b.txt' }),
    /as it would be with the pending preview p1 applied/,
  );
  assert.match(await agent.ok('resolve', { id: 'p1', action: 'apply', reason: 'ok' }), /recommendation/);
  const waiting = agent.ok('wait', { seconds: 45 });
  await click('p1', 'apply');
  assert.match(await waiting, /The user applied p1 \(Move\)/);
  assert.deepEqual(workspace.snapshot(), { 'b.txt': 'one\ntwo\nthree\n', 'c.txt': 'c' });
  await agent.ok('propose_edit', { path: 'c.txt', content: 'C' });
  assert.match(
    await agent.ok('withdraw', { ids: ['p2'] }),
    /^Discarded: p2 \(Rewrite c\.txt\)\. Reason: Withdrawn by the agent\.$/,
  );
});

test('a call that the agent cancels is cancelled in the window', async () => {
  const started = Promise.withResolvers<AbortSignal>();
  const search: TextSearch['search'] = (_query, _limit, signal) => {
    started.resolve(signal);
    return new Promise(() => undefined);
  };
  const { server } = await setUp({ registry: builtInTools({ textSearch: { search } }) });
  const agent = await McpAgent.to(server.address);
  const controller = new AbortController();
  const call = { name: 'search_text', arguments: { query: 'x' } };
  const searching = agent.client.callTool(call, undefined, { signal: controller.signal });
  const signal = await started.promise;
  const cancelled = new Promise(resolve => signal.addEventListener('abort', resolve));
  controller.abort();
  await assert.rejects(searching);
  await cancelled;
});

test('without the token of the window there is no answer', async () => {
  const { server } = await setUp();
  const { token } = server.address;
  for (const wrong of ['', 'Bearer', 'Bearer ', 'Bearer x', token, `bearer ${token}`, `Bearer ${token}x`]) {
    const { status, text } = await send(server, { Authorization: wrong });
    assert.equal(status, 401, wrong);
    assert.ok(!text.includes(token));
  }
  await assert.rejects(McpAgent.to({ ...server.address, token: 'guessed' }));
  assert.equal((await send(server)).status, 200);
});

test('a web page gets no answer, whatever name it gives the machine', async () => {
  const { server } = await setUp();
  const { port } = server.address;
  for (const origin of ['https://example.com', 'null', 'http://127.0.0.1', 'http://localhost:1'])
    assert.equal((await send(server, { Origin: origin })).status, 403, origin);
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    '127.0.0.1',
    `[::1]:${port}`,
  ])
    assert.equal((await send(server, { Host: host })).status, 403, host);
  assert.equal((await send(server, { Host: `localhost:${port}` })).status, 200);
  assert.equal((await send(server, { Origin: 'https://example.com' }, { method: 'OPTIONS' })).status, 403);
});

test('other paths, other methods and bodies that are no messages are refused, and the server goes on', async () => {
  const { server } = await setUp();
  assert.equal((await send(server, {}, { path: '/' })).status, 404);
  assert.equal((await send(server, {}, { path: '//mcp' })).status, 404);
  assert.equal((await send(server, {}, { method: 'PUT' })).status, 400);
  assert.equal((await send(server, {}, { body: '{' })).status, 400);
  assert.equal((await send(server, {}, { body: '[]' })).status, 400);
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
  assert.equal((await send(server, {}, { body: deep })).status, 400);
  assert.equal((await send(server, { 'mcp-session-id': 'guessed' })).status, 404);
  assert.match((await send(server)).text, /"name":"redline"/);
});

test('a message that is too large is refused before it is read, told or not', async () => {
  const { server, store } = await setUp();
  const { port, token } = server.address;
  const told = await send(server, { 'Content-Length': String(64 * 1024 * 1024) }, { body: '' });
  assert.equal(told.status, 413);
  assert.match(told.text, /larger than 8 MB/);
  // Without a length, it is cut off where the limit is reached.
  const untold = await new Promise<number>((resolve, reject) => {
    const request = http.request(
      {
        host: '127.0.0.1',
        port,
        path: '/mcp',
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Transfer-Encoding': 'chunked' },
      },
      response => resolve(response.statusCode ?? 0),
    );
    // The server closes the connection once it has answered.
    request.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET' ? resolve(413) : reject(error),
    );
    const chunk = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 40; n++) request.write(chunk);
    request.end();
  });
  assert.equal(untold, 413);
  assert.deepEqual(store.all(), []);
});

test('an agent that dies leaves its previews pending, and the server goes on', async () => {
  const { server, store, click, workspace } = await setUp();
  const agent = await McpAgent.to(server.address);
  await agent.edit('one', 'ONE');
  const waiting = agent.call('wait').catch(() => undefined);
  await agent.client.close();
  await waiting;
  // One that dies in the middle of a request.
  const { port, token } = server.address;
  await new Promise<void>(resolve => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 500\r\n\r\n{"js`,
      );
      socket.destroy();
    });
    socket.on('close', () => resolve());
  });
  await click('p1', 'apply');
  assert.equal(workspace.text('a.txt'), 'ONE\ntwo\nthree\n');
  assert.equal(store.get('p1')?.state.kind, 'applied');
  assert.match(await (await McpAgent.to(server.address)).ok('status'), /^Nothing of yours/);
});

test('an agent that comes back with its id goes on with its previews', async () => {
  const { server, click } = await setUp();
  const id = 'f3b1c1de-0000-4000-8000-000000000000';
  const connect = async (heard?: number): Promise<McpAgent> => {
    const window = await proveWindow(server.address);
    return McpAgent.over(new LineTransport(window.greet({ id, ...(heard === undefined ? {} : { heard }) })));
  };
  const before = await connect();
  await before.edit('one', 'ONE');
  const { _meta } = await before.call('status');
  await click('p1', 'discard', 'No.');
  const again = await connect(_meta?.['redline/heard'] as number);
  assert.match(await again.ok('status'), /^Since your last call:\nThe user discarded p1 /);
  await assert.rejects(before.call('status'), 'the old connection is closed');
});

test('who does not prove that it knows the token gets no connection', async () => {
  const { server } = await setUp();
  const { port } = server.address;
  await assert.rejects(proveWindow({ port, token: 'x'.repeat(43) }), /not the window/);
  // The proof of another window, and none at all, with a message behind it.
  for (const line of [
    JSON.stringify({ proof: 'x'.repeat(43), id: 'f3b1c1de' }),
    INITIALIZE,
    'x'.repeat(5_000),
  ]) {
    const answer = await new Promise<string>(resolve => {
      let text = '';
      const socket = net.connect(port, '127.0.0.1', () => {
        socket.write(
          `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: redline\r\nredline-nonce: n\r\n\r\n`,
        );
        socket.write(`${line}\n${INITIALIZE}\n`);
      });
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
    assert.match(answer, /^HTTP\/1\.1 101 /);
    assert.doesNotMatch(answer, /jsonrpc/);
  }
});

test('of many connections, the one that was used least recently is closed', async () => {
  const { server } = await setUp();
  const first = await McpAgent.to(server.address, 'first');
  const second = await McpAgent.to(server.address, 'second');
  await first.ok('status');
  await second.ok('status');
  await first.ok('status');
  for (let n = 0; n < 99; n++) assert.equal((await send(server)).status, 200);
  await assert.rejects(second.call('status'));
  await first.ok('status');
});

test('names of agents are bounded and on one line', async () => {
  const { server, store } = await setUp();
  const agent = await McpAgent.to(server.address, `Evil\n\u202Ename ${'x'.repeat(500)}`);
  await agent.edit('one', 'ONE');
  const name = store.get('p1')?.origin?.agent?.name ?? '';
  assert.match(name, /^Evil name x+…$/);
  assert.equal(name.length, 60);
});

test('a thousand proposals from four agents at once are all staged, none of them twice', async () => {
  const { server, store } = await setUp({ files: {} });
  const agents = await Promise.all(['a', 'b', 'c', 'd'].map(name => McpAgent.to(server.address, name)));
  const count = 250;
  await Promise.all(
    agents.map(async (agent, who) => {
      for (let from = 0; from < count; from += 50)
        await Promise.all(
          Array.from({ length: 50 }, (_, n) =>
            agent.ok('propose_edit', { path: `${who}/${from + n}.txt`, content: 'x' }),
          ),
        );
    }),
  );
  assert.equal(store.open.size, 4 * count);
  const paths = new Set(store.all().map(({ changes }) => changes?.[0]?.path));
  assert.equal(paths.size, 4 * count);
});

test('after it is closed, nothing listens, and who has not proved itself by then is not waited for', async () => {
  const { server } = await setUp();
  const { address } = server;
  const agent = await McpAgent.to(address);
  const silent = await proveWindow(address);
  const stranger = net.connect(address.port, '127.0.0.1', () =>
    stranger.write(
      `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${address.port}\r\nConnection: Upgrade\r\nUpgrade: redline\r\nredline-nonce: n\r\n\r\n`,
    ),
  );
  const gone = new Promise(resolve => stranger.once('close', resolve));
  await new Promise(resolve => stranger.once('data', resolve));
  const before = performance.now();
  await server.close();
  assert.ok(performance.now() - before < 5_000);
  await gone;
  silent.close();
  await assert.rejects(McpAgent.to(address));
  await assert.rejects(agent.call('status'));
});
