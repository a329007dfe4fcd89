import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { PreviewInfo, RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, bytesOf, cleanUp, givenFile, until } from '../support/redline.ts';

suite('tools for the agents of VS Code and of other extensions', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  /** The text that the agent gets when the call returns. */
  async function invoke(name: string, input: object, token?: vscode.CancellationToken): Promise<string> {
    const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, token);
    return content.map(part => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
  }
  /** The preview that the agent waits for. */
  const waiting = (): Promise<PreviewInfo> =>
    until(api.previews.onDidChange, () => api.previews.peek(), 'a preview to be staged');

  test('both are registered, with descriptions for the agent', () => {
    for (const name of ['redline_propose_edit', 'redline_ast_edit']) {
      const tool = vscode.lm.tools.find(candidate => candidate.name === name);
      assert.match(tool?.description ?? '', /staged as .*preview .* applies or discards in Redline/);
      assert.ok(tool?.inputSchema);
    }
  });

  const EDIT = { path: 'agent.ts', edits: [{ old: 'a = 1', new: 'a = 2' }] };

  test('a proposed edit waits, a click applies it, and the agent is told; Redline’s own session is not involved', async () => {
    await givenFile('agent.ts', 'let a = 1;\n');
    const told = invoke('redline_propose_edit', EDIT);
    const { id, sourceToolName, files } = await waiting();
    assert.deepEqual(
      [sourceToolName, files],
      ['redline_propose_edit', [{ path: 'agent.ts', kind: 'modify' }]],
    );
    assert.equal((await bytesOf('agent.ts')).toString(), 'let a = 1;\n');
    assert.deepEqual([api.session.state, api.session.messages()], ['idle', []]);
    await vscode.commands.executeCommand('redline.preview.apply', id);
    assert.equal((await bytesOf('agent.ts')).toString(), 'let a = 2;\n');
    assert.ok((await told).startsWith(`Staged as ${id}, no file modified yet. The user reviews it.\n`));
    assert.ok((await told).endsWith(`The user applied ${id} (Edit agent.ts (1 edit)).`), await told);
  });

  test('a refusal is an answer, with its reason', async () => {
    await givenFile('agent.ts', 'let a = 1;\n');
    const told = invoke('redline_propose_edit', EDIT);
    const { id } = await waiting();
    await vscode.commands.executeCommand('redline.preview.discard', id, 'Use const.');
    assert.match(await told, /\nThe user discarded .*not a failure\. Reason: "Use const\."$/);
    assert.equal((await bytesOf('agent.ts')).toString(), 'let a = 1;\n');
  });

  test('stopping the agent only ends the waiting; what it staged stays pending', async () => {
    await givenFile('agent.ts', 'let a = 1;\n');
    const stop = new vscode.CancellationTokenSource();
    const told = invoke('redline_propose_edit', EDIT, stop.token);
    const { id } = await waiting();
    stop.cancel();
    await assert.rejects(told);
    assert.equal(api.previews.get(id)?.state, 'pending');
    await vscode.commands.executeCommand('redline.preview.apply', id);
    assert.equal((await bytesOf('agent.ts')).toString(), 'let a = 2;\n');
  });

  test('a structural edit is one preview', async () => {
    await givenFile('agent.ts', 'console.log(1);\nconsole.log(2);\n');
    const told = invoke('redline_ast_edit', {
      ops: [{ pat: 'console.log($A)', out: 'log($A)' }],
      paths: ['agent.ts'],
    });
    const { id, sourceToolName } = await waiting();
    assert.equal(sourceToolName, 'redline_ast_edit');
    await vscode.commands.executeCommand('redline.preview.apply', id);
    assert.equal((await bytesOf('agent.ts')).toString(), 'log(1);\nlog(2);\n');
    assert.match(await told, new RegExp(`The user applied ${id} `));
  });

  test('input that cannot be staged is an error with a text for the agent', async () => {
    await assert.rejects(
      () => invoke('redline_propose_edit', { path: '../outside.ts', edits: [{ old: '', new: 'x' }] }),
      /outside the workspace/,
    );
    assert.equal(api.previews.hasPending, false);
  });
});
