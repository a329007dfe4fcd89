import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, bytesOf, cleanUp, givenFile } from '../support/redline.ts';

suite('tools for the agents of VS Code and of other extensions', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  /** What an agent is told. */
  async function invoke(name: string, input: object): Promise<string> {
    const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
    return content.map(part => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
  }

  test('both are there, with what an agent must know', () => {
    for (const name of ['redline_propose_edit', 'redline_ast_edit']) {
      const tool = vscode.lm.tools.find(candidate => candidate.name === name);
      assert.match(tool?.description ?? '', /staged as .*preview .* applies or discards in Redline/);
      assert.ok(tool?.inputSchema);
    }
  });

  test('a proposed edit waits, and a click lands it; Redline’s own model is not asked', async () => {
    await givenFile('agent.ts', 'let a = 1;\n');
    const told = await invoke('redline_propose_edit', {
      path: 'agent.ts',
      edits: [{ old: 'a = 1', new: 'a = 2' }],
    });
    const { id, sourceToolName, files } = api.previews.peek() ?? assert.fail('a preview is pending');
    assert.ok(told.startsWith(`Staged as ${id}, no file modified yet. The user reviews it.\n`), told);
    assert.deepEqual(
      [sourceToolName, files],
      ['redline_propose_edit', [{ path: 'agent.ts', kind: 'modify' }]],
    );
    assert.equal((await bytesOf('agent.ts')).toString(), 'let a = 1;\n');
    assert.deepEqual([api.session.state, api.session.messages()], ['idle', []]);
    await vscode.commands.executeCommand('redline.preview.apply', id);
    assert.equal((await bytesOf('agent.ts')).toString(), 'let a = 2;\n');
  });

  test('a structural edit waits as one preview', async () => {
    await givenFile('agent.ts', 'console.log(1);\nconsole.log(2);\n');
    await invoke('redline_ast_edit', {
      ops: [{ pat: 'console.log($A)', out: 'log($A)' }],
      paths: ['agent.ts'],
    });
    const { id, sourceToolName } = api.previews.peek() ?? assert.fail('a preview is pending');
    assert.equal(sourceToolName, 'redline_ast_edit');
    await vscode.commands.executeCommand('redline.preview.apply', id);
    assert.equal((await bytesOf('agent.ts')).toString(), 'log(1);\nlog(2);\n');
  });

  test('what cannot be staged is an error with words for the agent', async () => {
    await assert.rejects(
      () => invoke('redline_propose_edit', { path: '../outside.ts', edits: [{ old: '', new: 'x' }] }),
      /outside the workspace/,
    );
    assert.equal(api.previews.hasPending, false);
  });
});
