import * as assert from 'node:assert/strict';
import { readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { ClaudeClient, GeminiClient } from '../../support/companionClients.ts';
import {
  activateRedline,
  bytesOf,
  cleanUp,
  fileInWorkspace,
  givenFile,
  setting,
} from '../support/redline.ts';

interface Word {
  readonly owner?: string;
  readonly pid: number;
  readonly port?: number;
  readonly authToken: string;
  readonly workspacePath?: string;
  readonly workspaceFolders?: readonly string[];
}

const geminiFolder = path.join(tmpdir(), 'gemini', 'ide');
const claudeFolder = path.join(process.env['CLAUDE_CONFIG_DIR'] ?? path.join(homedir(), '.claude'), 'ide');

suite('companions of agents in terminals', () => {
  let api: RedlineApi;
  const open: { close(): Promise<void> }[] = [];

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(async () => {
    for (const agent of open.splice(0)) await agent.close();
    await cleanUp(api);
  });

  /** What this window has left in a folder, with the name of the file. */
  async function ownWord(folder: string): Promise<(Word & { readonly name: string }) | undefined> {
    for (const name of await readdir(folder).catch(() => [])) {
      if (!/\.(?:json|lock)$/.test(name)) continue;
      const text = await readFile(path.join(folder, name), 'utf8').catch(() => undefined);
      if (text === undefined) continue; // another window has removed its own
      const word = JSON.parse(text) as Word;
      if (word.owner === 'redline' && word.pid === process.pid) return { ...word, name };
    }
    return undefined;
  }

  /** Settles when this window has left word, or removed it. An agent, too, would learn of it only by looking. */
  async function untilLeft(
    folder: string,
    isLeft: boolean,
  ): Promise<(Word & { readonly name: string }) | undefined> {
    for (let attempt = 0; attempt < 200; attempt++) {
      const word = await ownWord(folder);
      if ((word !== undefined) === isLeft) return word;
      await new Promise(resolve => setTimeout(resolve, 50));
    }
    return assert.fail(isLeft ? 'nothing was left for the agent' : 'what was left is still there');
  }

  async function untilPending(): Promise<{ readonly id: string; readonly revision: number }> {
    for (let attempt = 0; attempt < 200; attempt++) {
      const [preview] = api.previews.list();
      if (preview) return preview;
      await new Promise(resolve => setTimeout(resolve, 20));
    }
    return assert.fail('no preview');
  }

  const apply = ({ id, revision }: { readonly id: string; readonly revision: number }): Thenable<unknown> =>
    vscode.commands.executeCommand('redline.preview.apply', id, undefined, revision);

  async function startGemini(): Promise<GeminiClient> {
    await setting('agents.companions', ['gemini']);
    const word = (await untilLeft(geminiFolder, true)) ?? assert.fail('left');
    const agent = await GeminiClient.to(word.port ?? 0, word.authToken);
    open.push(agent);
    return agent;
  }

  async function startClaude(): Promise<ClaudeClient> {
    await setting('agents.companions', ['claude']);
    const word = (await untilLeft(claudeFolder, true)) ?? assert.fail('left');
    const agent = await ClaudeClient.to(Number.parseInt(word.name, 10), word.authToken);
    open.push({ close: () => agent.end() });
    return agent;
  }

  test('nothing is left for agents, and nothing listens, until one is switched on, nor after it is switched off', async () => {
    assert.equal(await ownWord(geminiFolder), undefined);
    assert.equal(await ownWord(claudeFolder), undefined);
    await setting('agents.companions', ['gemini']);
    const word = (await untilLeft(geminiFolder, true)) ?? assert.fail('left');
    assert.equal(word.workspacePath, await realpath(path.dirname(fileInWorkspace('x'))));
    assert.equal(await ownWord(claudeFolder), undefined, 'only the one that was chosen');
    await setting('agents.companions', []);
    await untilLeft(geminiFolder, false);
    await assert.rejects(GeminiClient.to(word.port ?? 0, word.authToken));
    await setting('agents.companions', ['gemini']);
    await untilLeft(geminiFolder, true);
    await vscode.commands.executeCommand('redline.agents.disconnectAll');
    await untilLeft(geminiFolder, false);
  });

  test('a new terminal knows where the window listens, until the companion is switched off', async () => {
    if (process.platform === 'win32') return;
    const portInTerminal = async (): Promise<string> => {
      const file = fileInWorkspace('port.txt');
      await givenFile('port.txt', '');
      const terminal = vscode.window.createTerminal({
        shellPath: '/bin/sh',
        shellArgs: ['-c', `printf %s "$GEMINI_CLI_IDE_SERVER_PORT" > "${file}"`],
      });
      await new Promise<void>(resolve => {
        const closing = vscode.window.onDidCloseTerminal(closed => {
          if (closed !== terminal) return;
          closing.dispose();
          resolve();
        });
      });
      return readFile(file, 'utf8');
    };
    await setting('agents.companions', ['gemini']);
    const word = (await untilLeft(geminiFolder, true)) ?? assert.fail('left');
    assert.equal(await portInTerminal(), String(word.port));
    await setting('agents.companions', []);
    await untilLeft(geminiFolder, false);
    assert.equal(await portInTerminal(), '');
  });

  test('Gemini CLI: an apply sends the text, the agent writes it, and the ledger says applied', async () => {
    await givenFile('gemini.ts', 'let a = 1;\n');
    const agent = await startGemini();
    await agent.openDiff(fileInWorkspace('gemini.ts'), 'let a = 2;\n');
    const preview = await untilPending();
    assert.equal((await bytesOf('gemini.ts')).toString(), 'let a = 1;\n');
    const applied = apply(preview);
    const content = await agent.accepted();
    assert.equal(content, 'let a = 2;\n');
    await writeFile(fileInWorkspace('gemini.ts'), 'let a = 2;\n');
    await applied;
    assert.equal(api.previews.get(preview.id)?.state, 'applied');
    const entry = api.previews.ledger().findLast(({ previewId }) => previewId === preview.id);
    assert.deepEqual([entry?.outcome, entry?.actor], ['applied', 'human']);
  });

  test('Gemini CLI: what it writes otherwise is not taken for applied', async () => {
    await givenFile('gemini.ts', 'let a = 1;\n');
    const agent = await startGemini();
    await agent.openDiff(fileInWorkspace('gemini.ts'), 'let a = 2;\n');
    const preview = await untilPending();
    const applied = apply(preview);
    await agent.accepted();
    await writeFile(fileInWorkspace('gemini.ts'), 'let a = 3;\n');
    await applied;
    assert.equal(api.previews.get(preview.id)?.state, 'expired');
    const entry = api.previews.ledger().findLast(({ previewId }) => previewId === preview.id);
    assert.equal(entry?.outcome, 'failed');
    assert.match(entry?.message ?? '', /Gemini CLI wrote something else: gemini\.ts/);
  });

  test('Claude Code: its diff waits for the answer, which it writes; a discard refuses', async () => {
    await givenFile('claude.ts', 'let a = 1;\n');
    const agent = await startClaude();
    const answer = agent.openDiff(fileInWorkspace('claude.ts'), 'let a = 2;\n', 'one');
    const preview = await untilPending();
    const applied = apply(preview);
    assert.deepEqual(await answer, ['FILE_SAVED', 'let a = 2;\n']);
    await writeFile(fileInWorkspace('claude.ts'), 'let a = 2;\n');
    await applied;
    assert.equal(api.previews.get(preview.id)?.state, 'applied');
    const second = agent.openDiff(fileInWorkspace('claude.ts'), 'let a = 3;\n', 'two');
    const { id, revision } = await untilPending();
    await vscode.commands.executeCommand('redline.preview.discard', id, undefined, revision);
    assert.deepEqual(await second, ['DIFF_REJECTED', 'two']);
  });

  test('Claude Code: what it writes otherwise is not taken for applied, and a closed tab is no vote', async () => {
    await givenFile('claude.ts', 'let a = 1;\n');
    const agent = await startClaude();
    const answer = agent.openDiff(fileInWorkspace('claude.ts'), 'let a = 2;\n');
    const preview = await untilPending();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    assert.equal(api.previews.get(preview.id)?.state, 'pending');
    const applied = apply(preview);
    await answer;
    await writeFile(fileInWorkspace('claude.ts'), 'let a = 3;\n');
    await applied;
    assert.equal(api.previews.get(preview.id)?.state, 'expired');
  });
});
