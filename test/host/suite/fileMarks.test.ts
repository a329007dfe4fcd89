import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { polled } from '../../../scripts/lib/limits.mjs';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

suite('marks in files with pending changes', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  async function lensesOf(file: vscode.Uri): Promise<string[]> {
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      file,
      10,
    );
    return lenses.map(({ command }) => command?.title ?? '');
  }

  test('one lens counts what is proposed for the file, opens it, and goes with it', async () => {
    const before = 'a\nb\nc\nd\n';
    await givenFile('marked.ts', before);
    await givenFile('plain.ts', before);
    const { id } = api.previews.push({
      label: 'Edit marked.ts',
      changes: [{ path: 'marked.ts', before, after: 'A\nb\nc\nD\n' }],
    });
    const file = vscode.Uri.file(fileInWorkspace('marked.ts'));
    await vscode.window.showTextDocument(file);
    await polled('the lens', async () => (await lensesOf(file)).length > 0);
    assert.deepEqual(await lensesOf(file), ['2 proposed changes · Review']);
    const plain = vscode.Uri.file(fileInWorkspace('plain.ts'));
    await vscode.workspace.openTextDocument(plain);
    assert.deepEqual(await lensesOf(plain), []);

    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      file,
      10,
    );
    const command = lenses[0]?.command ?? assert.fail();
    await vscode.commands.executeCommand(command.command, ...(command.arguments as unknown[]));
    assert.equal(vscode.window.activeTextEditor?.document.uri.scheme, 'redline-preview');

    const other = api.previews.push({
      label: 'Edit marked.ts again',
      changes: [{ path: 'marked.ts', before, after: 'a\nB\nc\nd\n' }],
    });
    assert.deepEqual(await lensesOf(file), ['3 proposed changes · Review']);
    for (const each of [id, other.id])
      await api.previews.resolve({ id: each, action: 'discard', reason: 'no' });
    assert.deepEqual(await lensesOf(file), []);
  });
});
