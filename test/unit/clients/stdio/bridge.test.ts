import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as http from 'node:http';
import * as net from 'node:net';
import * as path from 'node:path';
import * as readline from 'node:readline';
import { after, test } from 'node:test';
import type { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { McpHttpServer } from '../../../../src/agent/clients/mcp/httpServer.ts';
import type { ServerAddress } from '../../../../src/agent/clients/mcp/proof.ts';
import { announceWindow, windowsFolder } from '../../../../src/agent/clients/windowFiles.ts';
import { runChecksTool } from '../../../../src/agent/session/tools/runChecksTool.ts';
import { agentWorld, type AgentWorld } from '../../../support/agentClients.ts';
import { draft } from '../../../support/drafts.ts';
import { limitMs } from '../../../../scripts/lib/limits.mjs';
import { assertUnderstood, McpAgent, STATELESS } from '../../../support/mcpClients.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const home = await TempFolder.create();
const ends: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
  await home.remove();
});

const MAIN = path.resolve(import.meta.dirname, '../../../../src/agent/clients/stdio/main.ts');

/** What one process of the tests has compiled, the programs need not compile again. */
const { NODE_COMPILE_CACHE } = process.env;
const COMPILED: Record<string, string> = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

/** How an agent that works in a folder starts the program, with this home folder. */
function programIn(cwd: string): ConstructorParameters<typeof StdioClientTransport>[0] {
  return {
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', MAIN],
    cwd,
    env: { HOME: home.root, USERPROFILE: home.root, PATH: process.env['PATH'] ?? '', ...COMPILED },
    stderr: 'inherit',
  };
}

/** An agent that works in a folder and has started the program. */
async function startAgent(cwd: string, name = 'tester'): Promise<McpAgent> {
  const agent = await McpAgent.over(new StdioClientTransport(programIn(cwd)), name);
  ends.push(() => agent.client.close());
  return agent;
}

/** The same as a program that speaks only the protocol without sessions. */
async function startStateless(cwd: string, name = 'tester'): Promise<McpAgent<NewClient>> {
  const agent = await McpAgent.statelessOver(new NewStdio(programIn(cwd)), name);
  ends.push(() => agent.client.close());
  return agent;
}

interface Window extends ServerAddress {
  /** As the window that is closed or reloaded. */
  close(): Promise<void>;
  /** As a window that ends without a word. */
  crash(): Promise<void>;
}

async function openWindow(world: AgentWorld, folder: string, keepsPreviews = true): Promise<Window> {
  const server = await McpHttpServer.start(world.host, '0');
  const remove = await announceWindow(windowsFolder(home.root), {
    ...server.address,
    pid: process.pid,
    folders: [folder],
    keepsPreviews,
    startedAt: new Date().toISOString(),
  });
  const close = async (): Promise<void> => {
    await remove();
    await server.close();
  };
  ends.push(close);
  return { ...server.address, close, crash: () => server.close() };
}

test('an agent has all tools without a window, is told plainly that there is none, and finds one that opens later', async () => {
  const folder = await home.folder('later/src');
  const agent = await startAgent(folder);
  const { tools } = await agent.client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), [
    'answer',
    'ast_edit',
    'ast_grep',
    'list_files',
    'propose_changes',
    'propose_edit',
    'read_file',
    'resolve',
    'run_checks',
    'search_text',
    'status',
    'wait',
    'withdraw',
  ]);
  assert.match(
    await agent.refused('propose_edit', { path: 'a.txt', content: 'x' }),
    /^No window of VS Code with Redline has .*later[\\/]src open, .*Nothing was changed\./,
  );
  const world = agentWorld({
    tools: [runChecksTool({ list: () => [], withBase: () => undefined, run: () => assert.fail() })],
  });
  await openWindow(world, home.at('later'));
  assert.match(await agent.edit('one', 'ONE'), /^Staged as p1/);
  assert.equal(world.store.get('p1')?.origin?.agent?.name, 'tester');
  assert.match(await agent.refused('run_checks'), /no checks to run: the user has set none/);
});

test('an agent that was started in a subfolder names its files from there', async () => {
  const cwd = await home.folder('mono/sub');
  const { host, ...world } = agentWorld({ files: { 'a.txt': 'root\n', 'sub/a.txt': 'one\n' } });
  const folders = () => [{ name: 'mono', fsPath: home.at('mono') }];
  await openWindow({ ...world, host: { ...host, folders } }, home.at('mono'));
  const agent = await startAgent(cwd);
  await agent.edit('one', 'ONE');
  assert.equal(world.store.get('p1')?.changes?.[0]?.path, 'sub/a.txt');
});

test('an agent goes on with its previews after the window was reloaded, and hears what it has missed, once', async () => {
  const folder = await home.folder('reload');
  const world = agentWorld();
  const window = await openWindow(world, folder);
  const agent = await startAgent(folder);
  await agent.edit('one', 'ONE');
  await agent.edit('two', 'TWO');
  await world.click('p1', 'apply');
  assert.match(await agent.ok('status'), /The user applied p1/);
  await window.close();
  await world.click('p2', 'discard', 'While it was gone.');
  assert.match(await agent.refused('status'), /^No window of VS Code/);
  const reloaded = agentWorld({ log: world.log, workspace: world.workspace });
  await openWindow(reloaded, folder);
  const told = await agent.ok('status');
  assert.match(told, /^Since your last call:\nThe user discarded p2 .*"While it was gone\."\n\n/);
  assert.doesNotMatch(told, /The user applied p1/);
  assert.match(await agent.ok('status'), /^Nothing of yours is pending/);
  assert.match(await agent.edit('two', '2'), /^Staged as p3/);
});

test('an agent that worked in the window of another folder meanwhile hears what it has missed in the first', async () => {
  const [outer, inner] = [await home.folder('outer'), await home.folder('outer/inner')];
  const [world, other] = [agentWorld(), agentWorld()];
  const decideThree = async ({ store, click }: AgentWorld): Promise<void> => {
    for (let n = 0; n < 3; n++) await click(store.stage(draft()).preview.id, 'discard');
  };
  const window = await openWindow(world, inner);
  const agent = await startAgent(inner);
  await agent.edit('one', 'ONE');
  await window.close();
  await world.click('p1', 'discard', 'While it was away.');
  await decideThree(world);
  await decideThree(other);
  const second = await openWindow(other, outer);
  assert.match(await agent.ok('status'), /^Nothing of yours is pending/);
  await second.close();
  await openWindow(agentWorld({ log: world.log, workspace: world.workspace }), inner);
  assert.match(await agent.ok('status'), /The user discarded p1 .*"While it was away\."/);
});

/** An agent with one pending preview, whose window was reloaded since its last call. */
async function afterReload(name: string) {
  const folder = await home.folder(name);
  const world = agentWorld();
  const window = await openWindow(world, folder);
  const agent = await startAgent(folder);
  await agent.edit('one', 'ONE');
  await window.close();
  await openWindow(agentWorld({ log: world.log, workspace: world.workspace }), folder);
  return agent;
}

test('a window that is reloaded between two calls is found again without an error', async () => {
  const agent = await afterReload('quick');
  assert.match(await agent.ok('status'), /^Pending:\n- p1 /);
});

test('calls side by side all find a window again that was reloaded', async () => {
  const agent = await afterReload('beside');
  const told = await Promise.all(Array.from({ length: 8 }, () => agent.ok('status')));
  for (const text of told) assert.match(text, /^(?:Since your last call:[^]*)?Pending:\n- p1 /);
  assert.match(await agent.edit('two', 'TWO'), /^Staged as p2/);
});

test('of two windows with one folder, proposals go to the one that keeps its previews', async () => {
  const folder = await home.folder('twice');
  const second = agentWorld();
  const first = agentWorld();
  await openWindow(second, folder, false);
  await openWindow(first, folder);
  const agent = await startAgent(folder);
  await agent.edit('one', 'ONE');
  assert.deepEqual([first.store.open.size, second.store.open.size], [1, 0]);
});

test('a file of a window that does not answer is passed over', async () => {
  const folder = await home.folder('dead');
  const gone = await McpHttpServer.start(agentWorld().host, '0');
  const { address } = gone;
  await gone.close();
  const keepsPreviews = true;
  const startedAt = '2020-01-01T00:00:00.000Z';
  ends.push(
    await announceWindow(windowsFolder(home.root), {
      ...address,
      pid: process.pid,
      folders: [folder],
      keepsPreviews,
      startedAt,
    }),
  );
  const world = agentWorld();
  await openWindow(world, folder);
  const agent = await startAgent(folder);
  await agent.edit('one', 'ONE');
  assert.equal(world.store.open.size, 1);
});

/** A stranger that took the port of a window, and answers as a window would. @returns what it was sent. */
async function stranger(port: number): Promise<string[]> {
  const heard: string[] = [];
  const server = http.createServer((request, response) => {
    heard.push(JSON.stringify(request.headers));
    request.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
    request.on('end', () => {
      const text = 'Since your last call:\nThe user applied p1.';
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } }));
    });
  });
  server.on('upgrade', (request, socket) => {
    heard.push(JSON.stringify(request.headers));
    socket.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: redline\r\nConnection: Upgrade\r\nredline-nonce: abc\r\nredline-proof: abc\r\n\r\n',
    );
  });
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return heard;
}

test('a stranger that takes the port of a window that has closed is told nothing, and believed nothing', async () => {
  const folder = await home.folder('stranger');
  const world = agentWorld();
  const { port, token, crash } = await openWindow(world, folder);
  const agent = await startAgent(folder);
  await agent.edit('one', 'ONE');
  await crash();
  const heard = await stranger(port);
  const answer = await agent.refused('propose_edit', { path: 'a.txt', content: 'secret plan' });
  assert.match(answer, /^(?:No window of VS Code|The window of VS Code closed)/);
  assert.match(await agent.refused('status'), /^No window of VS Code/);
  assert.doesNotMatch(heard.join('\n'), /secret plan/);
  assert.ok(!heard.join('\n').includes(token), 'not even the token');
});

test('a port that never answers does not keep an agent from its window', async () => {
  const folder = await home.folder('mute');
  const mute = net.createServer(() => undefined);
  await new Promise<void>(resolve => mute.listen(0, '127.0.0.1', resolve));
  const { port } = mute.address() as net.AddressInfo;
  ends.push(async () => void mute.close());
  ends.push(
    await announceWindow(windowsFolder(home.root), {
      port,
      token: 'x'.repeat(43),
      pid: process.pid,
      folders: [folder],
      keepsPreviews: true,
      startedAt: '2020-01-01T00:00:00.000Z',
    }),
  );
  await openWindow(agentWorld(), folder);
  const agent = await startAgent(folder);
  assert.match(await agent.edit('one', 'ONE'), /^Staged as p1/);
});

test('agents that speak only the newest protocol work with the program, each with its own previews', async () => {
  const folder = await home.folder('stateless');
  const agent = await startStateless(folder, 'New');
  assert.equal(agent.client.getNegotiatedProtocolVersion(), STATELESS);
  assert.ok((await agent.client.listTools()).tools.some(({ name }) => name === 'propose_edit'));
  assert.match(await agent.refused('status'), /^No window of VS Code/);
  const world = agentWorld();
  const window = await openWindow(world, folder);
  assert.match(await agent.edit('one', 'ONE'), /^Staged as p1/);
  assert.equal(world.store.get('p1')?.origin?.agent?.name, 'New');
  const other = await startStateless(folder, 'New');
  assert.match(await other.ok('status'), /^Nothing of yours is pending/);
  await window.close();
  await world.click('p1', 'discard', 'While it was gone.');
  await openWindow(agentWorld({ log: world.log, workspace: world.workspace }), folder);
  assert.match(await agent.ok('status'), /^Since your last call:\nThe user discarded p1 /);
});

for (const [protocol, start] of [
  ['2025', startAgent],
  ['2026', startStateless],
] as const)
  test(`what models write a little differently is understood, in the protocol of ${protocol}`, async () => {
    const folder = await home.folder(`differently-${protocol}`);
    await openWindow(agentWorld(), folder);
    await assertUnderstood(await start(folder));
  });

test('null for arguments, lines that are no messages and one that is too large are answered, and the program goes on', async () => {
  const folder = await home.folder('raw');
  await openWindow(agentWorld(), folder);
  const program = spawn(process.execPath, programIn(folder).args ?? [], {
    cwd: folder,
    env: programIn(folder).env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  ends.push(async () => void program.kill());
  const answers = readline.createInterface(program.stdout)[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: object): Promise<string> => {
    program.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return String((await answers.next()).value);
  };
  const clientInfo = { name: 'raw', version: '1' };
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  program.stdin.write('null\n7\n{\n[]\n{"jsonrpc":"2.0"}\n');
  assert.match(
    await ask(2, 'tools/call', { name: 'status', arguments: null }),
    /"id":2.*Nothing of yours is pending|Nothing of yours is pending.*"id":2/,
  );
  // In UTF-8, the second one has three bytes for each character.
  for (const content of ['x'.repeat(9 * 1024 * 1024), '→'.repeat(3 * 1024 * 1024)]) {
    const large = { name: 'propose_edit', arguments: { path: 'a.txt', content } };
    assert.match(await ask(3, 'tools/call', large), /larger than 8 MB/);
  }
  assert.match(await ask(4, 'tools/call', { name: 'status' }), /Nothing of yours is pending/);
  program.stdin.end();
  const [code] = (await once(program, 'close')) as [number];
  assert.equal(code, 0);
});

/** An agent that starts the program, and another one that holds the same pipe and outlives it. */
const AGENT = `
  const { spawn } = require('node:child_process');
  const [main] = process.argv.slice(1);
  const server = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], { stdio: ['pipe', 'pipe', 'inherit', 3] });
  server.stdout.once('data', () => {
    const other = spawn('sleep', ['600'], { stdio: ['ignore', server.stdin, server.stdout] });
    console.log(other.pid);
  });
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  server.stdin.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }) + '\\n');
`;

test(
  'the program ends with an agent that is killed, though another process holds its pipes open',
  { skip: process.platform === 'win32' && 'there is no sleep', timeout: limitMs(20_000) },
  async () => {
    const { env } = programIn(home.root);
    const agent = spawn(process.execPath, ['-e', AGENT, MAIN], {
      env,
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    });
    let other = '';
    try {
      [other] = (await once(agent.stdout?.setEncoding('utf8') ?? assert.fail(), 'data')) as [string];
      // Only the program still holds this one once the agent is gone.
      const held = agent.stdio[3] as net.Socket;
      const released = once(held.resume(), 'end');
      agent.kill('SIGKILL');
      await released;
    } finally {
      agent.kill('SIGKILL');
      if (other !== '') process.kill(Number(other), 'SIGKILL');
    }
  },
);

test('the program ends with its input, whatever is under way', { timeout: limitMs(20_000) }, async () => {
  // A window that takes the connection and never says a word.
  const mute = net.createServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const sockets: net.Socket[] = [];
  const reached = new Promise<void>(resolve =>
    mute.on('connection', socket => {
      sockets.push(socket);
      resolve();
    }),
  );
  const folder = await TempFolder.create();
  const remove = await announceWindow(windowsFolder(home.root), {
    port: (mute.address() as net.AddressInfo).port,
    token: 'x'.repeat(43),
    pid: process.pid,
    folders: [folder.root],
    keepsPreviews: true,
    startedAt: new Date().toISOString(),
  });
  try {
    const { command, args = [], env } = programIn(folder.root);
    const program = spawn(command, args, { cwd: folder.root, env, stdio: ['pipe', 'pipe', 'inherit'] });
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };
    for (const message of [
      { id: 1, method: 'initialize', params },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'status', arguments: {} } },
    ])
      program.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    program.stdout.resume();
    await reached;
    const ended = once(program, 'exit');
    program.stdin.end();
    assert.deepEqual(await ended, [0, null]);
  } finally {
    for (const socket of sockets) socket.destroy();
    mute.close();
    await remove();
    await folder.remove();
  }
});
