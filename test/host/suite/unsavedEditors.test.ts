import * as assert from 'node:assert/strict';
import { chmod, link, mkdir, rm, stat, symlink } from 'node:fs/promises';
import * as vscode from 'vscode';
import { commitChanges } from '../../../src/agent/hold/preview/commit/commitChanges.ts';
import {
  bytesOfSide,
  isText,
  sideOfText,
  type FileChange,
} from '../../../src/agent/hold/preview/fileChange.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import { VsCodeWorkspace } from '../../../src/views/workspace/workspace.ts';
import { modify } from '../../support/changes.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

const NOTEBOOK = JSON.stringify(
  {
    cells: [{ cell_type: 'markdown', metadata: {}, source: ['one'] }],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  },
  null,
  1,
);

suite('unsaved changes in an editor without a text document', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  test('a notebook with unsaved changes is neither read as it is on disk nor written under them', async () => {
    await givenFile('work.ipynb', NOTEBOOK);
    await givenFile('beside.txt', 'a');
    const { id } = api.previews.push({
      label: 'a notebook and a file',
      sourceToolName: 'test',
      changes: [
        { path: 'beside.txt', before: 'a', after: 'b' },
        { path: 'work.ipynb', before: NOTEBOOK, after: NOTEBOOK.replace('one', 'two') },
      ],
    });
    const notebook = await vscode.workspace.openNotebookDocument(
      vscode.Uri.file(fileInWorkspace('work.ipynb')),
    );
    await vscode.window.showNotebookDocument(notebook);
    const edit = new vscode.WorkspaceEdit();
    const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Markup, 'typed', 'markdown');
    edit.set(notebook.uri, [vscode.NotebookEdit.insertCells(0, [cell])]);
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.ok(notebook.isDirty);

    await assert.rejects(
      api.previews.resolve({ id, action: 'apply', reason: 'test' }),
      /work\.ipynb has unsaved changes in a notebook, a custom editor or/,
    );
    assert.equal((await bytesOf('work.ipynb')).toString(), NOTEBOOK);
    assert.equal((await bytesOf('beside.txt')).toString(), 'a');
    assert.equal(api.previews.get(id)?.state, 'pending');

    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await api.previews.resolve({ id, action: 'apply', reason: 'test' });
    assert.equal((await bytesOf('work.ipynb')).toString(), NOTEBOOK.replace('one', 'two'));
    assert.equal((await bytesOf('beside.txt')).toString(), 'b');
  });

  test('a custom editor with unsaved changes is not written under; once it is reverted, Apply works', async () => {
    await givenFile('plan.drawing', 'one');
    const { id } = api.previews.push({
      label: 'a drawing',
      sourceToolName: 'test',
      changes: [{ path: 'plan.drawing', before: 'one', after: 'two' }],
    });
    const uri = vscode.Uri.file(fileInWorkspace('plan.drawing'));
    await vscode.commands.executeCommand('vscode.openWith', uri, 'drawings.editor');
    const tabIsDirty = new Promise<void>(resolve => {
      const listener = vscode.window.tabGroups.onDidChangeTabs(({ changed }) => {
        if (!changed.some(tab => tab.isDirty && tab.input instanceof vscode.TabInputCustom)) return;
        listener.dispose();
        resolve();
      });
    });
    await vscode.commands.executeCommand('drawings.draw');
    await tabIsDirty;

    await assert.rejects(
      api.previews.resolve({ id, action: 'apply', reason: 'test' }),
      /plan\.drawing has unsaved changes in a notebook, a custom editor or/,
    );
    assert.equal((await bytesOf('plan.drawing')).toString(), 'one');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await api.previews.resolve({ id, action: 'apply', reason: 'test' });
    assert.equal((await bytesOf('plan.drawing')).toString(), 'two');
  });
});

suite('an untitled document that is to be saved as a file', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  test('what it holds is not passed over by a new file of that name', async () => {
    const { id } = api.previews.push({
      label: 'a new file',
      sourceToolName: 'test',
      changes: [{ path: 'planned.txt', before: null, after: 'proposed' }],
    });
    const uri = vscode.Uri.file(fileInWorkspace('planned.txt')).with({ scheme: 'untitled' });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), 'typed');
    assert.ok(await vscode.workspace.applyEdit(edit));

    await assert.rejects(
      api.previews.resolve({ id, action: 'apply', reason: 'test' }),
      /planned\.txt has unsaved changes in .* a document that has no file yet/,
    );
    assert.equal(document.getText(), 'typed');
    await assert.rejects(stat(fileInWorkspace('planned.txt')));
    assert.equal(api.previews.get(id)?.state, 'pending');

    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await api.previews.resolve({ id, action: 'apply', reason: 'test' });
    assert.equal((await bytesOf('planned.txt')).toString(), 'proposed');
  });
});

suite('unsaved changes in an editor that knows the file by another name', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(async () => {
    await cleanUp(api);
    for (const name of ['linked', 'real', 'second.txt'])
      await rm(fileInWorkspace(name), { recursive: true, force: true });
  });

  // Names of their own: an editor that was closed may live on for a moment.
  const NAMES = [
    ['a link to its folder', 'real/a.txt', 'linked/a.txt'],
    ['a link to it', 'real/b.txt', 'linked'],
    ['a hard link', 'real/c.txt', 'second.txt'],
  ] as const;

  for (const [kind, own, other] of NAMES) {
    test(`${kind}: the edit joins them in the editor, and the disk is not written under it`, async () => {
      await mkdir(fileInWorkspace('real'));
      await givenFile(own, 'one\ntwo\n');
      if (other === 'second.txt') await link(fileInWorkspace(own), fileInWorkspace(other));
      else await symlink(other === 'linked' ? own : 'real', fileInWorkspace('linked'));
      const document = await vscode.workspace.openTextDocument(fileInWorkspace(own));
      const editor = await vscode.window.showTextDocument(document);
      await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'typed '));
      await api.session.prompt(`/edit ${other} :: two => three`);
      const { id } = api.previews.peek() ?? assert.fail('a preview is pending');
      await api.previews.resolve({ id, action: 'apply', reason: 'test' });
      assert.equal(document.getText(), 'typed one\nthree\n');
      assert.ok(document.isDirty);
      assert.equal((await bytesOf(own)).toString(), 'one\ntwo\n');
    });
  }

  test('a file that the disk does not have any more is the one in the editor by both names', async () => {
    await mkdir(fileInWorkspace('real'));
    await givenFile('real/gone.txt', 'one\n');
    await symlink('real', fileInWorkspace('linked'));
    const document = await vscode.workspace.openTextDocument(fileInWorkspace('real/gone.txt'));
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'typed '));
    await rm(fileInWorkspace('real/gone.txt'));
    const { id } = api.previews.push({
      label: 'a new file',
      sourceToolName: 'test',
      changes: [{ path: 'linked/gone.txt', before: null, after: 'new\n' }],
    });
    await assert.rejects(
      api.previews.resolve({ id, action: 'apply', reason: 'test' }),
      /linked\/gone\.txt changed after the preview was made/,
    );
    assert.equal(document.getText(), 'typed one\n');
  });
});

suite('unsaved changes in an editor that cannot hold all of a change', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  for (const [what, change, refused] of [
    [
      'a byte order mark',
      { after: sideOfText('typed one\nthree\n', { name: 'utf8', bom: true }) },
      /\.held has unsaved changes, and its editor saves it as utf8\. It must be saved or reverted first/,
    ],
    [
      'another encoding',
      { after: sideOfText('typed one\nthree\n', { name: 'utf16le', bom: true }) },
      /\.held has unsaved changes, and its editor saves it as utf8\. It must be saved or reverted first/,
    ],
    [
      'permissions',
      { mode: 0o755 },
      /\.held has unsaved changes, and its editor keeps its permissions\. It must be saved or reverted first/,
    ],
  ] as const)
    test(`${what}: the change is refused, and applied once it is saved`, async () => {
      // A name of its own: an editor that was closed may live on for a moment.
      const file = `${what.replaceAll(' ', '-')}.held`;
      await givenFile(file, 'one\ntwo\n');
      await chmod(fileInWorkspace(file), 0o644);
      const document = await vscode.workspace.openTextDocument(fileInWorkspace(file));
      const editor = await vscode.window.showTextDocument(document);
      await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'typed '));
      const typed = document.getText();
      const workspace = new VsCodeWorkspace(() => ({ alwaysAsk: [], toolPlaces: [] }));
      const changed = { ...modify(file, typed, 'typed one\nthree\n'), ...change } as FileChange;

      await assert.rejects(commitChanges(workspace, [changed]), refused);
      assert.equal(document.getText(), typed);
      assert.ok(document.isDirty);
      assert.ok(await document.save());
      await commitChanges(workspace, [changed]);
      const { after } = changed;
      assert.ok(after && isText(after));
      assert.deepEqual(await bytesOf(file), Buffer.from(bytesOfSide(after)));
      const { mode } = await stat(fileInWorkspace(file));
      assert.equal(mode & 0o777, 'mode' in change ? change.mode : 0o644);
    });
});
