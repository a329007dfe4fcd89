import * as assert from 'node:assert/strict';
import { mkdir, rm, symlink } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { AgentToolResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import { Gate } from '../../support/gate.ts';
import type { ScriptedServer } from '../../support/scriptedServer.ts';
import { connect, textOfRequest } from '../support/connect.ts';
import {
  activateRedline,
  bytesOf,
  cleanUp,
  fileInWorkspace,
  givenFile,
  setting,
  until,
} from '../support/redline.ts';

const resolveCall = (action: 'apply' | 'discard', reason: string) => ({
  name: 'resolve',
  arguments: { action, reason },
});
const text = (value: string): AgentToolResult => ({ content: [{ type: 'text', text: value }] });

suite('rules for every apply', () => {
  let api: RedlineApi;
  let server: ScriptedServer | undefined;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(async () => {
    await cleanUp(api);
    await server?.close();
    assert.deepEqual(server?.violations ?? [], []);
    server = undefined;
  });

  const stateOf = (id: string) => api.previews.get(id)?.state;
  const attemptsOn = (id: string) =>
    api.previews
      .ledger()
      .filter(entry => entry.previewId === id)
      .map(({ actor, outcome }) => [actor, outcome]);

  test('Stop in the middle of a slow apply: the call ends at once; apply runs once and to its end, and that outcome is recorded', async () => {
    server = await connect([{ toolCalls: [resolveCall('apply', 'Send it.')] }], { modelAuthority: 'apply' });
    const gate = new Gate();
    let runs = 0;
    const { id } = api.previews.push({
      label: 'Send a letter',
      sourceToolName: 'post_office',
      apply: async () => {
        runs++;
        await gate.pass();
        return text('sent');
      },
    });
    const prompt = api.session.prompt('Send the letter.');
    await gate.reached;
    api.session.stop();
    await prompt; // The session is over although the callback still runs.

    assert.equal(api.session.state, 'idle');
    assert.equal(stateOf(id), 'applying');
    const result = api.session.messages().findLast(message => message.role === 'tool');
    assert.equal(result?.content, 'Interrupted by the user while it ran.');
    assert.equal(result.isError, true);
    assert.deepEqual(attemptsOn(id), [], 'nothing is recorded before it has ended');

    const late = api.previews.resolve({ id, action: 'discard', reason: 'too late' });
    gate.open();
    assert.match(
      (await late).content[0]?.text ?? '',
      /was already resolved by the model: applied\. Reason: Send it\./,
    );
    assert.equal(stateOf(id), 'applied');
    assert.deepEqual(attemptsOn(id), [['model', 'applied']]);
    assert.equal(runs, 1);
    assert.equal(server.requests.length, 1);
  });

  test('Stop in the middle of an apply that fails: the preview is pending again with its error', async () => {
    server = await connect([{ toolCalls: [resolveCall('apply', 'Send it.')] }], { modelAuthority: 'apply' });
    const gate = new Gate();
    const { id } = api.previews.push({
      label: 'Send a letter',
      sourceToolName: 'post_office',
      apply: async () => {
        await gate.pass();
        throw new Error('no stamps');
      },
    });
    const prompt = api.session.prompt('Send the letter.');
    await gate.reached;
    api.session.stop();
    await prompt;
    assert.equal(stateOf(id), 'applying');
    gate.open();
    await until(
      api.previews.onDidChange,
      () => (stateOf(id) === 'pending' ? true : undefined),
      'the preview to be pending again',
    );
    assert.equal(api.previews.get(id)?.lastError, 'no stamps');
    assert.deepEqual(attemptsOn(id), [['model', 'failed']]);
  });

  test('two previews of one file: once the first is applied, the other is stale and overwrites nothing', async () => {
    await givenFile('one.txt', 'colour: red\n');
    const push = (after: string) =>
      api.previews.push({
        label: `Make it ${after}`,
        sourceToolName: 'painter',
        changes: [{ path: 'one.txt', before: 'colour: red\n', after: `colour: ${after}\n` }],
      });
    const [first, second] = [push('green'), push('blue')];
    await api.previews.resolve({ id: first.id, action: 'apply', reason: 'first' });
    await assert.rejects(
      api.previews.resolve({ id: second.id, action: 'apply', reason: 'second' }),
      /one\.txt/,
      'the file that moved on is named',
    );
    assert.equal((await bytesOf('one.txt')).toString(), 'colour: green\n');
    const left = api.previews.get(second.id);
    assert.equal(left?.state, 'pending');
    assert.equal(left.stale, true);
    assert.equal(api.previews.ledger().at(-1)?.outcome, 'failed');
    await api.previews.resolve({ id: second.id, action: 'discard', reason: 'green it is' });
    assert.equal((await bytesOf('one.txt')).toString(), 'colour: green\n');
  });

  const humanOnly = [
    ...[
      '.vscode/settings.json',
      '.redline/tools/x.ts',
      'AGENTS.md',
      'sub/AGENTS.md',
      '.gitignore',
      'x.code-workspace',
    ],
    ...['.github/workflows/ci.yml', '.VSCode/tasks.json'],
  ];
  for (const path of humanOnly) {
    test(`Auto: the model's apply of a change to ${path} only recommends`, async () => {
      await recommendsOnly(() =>
        api.previews.push({
          label: `Change ${path}`,
          sourceToolName: 'write_file',
          changes: [{ path, before: null, after: '{}' }],
        }),
      );
      await assert.rejects(bytesOf(path), { code: 'ENOENT' });
    });
  }

  test("Auto: the model's apply of a change in the target of a link named .vscode only recommends", async () => {
    await mkdir(fileInWorkspace('tooling'));
    await givenFile('tooling/settings.json', '{}');
    await symlink('tooling', fileInWorkspace('.vscode'));
    try {
      await recommendsOnly(() =>
        api.previews.push({
          label: 'Change tooling/settings.json',
          sourceToolName: 'write_file',
          changes: [{ path: 'tooling/settings.json', before: '{}', after: '{ }' }],
        }),
      );
      assert.equal((await bytesOf('tooling/settings.json')).toString(), '{}');
    } finally {
      await rm(fileInWorkspace('.vscode'));
      await rm(fileInWorkspace('tooling'), { recursive: true });
    }
  });

  test("Auto: the model's apply of a change that matches redline.resolve.alwaysAsk only recommends", async () => {
    await setting('resolve.alwaysAsk', ['*.sql', 7]);
    await recommendsOnly(() =>
      api.previews.push({
        label: 'Change db/1.sql',
        sourceToolName: 'write_file',
        changes: [{ path: 'db/1.sql', before: null, after: 'x' }],
      }),
    );
  });

  test('Auto: a workspace can add files that wait, by marking them read-only for all', async () => {
    const mark = (value: Record<string, boolean> | undefined) =>
      vscode.workspace
        .getConfiguration('files')
        .update('readonlyInclude', value, vscode.ConfigurationTarget.Global);
    await mark({ 'guarded/**': true });
    try {
      await recommendsOnly(() =>
        api.previews.push({
          label: 'Create guarded/a.txt',
          sourceToolName: 'write_file',
          changes: [{ path: 'guarded/a.txt', before: null, after: 'x' }],
        }),
      );
    } finally {
      await mark(undefined);
      await rm(fileInWorkspace('.vscode'), { recursive: true, force: true });
    }
  });

  test("Auto: the model's apply of run_command only recommends, and a click of the user runs it", async () => {
    let runs = 0;
    const id = await recommendsOnly(() =>
      api.previews.push({
        label: 'rm -rf build',
        sourceToolName: 'run_command',
        apply: () => {
          runs++;
          return Promise.resolve(text('done'));
        },
      }),
    );
    assert.equal(runs, 0);
    await api.previews.resolve({ id, action: 'apply', reason: 'as a person would' });
    assert.equal(runs, 1);
  });

  test('Apply All applies changes, and leaves a command to a vote of its own, even if nothing else is pending', async () => {
    let runs = 0;
    const command = api.previews.push({
      label: 'rm -rf build',
      sourceToolName: 'run_command',
      apply: () => {
        runs++;
        return Promise.resolve(text('done'));
      },
    }).id;
    const change = api.previews.push({
      label: 'Create all.txt',
      sourceToolName: 'write_file',
      changes: [{ path: 'all.txt', before: null, after: 'x' }],
    }).id;
    await vscode.commands.executeCommand('redline.preview.applyAll');
    assert.deepEqual([stateOf(change), stateOf(command), runs], ['applied', 'pending', 0]);
    await vscode.commands.executeCommand('redline.preview.applyAll');
    assert.deepEqual([stateOf(command), runs], ['pending', 0]);
    assert.ok(
      vscode.window.tabGroups.all.some(group => group.tabs.some(tab => tab.label.includes('rm -rf build'))),
    );
    await vscode.commands.executeCommand('redline.preview.apply', command);
    assert.deepEqual([stateOf(command), runs], ['applied', 1]);
  });

  /** Auto mode with a model that applies what was pushed: it stays pending, with the recommendation. */
  async function recommendsOnly(push: () => { readonly id: string }): Promise<string> {
    const { id } = push();
    // The model is not asked about it, but may vote all the same.
    const vote = { name: 'resolve', arguments: { action: 'apply', reason: 'It is safe.', id } };
    // The first one on changes, which it did not write, is answered with their diff.
    const votes = api.previews.get(id)?.files.length ? [vote, vote] : [vote];
    server = await connect([...votes.map(call => ({ toolCalls: [call] })), { text: 'Waiting for you.' }], {
      modelAuthority: 'apply',
    });
    await api.session.prompt('Do it.');
    assert.match(
      textOfRequest(server, votes.length),
      /The user decides; (it has|they have) changed nothing yet/,
    );
    assert.equal(stateOf(id), 'pending');
    assert.deepEqual(api.previews.get(id)?.recommendation, { action: 'apply', reason: 'It is safe.' });
    assert.deepEqual(attemptsOn(id), []);
    assert.equal(api.session.state, 'awaitingReview');
    return id;
  }
});
