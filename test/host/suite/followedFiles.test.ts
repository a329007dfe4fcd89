import * as assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, rm, symlink } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import {
  activateRedline,
  bytesOf,
  cleanUp,
  fileInWorkspace,
  givenFile,
  setting,
  until,
} from '../support/redline.ts';

/** The tabs as they are shown: `column: label`, with what VS Code shows of them beside the label. */
function shownTabs(): string[] {
  return vscode.window.tabGroups.all.flatMap(({ viewColumn, tabs }) =>
    tabs.map(({ label, isActive, isPinned, isPreview }) =>
      [
        `${viewColumn}: ${label}`,
        ...(isActive ? ['active'] : []),
        ...(isPinned ? ['pinned'] : []),
        ...(isPreview ? ['preview'] : []),
      ].join(' '),
    ),
  );
}

suite('tabs follow what is applied', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  setup(async () => {
    await givenFile('old.txt', 'one\ntwo\nthree\n');
    await givenFile('other.txt', 'other\n');
    await givenFile('new.txt', '');
    await rm(fileInWorkspace('new.txt'));
  });

  teardown(async () => {
    // The command that closes all editors leaves pinned ones.
    await vscode.window.tabGroups.close(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs));
    await cleanUp(api);
    await rm(fileInWorkspace('linked'), { force: true });
    await rm(fileInWorkspace('real'), { recursive: true, force: true });
  });

  const show = (name: string, options: vscode.TextDocumentShowOptions = {}) =>
    vscode.window.showTextDocument(vscode.Uri.file(fileInWorkspace(name)), { preview: false, ...options });
  const shown = (...wanted: readonly string[]) => {
    const { tabGroups } = vscode.window;
    return until(
      (listener, thisArg, disposables) => {
        const events = [tabGroups.onDidChangeTabs, tabGroups.onDidChangeTabGroups];
        const all = events.map(event => event(listener, thisArg, disposables));
        return vscode.Disposable.from(...all);
      },
      () => (JSON.stringify(shownTabs()) === JSON.stringify(wanted) ? true : undefined),
      `${wanted.join(', ')}`,
    ).catch((error: unknown) => {
      assert.deepEqual(shownTabs(), wanted);
      throw error;
    });
  };
  const apply = async (prompt: string): Promise<string> => {
    await setting('preview.open', 'never');
    await api.session.prompt(prompt);
    const { id } = api.previews.peek() ?? assert.fail('a preview is pending');
    await api.previews.resolve({ id, action: 'apply', reason: 'test' });
    return id;
  };
  const saveTyped = async (): Promise<void> => {
    const editor = vscode.window.activeTextEditor ?? assert.fail();
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'typed '));
    await vscode.workspace.saveAll();
  };

  test('a renamed file: its column and selection, and what is typed and saved goes to the new name', async () => {
    await show('other.txt');
    const editor = await show('old.txt', { viewColumn: vscode.ViewColumn.Two });
    editor.selection = new vscode.Selection(1, 1, 2, 3);
    await apply('/rename old.txt => new.txt');
    await shown('1: other.txt active', '2: new.txt active');
    const moved = vscode.window.activeTextEditor ?? assert.fail();
    assert.equal(moved.document.uri.fsPath, fileInWorkspace('new.txt'));
    assert.ok(moved.selection.isEqual(new vscode.Selection(1, 1, 2, 3)));
    await saveTyped();
    assert.ok(!existsSync(fileInWorkspace('old.txt')));
    assert.equal((await bytesOf('new.txt')).toString(), 'typed one\ntwo\nthree\n');
  });

  test('a tab that is pinned stays pinned, and one that is not in front stays behind', async () => {
    await show('old.txt');
    await vscode.commands.executeCommand('workbench.action.pinEditor');
    await show('other.txt');
    await shown('1: old.txt pinned', '1: other.txt active');
    await apply('/rename old.txt => new.txt');
    await shown('1: new.txt pinned', '1: other.txt active');
  });

  test('a tab in preview mode stays in it, and the tab that the new name has already is the one that is shown', async () => {
    await show('old.txt', { preview: true });
    await apply('/rename old.txt => new.txt');
    await shown('1: new.txt active preview');
    await show('new.txt');
    await givenFile('old.txt', 'two\n');
    await show('old.txt');
    await rm(fileInWorkspace('new.txt'));
    await apply('/rename old.txt => new.txt');
    await shown('1: new.txt active');
  });

  test('a deleted file: its tabs close, also a diff and one by the name of a link; the others stay', async () => {
    await mkdir(fileInWorkspace('real'));
    await givenFile('real/old.txt', 'one\n');
    await symlink('real', fileInWorkspace('linked'));
    await show('other.txt');
    await show('linked/old.txt');
    await show('real/old.txt', { viewColumn: vscode.ViewColumn.Two });
    const uri = (name: string): vscode.Uri => vscode.Uri.file(fileInWorkspace(name));
    await vscode.commands.executeCommand(
      'vscode.diff',
      ...[uri('other.txt'), uri('real/old.txt'), 'a diff', { viewColumn: 1, preview: false }],
    );
    await apply('/delete real/old.txt');
    await shown('1: other.txt active');
  });

  test('Undo of a rename takes the tab back; a file that Undo removes has none', async () => {
    await show('old.txt');
    const id = await apply('/rename old.txt => new.txt');
    await shown('1: new.txt active');
    const undo = await vscode.commands.executeCommand<string>('redline.preview.undo', id);
    await api.previews.resolve({ id: undo, action: 'apply', reason: 'test' });
    await shown('1: old.txt active');

    const created = await apply('/write new.txt :: text');
    await show('new.txt');
    await shown('1: old.txt', '1: new.txt active');
    const remove = await vscode.commands.executeCommand<string>('redline.preview.undo', created);
    await api.previews.resolve({ id: remove, action: 'apply', reason: 'test' });
    await shown('1: old.txt active');
  });

  test('a notebook stays one', async () => {
    await givenFile('old.ipynb', '{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}');
    await givenFile('new.ipynb', '');
    await rm(fileInWorkspace('new.ipynb'));
    const notebook = await vscode.workspace.openNotebookDocument(
      vscode.Uri.file(fileInWorkspace('old.ipynb')),
    );
    await vscode.window.showNotebookDocument(notebook, { preview: false });
    await apply('/rename old.ipynb => new.ipynb');
    await shown('1: new.ipynb active');
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    assert.ok(input instanceof vscode.TabInputNotebook);
  });
});
