import assert from 'node:assert/strict';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { McpHttpServer } from '../../../../src/agent/clients/mcp/httpServer.ts';
import { announceWindow, windowsFolder } from '../../../../src/agent/clients/windowFiles.ts';
import { agentWorld, type AgentWorld } from '../../../support/agentClients.ts';
import { McpAgent } from '../../../support/mcpClients.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const home = await TempFolder.create();
const ends: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
  await home.remove();
});

const MAIN = path.resolve(import.meta.dirname, '../../../../src/agent/clients/stdio/main.ts');

/** An agent that works in a folder and starts the program, with this home folder. */
async function startAgent(cwd: string, name = 'tester'): Promise<McpAgent> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', MAIN],
    cwd,
    env: { HOME: home.root, USERPROFILE: home.root, PATH: process.env['PATH'] ?? '' },
    stderr: 'inherit',
  });
  const agent = await McpAgent.over(transport, name);
  ends.push(() => agent.client.close());
  return agent;
}

interface Window {
  /** As the window that is closed or reloaded. */
  close(): Promise<void>;
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
  return { close };
}

test('an agent has all tools without a window, is told plainly that there is none, and finds one that opens later', async () => {
  const folder = await home.folder('later/src');
  const agent = await startAgent(folder);
  const { tools } = await agent.client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), [
    'ast_edit',
    'ast_grep',
    'list_files',
    'propose_changes',
    'propose_edit',
    'read_file',
    'resolve',
    'search_text',
    'status',
    'wait',
    'withdraw',
  ]);
  assert.match(
    await agent.refused('propose_edit', { path: 'a.txt', content: 'x' }),
    /^No window of VS Code with Redline has .*later\/src open, .*Nothing was changed\./,
  );
  const world = agentWorld();
  await openWindow(world, home.at('later'));
  assert.match(await agent.edit('one', 'ONE'), /^Staged as p1/);
  assert.equal(world.store.get('p1')?.origin?.agent?.name, 'tester');
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

test('a window that is reloaded between two calls is found again without an error', async () => {
  const folder = await home.folder('quick');
  const world = agentWorld();
  const window = await openWindow(world, folder);
  const agent = await startAgent(folder);
  await agent.edit('one', 'ONE');
  await window.close();
  await openWindow(agentWorld({ log: world.log, workspace: world.workspace }), folder);
  assert.match(await agent.ok('status'), /^Pending:\n- p1 /);
});

test('calls side by side all find a window again that was reloaded', async () => {
  const folder = await home.folder('beside');
  const world = agentWorld();
  const window = await openWindow(world, folder);
  const agent = await startAgent(folder);
  await agent.edit('one', 'ONE');
  await window.close();
  await openWindow(agentWorld({ log: world.log, workspace: world.workspace }), folder);
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
  assert.deepEqual([first.store.openCount, second.store.openCount], [1, 0]);
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
      ...{ pid: process.pid, folders: [folder], keepsPreviews, startedAt },
    }),
  );
  const world = agentWorld();
  await openWindow(world, folder);
  const agent = await startAgent(folder);
  await agent.edit('one', 'ONE');
  assert.equal(world.store.openCount, 1);
});
