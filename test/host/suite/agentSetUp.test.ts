import * as assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { INSTRUCTIONS } from '../../../src/agent/clients/clientTools.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile, until } from '../support/redline.ts';

const MINE = '// mine\n{\n  "permission": { "edit": "ask" }, // for now\n}\n';

suite('connecting agents by previews of their configuration', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(async () => {
    await vscode.commands.executeCommand('redline.agents.disconnectAll');
    await cleanUp(api);
    for (const name of [
      '.mcp.json',
      '.claude',
      'CLAUDE.md',
      'AGENTS.md',
      'opencode.json',
      '.gemini',
      'GEMINI.md',
    ])
      await rm(fileInWorkspace(name), { recursive: true, force: true });
  });

  const isEnabled = (): unknown => vscode.workspace.getConfiguration('redline').get('agents.enabled');
  const run = (command: string, ...args: string[]): Thenable<string | undefined> =>
    vscode.commands.executeCommand<string | undefined>(command, ...args);
  const names = (): Promise<string[]> => readdir(path.dirname(fileInWorkspace('x')));
  const untilEnabled = (): Promise<true> =>
    until(
      vscode.workspace.onDidChangeConfiguration,
      () => (isEnabled() === true ? true : undefined),
      'agents',
    );

  test('nothing is written and nothing listens until the user applies; then the files hold exactly what was shown', async () => {
    await givenFile('opencode.json', MINE);
    const before = await names();
    const id = await run('redline.agents.connect', 'opencode');
    const [preview] = api.previews.list();
    assert.deepEqual(
      [preview?.id, preview?.label, preview?.files],
      [
        id,
        'Connect opencode',
        [
          { path: 'opencode.json', kind: 'modify' },
          { path: 'AGENTS.md', kind: 'create' },
        ],
      ],
    );
    assert.deepEqual([await names(), (await bytesOf('opencode.json')).toString()], [before, MINE]);
    assert.equal(isEnabled(), false);
    assert.equal(await run('redline.agents.connect', 'opencode'), id, 'the same preview opens again');
    assert.deepEqual(api.session.messages(), []);

    await vscode.commands.executeCommand('redline.preview.apply', id);
    await untilEnabled();
    const text = (await bytesOf('opencode.json')).toString();
    assert.match(text, /^\/\/ mine\n\{\n {2}"permission": \{ "edit": "deny"/);
    assert.match(text, /\/\/ for now/);
    assert.match(text, /redline-mcp\.cjs"/);
    assert.equal(
      (await bytesOf('AGENTS.md')).toString(),
      `<!-- redline -->\n${INSTRUCTIONS}\n<!-- /redline -->\n`,
    );
    assert.equal(await run('redline.agents.connect', 'opencode'), undefined);
    assert.equal(api.previews.hasPending, false, 'there is nothing to change');

    const gone = await run('redline.agents.disconnect', 'opencode');
    assert.equal(api.previews.get(gone ?? '')?.label, 'Disconnect opencode');
    assert.equal((await bytesOf('opencode.json')).toString(), text);
    await vscode.commands.executeCommand('redline.preview.apply', gone);
    assert.deepEqual([await names(), (await bytesOf('opencode.json')).toString()], [before, MINE]);
  });

  test('discarding leaves everything as it was', async () => {
    const before = await names();
    const id = await run('redline.agents.connect', 'claude');
    assert.deepEqual(
      api.previews.get(id ?? '')?.files.map(file => file.path),
      ['.mcp.json', '.claude/settings.local.json', 'CLAUDE.md'],
    );
    await vscode.commands.executeCommand('redline.preview.discard', id);
    assert.deepEqual([await names(), isEnabled()], [before, false]);
    assert.equal(await run('redline.agents.disconnect', 'claude'), undefined);
  });

  test('in Auto, neither the model nor an agent can vote on it', async () => {
    const id = await run('redline.agents.connect', 'gemini');
    const preview = api.previews.get(id ?? '');
    assert.equal(preview?.agent, undefined);
    // No conversation concerns it, so that the model does not know it; other agents see their own previews only.
    await vscode.commands.executeCommand('redline.chat.focus');
    await api.session.prompt(`/resolve apply ${id ?? ''}`);
    assert.equal(api.previews.get(id ?? '')?.state, 'pending');
  });

  test('a configuration that is not valid is left alone, and nothing is staged', async () => {
    await givenFile('opencode.json', '{ oops');
    assert.equal(await run('redline.agents.connect', 'opencode'), undefined);
    assert.equal(api.previews.hasPending, false);
    assert.equal((await bytesOf('opencode.json')).toString(), '{ oops');
  });

  test('what undoes it is followed, too', async () => {
    const before = await names();
    const id = await run('redline.agents.connect', 'claude');
    await vscode.commands.executeCommand('redline.preview.apply', id);
    await untilEnabled();
    const undo = await run('redline.preview.undo', id ?? '');
    await vscode.commands.executeCommand('redline.preview.apply', undo);
    assert.deepEqual(await names(), before);
    assert.equal(await run('redline.agents.disconnect', 'claude'), undefined);
  });
});
