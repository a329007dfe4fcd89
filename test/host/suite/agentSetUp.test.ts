import * as assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { INSTRUCTIONS } from '../../../src/agent/clients/clientTools.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import type { ScriptedServer } from '../../support/scriptedServer.ts';
import { connect } from '../support/connect.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile, until } from '../support/redline.ts';

const MINE = '// mine\n{\n  "permission": { "edit": "ask" }, // for now\n}\n';

suite('connecting agents by previews of their configuration', () => {
  let api: RedlineApi;
  let server: ScriptedServer | undefined;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(async () => {
    await vscode.commands.executeCommand('redline.agents.disconnectAll');
    await cleanUp(api);
    await server?.close();
    server = undefined;
    for (const name of ['.mcp.json', '.claude', 'CLAUDE.md', 'AGENTS.md', 'opencode.json', '.codex'])
      await rm(fileInWorkspace(name), { recursive: true, force: true });
  });

  const isEnabled = (): unknown => vscode.workspace.getConfiguration('redline').get('agents.enabled');
  const run = (command: string, ...args: string[]): Thenable<string | undefined> =>
    vscode.commands.executeCommand<string | undefined>(command, ...args);
  /** All files; a folder that is left empty does not count. */
  const names = async (): Promise<string[]> =>
    (await readdir(path.dirname(fileInWorkspace('x')), { recursive: true, withFileTypes: true }))
      .filter(entry => entry.isFile())
      .map(entry => path.join(entry.parentPath, entry.name))
      .sort();
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
    assert.match(text, /^\/\/ mine\n\{\n {2}"permission": \{\s+"edit": "deny",\s+"bash": "deny"\s+\}/);
    assert.match(text, /\/\/ for now/);
    assert.match(text, /redline-mcp\.cjs"/);
    assert.equal(
      (await bytesOf('AGENTS.md')).toString(),
      `<!-- redline -->\n${INSTRUCTIONS}\n<!-- /redline -->\n`,
    );
    assert.equal(await run('redline.agents.connect', 'opencode'), undefined);
    assert.equal(api.previews.hasPending, false, 'there is nothing to change');

    await run('redline.preview.undo', id ?? '');
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
  });

  test('in Auto, a model that names the preview can neither apply nor discard it, nor is it told of it', async () => {
    const id = (await run('redline.agents.connect', 'claude')) ?? '';
    const vote = (action: string) => ({
      toolCalls: [{ name: 'resolve', arguments: { action, id, reason: 'I may.' } }],
    });
    server = await connect([vote('apply'), vote('discard'), { text: 'Well.' }], { modelAuthority: 'apply' });
    await api.session.prompt('Go on.');
    const results = api.session.messages().filter(message => message.role === 'tool');
    assert.equal(results.length, 2);
    for (const { content } of results) assert.match(content, /does not belong to this conversation/);
    assert.ok(!JSON.stringify(server.requests[0]?.body.messages).includes('Connect Claude Code'));
    assert.deepEqual(
      [api.previews.get(id)?.state, api.previews.get(id)?.recommendation, isEnabled()],
      ['pending', undefined, false],
    );
  });

  test('a configuration that is not valid is left alone, and nothing is staged', async () => {
    await givenFile('opencode.json', '{ oops');
    assert.equal(await run('redline.agents.connect', 'opencode'), undefined);
    assert.equal(api.previews.hasPending, false);
    assert.equal((await bytesOf('opencode.json')).toString(), '{ oops');
  });

  test('agents that are connected at once get one paragraph', async () => {
    const codex = await run('redline.agents.connect', 'codex');
    const opencode = (await run('redline.agents.connect', 'opencode')) ?? '';
    await vscode.commands.executeCommand('redline.preview.apply', codex);
    const rest = (): true | undefined => (api.previews.get(opencode)?.files.length === 1 ? true : undefined);
    await until(api.previews.onDidChange, rest, 'the rest of the second preview');
    await vscode.commands.executeCommand('redline.preview.apply', opencode);
    assert.equal((await bytesOf('AGENTS.md')).toString().split(INSTRUCTIONS).length, 2);
  });

  test('a file that is applied by itself lets agents connect, and undoing does not', async () => {
    const id = (await run('redline.agents.connect', 'claude')) ?? '';
    await vscode.commands.executeCommand('redline.preview.applyFile', id, '.mcp.json');
    await untilEnabled();
    await vscode.commands.executeCommand('redline.agents.disconnectAll');
    const part = api.previews.ledger().at(-1)?.previewId ?? '';
    await run('redline.preview.undo', part);
    assert.equal(isEnabled(), false);
  });

  test('what is missing of a configuration that was there before is proposed by itself', async () => {
    const id = (await run('redline.agents.connect', 'claude')) ?? '';
    await vscode.commands.executeCommand('redline.preview.apply', id);
    await untilEnabled();
    await rm(fileInWorkspace('CLAUDE.md'));
    const rest = (await run('redline.agents.connect', 'claude')) ?? '';
    assert.deepEqual(
      api.previews.get(rest)?.files.map(file => file.path),
      ['CLAUDE.md'],
    );
  });
});
