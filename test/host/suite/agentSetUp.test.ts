import * as assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { polled } from '../../../scripts/lib/limits.mjs';
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
    for (const name of [
      '.mcp.json',
      '.claude',
      'CLAUDE.md',
      'AGENTS.md',
      'opencode.json',
      '.codex',
      '.github/hooks',
    ])
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

  test('what an agent adds to the files that connect it does not break undoing that', async () => {
    /** As agents do when they start: a key that is missing comes first. */
    const adds = async (key: string, value: unknown): Promise<void> => {
      const own = JSON.parse((await bytesOf('opencode.json')).toString()) as object;
      const text = `${JSON.stringify({ [key]: value, ...own }, null, 2)}\n`;
      if (!Object.hasOwn(own, key)) await givenFile('opencode.json', text);
    };
    const connected = async (): Promise<string> => {
      const id = (await run('redline.agents.connect', 'opencode')) ?? '';
      await vscode.commands.executeCommand('redline.preview.apply', id);
      await untilEnabled();
      return id;
    };
    const before = await names();
    const fresh = await connected();
    await adds('$schema', 'https://opencode.ai/config.json');
    await run('redline.preview.undo', fresh);
    assert.deepEqual(await names(), before, 'files that were not there before are gone');

    const mine = { theme: 'dark', model: 'local' };
    await givenFile('opencode.json', `${JSON.stringify(mine, null, 2)}\n`);
    const id = await connected();
    await adds('$version', 2);
    // What it would write has changed, so it is shown first.
    const undoing = await run('redline.preview.undo', id);
    await vscode.commands.executeCommand('redline.preview.apply', undoing);
    assert.deepEqual(JSON.parse((await bytesOf('opencode.json')).toString()), { $version: 2, ...mine });
  });

  test('a hook that was written once finds its program, also after all are disconnected and it is undone', async () => {
    const id = (await run('redline.agents.connect', 'vscode')) ?? '';
    await vscode.commands.executeCommand('redline.preview.apply', id);
    await untilEnabled();
    const hooks = (await bytesOf('.github/hooks/redline.json')).toString();
    const [, program = ''] = /"node '([^']+)' \|\| exit 2"/.exec(hooks) ?? assert.fail(hooks);
    await polled('the program', () => existsSync(program));
    /** The exit code and the reason; 2 without one is what a hook ends with that finds no program. */
    const gate = (tool: string, ...args: string[]): readonly [number | null, boolean] => {
      const { status, stdout } = spawnSync(process.execPath, [program, ...args], {
        input: JSON.stringify({ cwd: homedir(), toolName: tool, toolArgs: {} }),
        env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
        encoding: 'utf8',
      });
      return [status, stdout.includes('propose_edit')];
    };
    const works = (): void => {
      assert.deepEqual(
        [gate('edit'), gate('view')],
        [
          [2, true],
          [0, false],
        ],
      );
      // As in the home folder, where an earlier version had users put it: it holds in connected folders only.
      assert.deepEqual(gate('edit', '--connected-only'), [0, false]);
    };
    works();
    await vscode.commands.executeCommand('redline.agents.disconnectAll');
    await run('redline.preview.undo', id);
    assert.equal(existsSync(fileInWorkspace('.github/hooks/redline.json')), false);
    works();
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
