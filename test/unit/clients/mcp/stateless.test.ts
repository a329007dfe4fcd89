import assert from 'node:assert/strict';
import * as http from 'node:http';
import { after, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpHttpServer } from '../../../../src/agent/clients/mcp/httpServer.ts';
import { builtInTools } from '../../../../src/agent/session/tools/builtIn.ts';
import type { TextSearch } from '../../../../src/agent/hold/preview/textSearch.ts';
import { agentWorld, type AgentWorld } from '../../../support/agentClients.ts';
import { assertUnderstood, McpAgent, STATELESS } from '../../../support/mcpClients.ts';
import type { TestSessionOptions } from '../../../support/testSession.ts';

const servers: McpHttpServer[] = [];
after(() => Promise.all(servers.map(server => server.close())));

async function setUp(options?: TestSessionOptions): Promise<AgentWorld & { server: McpHttpServer }> {
  const world = agentWorld(options);
  const server = await McpHttpServer.start(world.host, '1.2.3');
  servers.push(server);
  return { ...world, server };
}

test('an agent without a session finds the tools and proposes, beside one that has a session', async () => {
  const { server, store, workspace } = await setUp();
  const agent = await McpAgent.stateless(server.address, 'New');
  assert.equal(agent.client.getNegotiatedProtocolVersion(), STATELESS);
  assert.match(agent.client.getInstructions() ?? '', /propose_edit/);
  const { tools } = await agent.client.listTools();
  const old = await McpAgent.to(server.address, 'Old');
  assert.deepEqual(
    tools.map(({ name }) => name),
    (await old.client.listTools()).tools.map(({ name }) => name),
  );
  assert.match(await agent.edit('one', 'ONE'), /^Staged as p1, not on disk, not decided yet\./);
  assert.match(await old.edit('two', 'TWO'), /^Staged as p2, /);
  assert.deepEqual(
    store.all().map(({ origin }) => origin?.agent?.name),
    ['New', 'Old'],
  );
  assert.match(await old.refused('withdraw', { ids: ['p1'] }), /not one of your previews/);
  assert.equal(workspace.text('a.txt'), 'one\ntwo\nthree\n');
});

test('it sees its own proposals in later requests, and is told once what was decided', async () => {
  const { server, click } = await setUp();
  const agent = await McpAgent.stateless(server.address);
  await agent.edit('one', 'ONE');
  await agent.edit('ONE', 'first');
  assert.match(await agent.ok('read_file', { path: 'a.txt' }), /first\n/);
  await click('p2', 'discard', 'Not like this.');
  assert.match(await agent.ok('status'), /^Since your last call:\n.*"Not like this\."\n\nPending:\n- p1 /);
  assert.match(await agent.ok('status'), /^Pending:\n- p1 /);
  const waiting = agent.ok('wait', { seconds: 45 });
  await click('p1', 'apply');
  assert.match(await waiting, /The user applied p1/);
});

test('it is known by its name, or by the handle that it sends', async () => {
  const { server } = await setUp();
  await (await McpAgent.stateless(server.address, 'First')).edit('one', 'ONE');
  const again = await McpAgent.stateless(server.address, 'First');
  assert.match(await again.ok('status'), /^Pending:\n- p1 /);
  const second = await McpAgent.stateless(server.address, 'Second');
  assert.match(await second.ok('status'), /^Nothing of yours/);
  const handle = { 'redline-agent': 'first-of-two' };
  const beside = await McpAgent.stateless(server.address, 'First', handle);
  assert.match(await beside.ok('status'), /^Nothing of yours/);
  await beside.edit('two', 'TWO');
  assert.match(
    await (await McpAgent.stateless(server.address, 'Renamed', handle)).ok('status'),
    /^Pending:\n- p2 /,
  );
  assert.match(await again.ok('status'), /^Pending:\n- p1 .*$/);
});

test('it goes on with its previews after the window was reloaded', async () => {
  const { server, log, workspace } = await setUp();
  const before = await McpAgent.stateless(server.address);
  await before.edit('one', 'ONE');
  await server.close();
  const reloaded = agentWorld({ log, workspace });
  const next = await McpHttpServer.start(reloaded.host, '1.2.3');
  servers.push(next);
  const agent = await McpAgent.stateless(next.address);
  assert.match(await agent.ok('status'), /^Pending:\n- p1 /);
  assert.match(await agent.edit('two', 'TWO'), /^Staged as p2/);
});

test('a call of it that is cancelled is cancelled in the window', async () => {
  const started = Promise.withResolvers<AbortSignal>();
  const search: TextSearch['search'] = (_query, _limit, signal) => {
    started.resolve(signal);
    return new Promise(() => undefined);
  };
  const { server } = await setUp({ registry: builtInTools({ textSearch: { search } }) });
  const agent = await McpAgent.stateless(server.address);
  const controller = new AbortController();
  const call = { name: 'search_text', arguments: { query: 'x' } };
  const searching = agent.client.callTool(call, { signal: controller.signal });
  const signal = await started.promise;
  const cancelled = new Promise(resolve => signal.addEventListener('abort', resolve));
  controller.abort();
  await assert.rejects(searching);
  await cancelled;
});

test('a program that speaks both protocols, and one of this kind that speaks only the old one, are served', async () => {
  const { server } = await setUp();
  const { port, token } = server.address;
  for (const mode of ['auto', 'legacy'] as const) {
    const client = new Client(
      { name: mode, version: '1' },
      { capabilities: {}, versionNegotiation: { mode } },
    );
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    const url = new URL(`http://127.0.0.1:${port}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    assert.equal(client.getNegotiatedProtocolVersion() === STATELESS, mode === 'auto', mode);
    const result = await client.callTool({ name: 'status', arguments: {} });
    assert.notEqual(result.isError, true);
    await client.close();
  }
});

test('without the token it gets no answer, and a page none with it', async () => {
  const { server, store } = await setUp();
  await assert.rejects(McpAgent.stateless({ ...server.address, token: 'guessed' }));
  await assert.rejects(McpAgent.stateless(server.address, 'page', { Origin: 'https://example.com' }));
  assert.deepEqual(store.all(), []);
});

/** Sends one message as it is. @returns the body of the answer. */
async function post(server: McpHttpServer, message: object, headers = {}): Promise<string> {
  const { port, token } = server.address;
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = http.request(
      {
        host: '127.0.0.1',
        port,
        path: '/mcp',
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token}`,
          Accept: 'application/json, text/event-stream',
          'Content-Type': 'application/json',
          ...headers,
        },
      },
      resolve,
    );
    request.on('error', reject);
    request.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }));
  });
  return (await answer.setEncoding('utf8').toArray()).join('');
}

for (const [protocol, connect] of [
  ['2025', (...to: Parameters<typeof McpAgent.to>) => McpAgent.to(...to)],
  ['2026', (...to: Parameters<typeof McpAgent.to>) => McpAgent.stateless(...to)],
] as const)
  test(`what models write a little differently is understood, in the protocol of ${protocol}`, async () => {
    const { server } = await setUp();
    await assertUnderstood(await connect(server.address));
  });

test('a tool without arguments may be called with null for them, and with null for one that is optional', async () => {
  const { server } = await setUp();
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const call = (name: string, args: unknown): Promise<string> =>
    post(
      server,
      { method: 'tools/call', params: { name, arguments: args, _meta } },
      { 'MCP-Protocol-Version': STATELESS, 'Mcp-Method': 'tools/call', 'Mcp-Name': name },
    );
  assert.match(await call('status', null), /Nothing of yours is pending/);
  assert.match(await call('read_file', { path: 'a.txt', startLine: null }), /one/);

  const old = await McpAgent.to(server.address);
  assert.match(await old.ok('read_file', { path: 'a.txt', startLine: null }), /one/);
  const session = { 'mcp-session-id': old.client.transport?.sessionId ?? '' };
  const params = { name: 'status', arguments: null };
  assert.match(await post(server, { method: 'tools/call', params }, session), /Nothing of yours is pending/);
});
