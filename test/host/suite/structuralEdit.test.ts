import * as assert from 'node:assert/strict';
import { mkdir, rm, symlink } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

const FOLDER = 'structural';

suite('replacing code by its structure', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });
  setup(async () => {
    await mkdir(fileInWorkspace(`${FOLDER}/deep`), { recursive: true });
    await givenFile(`${FOLDER}/a.ts`, '// console.log(0)\r\nconsole.log("é",\r\n  1)\r\n');
    await givenFile(`${FOLDER}/deep/b.py`, 'print(1)\n');
    await givenFile(`${FOLDER}/deep/c.ts`, 'console . log ( 2 )');
  });
  teardown(async () => {
    await cleanUp(api);
    await rm(fileInWorkspace(FOLDER), { recursive: true, force: true });
  });

  const text = async (name: string): Promise<string> => (await bytesOf(`${FOLDER}/${name}`)).toString();

  test('/replace stages every file, and Apply writes exactly what was shown', async () => {
    await api.session.prompt(`/replace console.log($$$A) => logger.info($$$A) in ${FOLDER}/**/*.ts`);
    const preview = api.previews.peek();
    assert.equal(preview?.label, 'AST Edit: 2 replacements in 2 files');
    assert.deepEqual(preview.files, [
      { path: `${FOLDER}/a.ts`, kind: 'modify' },
      { path: `${FOLDER}/deep/c.ts`, kind: 'modify' },
    ]);
    assert.equal(await text('deep/c.ts'), 'console . log ( 2 )');

    await vscode.commands.executeCommand('redline.preview.apply', preview.id, undefined, preview.revision);

    assert.equal(await text('a.ts'), '// console.log(0)\r\nlogger.info("é",\r\n  1)\r\n');
    assert.equal(await text('deep/c.ts'), 'logger.info(2)');
  });

  test('Apply does not search again: code that matches only now is left alone', async () => {
    await api.session.prompt(`/replace print($A) => log($A) in ${FOLDER}`);
    const preview = api.previews.peek();
    await givenFile(`${FOLDER}/deep/later.py`, 'print(2)\n');
    await vscode.commands.executeCommand('redline.preview.apply', preview?.id, undefined, preview?.revision);
    assert.equal(await text('deep/b.py'), 'log(1)\n');
    assert.equal(await text('deep/later.py'), 'print(2)\n');
  });

  test('a file that has changed where it is to be replaced is not overwritten, and no other file is written', async () => {
    await api.session.prompt(`/replace console.log($$$A) => logger.info($$$A) in ${FOLDER}/**/*.ts`);
    const preview = api.previews.peek();
    await givenFile(`${FOLDER}/deep/c.ts`, 'console.log(3)');
    await vscode.commands.executeCommand('redline.preview.apply', preview?.id, undefined, preview?.revision);
    assert.equal(await text('deep/c.ts'), 'console.log(3)');
    assert.equal(await text('a.ts'), '// console.log(0)\r\nconsole.log("é",\r\n  1)\r\n');
  });

  test('languages that ast-grep does not build in come with the extension', async () => {
    await api.session.prompt(`/replace print($A) => log($A) in ${FOLDER}`);
    assert.equal(api.previews.peek()?.label, 'AST Edit: 1 replacement in 1 file');
  });

  test('it sees unsaved changes and pending previews', async () => {
    const uri = vscode.Uri.file(fileInWorkspace(`${FOLDER}/deep/c.ts`));
    const editor = await vscode.window.showTextDocument(uri);
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'console.log(1);\n'));
    await api.session.prompt(`/replace console.log($A) => once($A) in ${FOLDER}/deep`);
    assert.equal(api.previews.peek()?.label, 'AST Edit: 2 replacements in 1 file');
    await api.session.prompt(`/replace once($A) => twice($A) in ${FOLDER}/deep`);
    assert.equal(api.previews.peek()?.label, 'AST Edit: 2 replacements in 1 file');
    assert.equal(await text('deep/c.ts'), 'console . log ( 2 )');
  });

  test('it sees unsaved changes where an editor knows the file by another name', async () => {
    await symlink('deep', fileInWorkspace(`${FOLDER}/linked`));
    const uri = vscode.Uri.file(fileInWorkspace(`${FOLDER}/linked/c.ts`));
    const editor = await vscode.window.showTextDocument(uri);
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'console.log(1);\n'));
    const propose = async (folder: string) => {
      await api.session.prompt(`/replace console.log($A) => once($A) in ${FOLDER}/${folder}`);
      const preview = api.previews.peek();
      assert.equal(preview?.label, 'AST Edit: 2 replacements in 1 file');
      // A file has one name, by whatever link it is found.
      assert.deepEqual(preview.files, [{ path: `${FOLDER}/deep/c.ts`, kind: 'modify' }]);
      return preview;
    };
    const byItsName = await propose('deep');
    await api.previews.resolve({ id: byItsName.id, action: 'discard', reason: 'It is proposed again.' });
    const { id, revision } = await propose('linked');
    await vscode.commands.executeCommand('redline.preview.apply', id, undefined, revision);
    assert.equal(editor.document.getText(), 'once(1);\nonce(2)');
    assert.equal(await text('deep/c.ts'), 'console . log ( 2 )');
  });

  test('a pattern that cannot be parsed is an error that says what to do', async () => {
    await api.session.prompt(`/replace function ( => x in ${FOLDER}`);
    const result = api.session.messages().findLast(message => message.role === 'tool');
    assert.equal(result?.isError, true);
    assert.match(result.content, /cannot be parsed: as TypeScript, it does not parse/);
    assert.equal(api.previews.peek(), undefined);
  });
});
