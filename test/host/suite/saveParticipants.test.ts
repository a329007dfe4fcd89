import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile, until } from '../support/redline.ts';

const SETTINGS = {
  'files.trimTrailingWhitespace': true,
  'files.insertFinalNewline': true,
  'files.trimFinalNewlines': true,
  'editor.formatOnSave': true,
};
/** Trailing white space and no final newline, which every save participant would change. */
const before = 'one  \nkeep \t\nlast';
const after = 'ONE  \nkeep \t\nlast';

suite('save participants do not change what Apply writes', () => {
  let api: RedlineApi;
  let formatter: vscode.Disposable;
  let formatted = 0;
  let file = '';
  let n = 0;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  setup(async () => {
    // A unique name, because a closed editor may live on for a moment.
    file = `saved${n++}.txt`;
    formatted = 0;
    formatter = vscode.languages.registerDocumentFormattingEditProvider('plaintext', {
      provideDocumentFormattingEdits: () => {
        formatted++;
        return [vscode.TextEdit.insert(new vscode.Position(0, 0), 'formatted: ')];
      },
    });
    await configure(SETTINGS);
    await givenFile(file, before);
  });

  teardown(async () => {
    formatter.dispose();
    await cleanUp(api);
    await configure(Object.fromEntries(Object.keys(SETTINGS).map(key => [key, undefined])));
  });

  const configure = async (settings: Record<string, unknown>): Promise<void> => {
    for (const [key, value] of Object.entries(settings)) {
      await vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
    }
  };

  const uri = (): vscode.Uri => vscode.Uri.file(fileInWorkspace(file));
  const staged = async (): Promise<string> => {
    await api.session.prompt(`/edit ${file} :: one => ONE`);
    return api.previews.peek()?.id ?? assert.fail('a preview is pending');
  };
  const shown = async (id: string): Promise<string> => {
    const address = vscode.Uri.from({ scheme: 'redline-preview', authority: id, path: uri().path });
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(address));
  };

  test('a save by the user is changed by all of them, so they are switched on', async () => {
    const document = await vscode.workspace.openTextDocument(uri());
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit(edit => edit.insert(new vscode.Position(1, 0), 'typed '));
    await document.save();
    assert.equal((await bytesOf(file)).toString(), 'formatted: one\ntyped keep\nlast\n');
    assert.equal(formatted, 1);
  });

  test('a file that no editor has open', async () => {
    const id = await staged();
    assert.equal(await shown(id), after);
    await api.previews.resolve({ id, action: 'apply', reason: 'test' });
    assert.equal((await bytesOf(file)).toString(), after);
    assert.equal(formatted, 0);
  });

  test('a file that is open and saved: the editor follows the disk, nothing is saved, and Undo reverts it', async () => {
    const document = await vscode.workspace.openTextDocument(uri());
    await vscode.window.showTextDocument(document);
    const id = await staged();
    assert.equal(await shown(id), after);
    await api.previews.resolve({ id, action: 'apply', reason: 'test' });
    await until(
      vscode.workspace.onDidChangeTextDocument,
      () => (document.getText() === after ? true : undefined),
      'the editor to follow',
    );
    assert.equal(document.isDirty, false);
    assert.equal((await bytesOf(file)).toString(), after);
    assert.equal(formatted, 0);
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    assert.equal(document.getText(), before);
  });

  test('a file with unsaved changes: the edit is added to them as shown, and is not saved', async () => {
    const document = await vscode.workspace.openTextDocument(uri());
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit(edit => edit.insert(new vscode.Position(1, 0), 'typed  '));
    const id = await staged();
    const proposal = await shown(id);
    assert.equal(proposal, 'ONE  \ntyped  keep \t\nlast');
    await api.previews.resolve({ id, action: 'apply', reason: 'test' });
    assert.equal(document.getText(), proposal);
    assert.equal(document.isDirty, true);
    assert.equal((await bytesOf(file)).toString(), before);
    assert.equal(formatted, 0);
  });

  test('a new file', async () => {
    await api.session.prompt('/write fresh.txt :: one  \nlast \t');
    await api.previews.resolve({ action: 'apply', reason: 'test' });
    assert.equal((await bytesOf('fresh.txt')).toString(), 'one  \nlast \t');
    await vscode.workspace.fs.delete(vscode.Uri.file(fileInWorkspace('fresh.txt')));
  });
});
