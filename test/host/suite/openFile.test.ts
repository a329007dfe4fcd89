import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { PREVIEW_SCHEME } from '../../../src/views/contributions.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

suite('Open File of Preview', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });
  setup(async () => {
    await givenFile('open-a.txt', 'a\n');
    await givenFile('open-b.txt', 'b\n');
  });
  teardown(() => cleanUp(api));

  const push = (...paths: string[]): string => {
    const changes = paths.map(path => ({ path, before: `${path.charAt(5)}\n`, after: 'new\n' }));
    return api.previews.push({ label: paths.join(', '), sourceToolName: 'test', changes }).id;
  };
  const previewOf = (id: string, path: string, query = ''): vscode.Uri =>
    vscode.Uri.file(fileInWorkspace(path)).with({ scheme: PREVIEW_SCHEME, authority: id, query });
  /** The workspace file that the command opens; `undefined` when it opens none. */
  const opened = async (...args: unknown[]): Promise<string | undefined> => {
    const before = vscode.window.activeTextEditor;
    await vscode.commands.executeCommand('redline.preview.openFile', ...args);
    const { activeTextEditor: editor } = vscode.window;
    return editor === before || editor?.document.uri.scheme !== 'file'
      ? undefined
      : vscode.workspace.asRelativePath(editor.document.uri);
  };

  test('it opens the file of the clicked document title, of the row, or of the active editor', async () => {
    const id = push('open-a.txt', 'open-b.txt');
    assert.equal(await opened(previewOf(id, 'open-b.txt')), 'open-b.txt');
    assert.equal(
      await opened({ kind: 'file', previewId: id, revision: 1, path: 'open-a.txt' }),
      'open-a.txt',
    );
    await vscode.commands.executeCommand('redline.preview.open', id, 'open-b.txt');
    assert.equal(await opened(), 'open-b.txt');
  });

  test('with no active preview it opens the file of the head', async () => {
    push('open-a.txt');
    push('open-b.txt');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    assert.equal(await opened(), 'open-b.txt');
  });

  test('before apply the file of a rename is at its old path, and a new file does not exist', async () => {
    await api.session.prompt('/rename open-a.txt => open-c.txt');
    const rename = api.previews.peek();
    assert.equal(rename?.files[0]?.path, 'open-c.txt');
    assert.equal(await opened(rename?.id), 'open-a.txt');
    const { id } = api.previews.push({
      label: 'new',
      sourceToolName: 'test',
      changes: [{ path: 'open-new.txt', before: null, after: 'x' }],
    });
    assert.equal(await opened(id), undefined);
    assert.equal(await opened(previewOf(id, 'open-new.txt', 'base')), undefined);
  });
});
