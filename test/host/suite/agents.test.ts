import * as assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as vscode from 'vscode';
import { polled } from '../../../scripts/lib/limits.mjs';
import { openWindows, windowsFolder, type OpenWindow } from '../../../src/agent/clients/windowFiles.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import { EXTENSION_ID } from '../../../src/views/contributions.ts';
import { McpAgent } from '../../support/mcpClients.ts';
import {
  activateRedline,
  bytesOf,
  cleanUp,
  fileInWorkspace,
  givenFile,
  setting,
} from '../support/redline.ts';

suite('agents of other programs', () => {
  let api: RedlineApi;
  const agents: McpAgent[] = [];

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(async () => {
    for (const agent of agents.splice(0)) await agent.client.close();
    await cleanUp(api);
  });

  const ownWindow = async (): Promise<OpenWindow | undefined> =>
    (await openWindows(windowsFolder(homedir()))).find(({ pid }) => pid === process.pid);

  /** Settles when this window can be found by agents, or no longer. */
  async function untilAnnounced(isAnnounced: boolean): Promise<OpenWindow | undefined> {
    const what = isAnnounced ? 'the window to be announced' : 'the window to be announced no longer';
    await polled(what, async () => ((await ownWindow()) !== undefined) === isAnnounced);
    return ownWindow();
  }

  /** An agent that starts the packaged program in the workspace. */
  async function startAgent(name: string): Promise<McpAgent> {
    const { extensionPath } = vscode.extensions.getExtension(EXTENSION_ID) ?? assert.fail('installed');
    const agent = await McpAgent.over(
      new StdioClientTransport({
        command: process.execPath,
        args: [path.join(extensionPath, 'dist', 'redline-mcp.cjs')],
        cwd: path.dirname(fileInWorkspace('x')),
        env: { ...(process.env as Record<string, string>), ELECTRON_RUN_AS_NODE: '1' },
      }),
      name,
    );
    agents.push(agent);
    return agent;
  }

  test('nothing listens until the user lets agents connect, nor after they may not any more', async () => {
    assert.equal(await ownWindow(), undefined);
    await setting('agents.enabled', true);
    const { port, token } = (await untilAnnounced(true)) ?? assert.fail('announced');
    await (await McpAgent.to({ port, token })).client.close();
    await setting('agents.enabled', false);
    await untilAnnounced(false);
    await assert.rejects(McpAgent.to({ port, token }));
  });

  test('only the user can read the word that the window leaves', async () => {
    if (process.platform === 'win32') return;
    await setting('agents.enabled', true);
    await untilAnnounced(true);
    const folder = windowsFolder(homedir());
    const own =
      (await readdir(folder)).find(name => name.startsWith(`${process.pid}-`)) ?? assert.fail('there');
    assert.equal((await stat(path.join(folder, own))).mode & 0o777, 0o600);
  });

  test('an agent proposes through redline-mcp, a click applies, a refusal is told with its reason, once', async () => {
    await givenFile('agent.ts', 'let a = 1;\nlet b = 1;\n');
    await setting('agents.enabled', true);
    await untilAnnounced(true);
    const agent = await startAgent('Claude Code');
    assert.match(await agent.edit('a = 1', 'a = 2', 'agent.ts'), /not on disk, not decided yet/);
    await agent.ok('propose_edit', { path: 'agent2.ts', content: 'export {};\n' });
    assert.equal((await bytesOf('agent.ts')).toString(), 'let a = 1;\nlet b = 1;\n');
    const [second, first] = api.previews.list();
    assert.deepEqual(
      [first?.agent, second?.sourceToolName],
      [{ name: 'Claude Code', version: '1.0' }, 'propose_edit'],
    );
    assert.match(await agent.ok('search_text', { query: 'a = 2' }), /agent\.ts \(as if p\d+ were applied\)/);
    const waiting = agent.ok('wait');
    await vscode.commands.executeCommand('redline.preview.apply', first?.id);
    assert.match(await waiting, /^Since your last call:\nThe user applied p/);
    assert.equal((await bytesOf('agent.ts')).toString(), 'let a = 2;\nlet b = 1;\n');
    await vscode.commands.executeCommand('redline.preview.discard', second?.id, 'Not needed.');
    assert.match(await agent.ok('status'), /The user discarded p.*Reason: "Not needed\."/);
    assert.doesNotMatch(await agent.ok('status'), /^Since your last call/);
    assert.deepEqual(
      api.previews
        .ledger()
        .slice(-2)
        .map(entry => [entry.agent?.name, entry.actor, entry.outcome]),
      [
        ['Claude Code', 'human', 'applied'],
        ['Claude Code', 'human', 'discarded'],
      ],
    );
    assert.deepEqual([api.session.state, api.session.messages()], ['idle', []]);
  });

  test('a structural edit, and what it finds, over the wire', async () => {
    await givenFile('agent.ts', 'console.log(1);\nconsole.log(2);\n');
    await setting('agents.enabled', true);
    const { port, token } = (await untilAnnounced(true)) ?? assert.fail('announced');
    const agent = await McpAgent.to({ port, token });
    agents.push(agent);
    const paths = ['agent.ts'];
    await agent.ok('ast_edit', { ops: [{ pat: 'console.log($A)', out: 'log($A)' }], paths });
    assert.match(await agent.ok('ast_grep', { pat: 'log($A)', paths }), /log\(1\)/);
    assert.equal(api.previews.peek()?.sourceToolName, 'ast_edit');
  });

  test('any other client gets the steps, with a program that is there, and may connect until all are disconnected', async () => {
    await vscode.commands.executeCommand('redline.agents.connect', 'other');
    const { document } = vscode.window.activeTextEditor ?? assert.fail('a document is shown');
    await untilAnnounced(true);
    const [, bridge = ''] = /"args": \[\s*("[^"\n]+")/.exec(document.getText()) ?? [];
    assert.ok((await stat(JSON.parse(bridge) as string)).size > 0);
    await vscode.commands.executeCommand('redline.agents.disconnectAll');
    await untilAnnounced(false);
  });

  test('the command for another terminal is copied once the user lets agents connect, and turns nothing on before', async () => {
    const { showQuickPick, showWarningMessage } = vscode.window;
    const asked: unknown[][] = [];
    const pick = <T extends vscode.QuickPickItem>(items: readonly T[]): Promise<T | undefined> =>
      Promise.resolve(items.find(({ label }) => label === 'Copy the Command for Another Terminal'));
    const isEnabled = (): unknown => vscode.workspace.getConfiguration('redline').get('agents.enabled');
    const copy = async (answer: string | undefined): Promise<string> => {
      const answered = async (text: string): Promise<string | undefined> => {
        asked.push([text, isEnabled(), await ownWindow()]);
        return answer;
      };
      Object.assign(vscode.window, { showQuickPick: pick, showWarningMessage: answered });
      await vscode.env.clipboard.writeText('mine');
      try {
        await vscode.commands.executeCommand('redline.agents.openTerminal');
      } finally {
        Object.assign(vscode.window, { showQuickPick, showWarningMessage });
      }
      return vscode.env.clipboard.readText();
    };
    const question = ['Let agents in other terminals connect to this window?', false, undefined];
    assert.equal(await copy(undefined), 'mine');
    assert.deepEqual([asked, isEnabled(), await ownWindow()], [[question], false, undefined]);
    await setting('agents.enabled', false); // so that it is reset, whatever is turned on
    const command = await copy('Turn On');
    assert.deepEqual(asked, [question, question]);
    await untilAnnounced(true);
    const [, program = ''] = /^node '(.*redline-run\.cjs)' -- $/.exec(command) ?? assert.fail(command);
    assert.ok((await stat(program)).size > 0);
    assert.equal(await copy(undefined), command, 'it asks once');
    assert.equal(asked.length, 2);
  });

  test('agents may connect, no longer, and again: a terminal that is being opened then, or at work, goes on', async () => {
    if (process.platform === 'win32') return;
    await setting('agents.enabled', true);
    await untilAnnounced(true);
    await vscode.commands.executeCommand('redline.agents.openTerminal', '/bin/sh');
    const terminal = vscode.window.terminals.at(-1) ?? assert.fail('there is a terminal');
    const writes = async (name: string): Promise<void> => {
      terminal.sendText(`echo x > ${name}`);
      await polled(name, () => api.previews.list().some(({ label }) => label.includes(name)));
    };
    try {
      await setting('agents.enabled', false);
      await untilAnnounced(false);
      await writes('off.ts');
      assert.equal(await ownWindow(), undefined);
      await setting('agents.enabled', true);
      await untilAnnounced(true);
      await writes('on.ts');
    } finally {
      terminal.dispose();
    }
  });

  test('VS Code’s own agents get the tools of the MCP server', async () => {
    await polled('the tools of the server', async () => {
      // It starts the servers that VS Code has heard of by then.
      await vscode.commands.executeCommand('workbench.mcp.startServer', '*', { waitForLiveTools: true });
      return vscode.lm.tools.some(({ name }) => isOfServer(name));
    });
  });

  test('a path outside the workspace is refused', async () => {
    await setting('agents.enabled', true);
    const { port, token } = (await untilAnnounced(true)) ?? assert.fail('announced');
    const agent = await McpAgent.to({ port, token });
    agents.push(agent);
    assert.match(
      await agent.refused('propose_edit', { path: '../outside.ts', content: 'x' }),
      /outside the workspace/,
    );
    assert.equal(api.previews.hasPending, false);
  });
});

function isOfServer(name: string): boolean {
  return /^mcp_.*propose_edit$/.test(name);
}
