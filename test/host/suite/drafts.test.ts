import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, bytesOf, cleanUp, givenFile, until } from '../support/redline.ts';

const before = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('');
const after = before.replace('line 15\n', 'fifteen\n');

suite('what is typed into a proposal', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });
  setup(async () => {
    await givenFile('draft.txt', before);
    await setFiles('autoSave', 'afterDelay');
    await setFiles('autoSaveDelay', 50);
  });
  teardown(async () => {
    await cleanUp(api);
    for (const key of ['autoSave', 'autoSaveDelay', 'encoding']) await setFiles(key, undefined);
  });

  const setFiles = (key: string, value: unknown): Thenable<void> =>
    vscode.workspace.getConfiguration('files').update(key, value, vscode.ConfigurationTarget.Workspace);
  const run = (command: string, ...args: unknown[]) => vscode.commands.executeCommand(command, ...args);
  const text = async (): Promise<string> => (await bytesOf('draft.txt')).toString();
  const push = (): string =>
    api.previews.push({
      label: 'Fifteen',
      sourceToolName: 'test',
      changes: [{ path: 'draft.txt', before, after }],
    }).id;

  const opened = async (id: string): Promise<vscode.TextEditor> => {
    await run('redline.preview.open', id);
    return until(
      vscode.window.onDidChangeActiveTextEditor,
      () => {
        const { activeTextEditor: editor } = vscode.window;
        return editor?.document.uri.authority === id && editor.document.uri.query === '' ? editor : undefined;
      },
      'the diff to open',
    );
  };

  /** Types a line at the end of the proposal, and waits until auto save has written it. */
  const typeLine = async (id: string, line: string): Promise<vscode.TextDocument> => {
    await opened(id);
    await run('redline.preview.edit', id);
    const editor = vscode.window.activeTextEditor ?? assert.fail('an editor');
    const { document } = editor;
    // There is no event for when the editor becomes writable; until then it does not become dirty.
    do assert.ok(await editor.edit(edit => edit.insert(new vscode.Position(20, 0), line)));
    while (!document.isDirty);
    await until(
      vscode.workspace.onDidSaveTextDocument,
      () => (document.isDirty || undefined ? undefined : true),
      'auto save',
    );
    return document;
  };

  test('is merged onto a newer revision, shown before it is applied, and keeps what others wrote', async () => {
    const id = push();
    const document = await typeLine(id, 'typed\n');
    await givenFile('draft.txt', before.replace('line 3\n', 'three\n'));
    const isMerged = (): true | undefined =>
      document.getText().includes('three') && document.getText().includes('typed') ? true : undefined;
    await until(vscode.workspace.onDidChangeTextDocument, isMerged, 'the diff to show both');
    await run('redline.preview.saveAndApply', id, 1);
    assert.equal(await text(), before.replace('line 3\n', 'three\n'), 'the button was of an older revision');
    await run('redline.preview.apply', id, undefined, api.previews.get(id)?.revision);
    assert.equal(await text(), `${after.replace('line 3\n', 'three\n')}typed\n`);
  });

  test('does not bring back the text of a preview beneath that was discarded', async () => {
    await api.session.prompt('/edit draft.txt :: line 5 => five');
    await api.session.prompt('/edit draft.txt :: line 15 => fifteen');
    const { id: upper, dependsOn } =
      api.previews.list().find(each => each.dependsOn.length > 0) ?? assert.fail();
    const [lower = ''] = dependsOn;
    const document = await typeLine(upper, 'typed\n');
    await run('redline.preview.discard', lower);
    const isRebased = (): true | undefined => (document.getText().includes('five\n') ? undefined : true);
    await until(vscode.workspace.onDidChangeTextDocument, isRebased, 'the diff without the lower preview');
    await run('redline.preview.saveAndApply', upper, api.previews.get(upper)?.revision);
    assert.equal(await text(), `${after}typed\n`);
  });

  test('survives the closing of its tab, and holds back Apply until it is saved or reverted', async () => {
    const id = push();
    await typeLine(id, 'typed\n');
    await run('workbench.action.closeAllEditors');
    await run('redline.preview.apply', id);
    assert.equal(await text(), before);
    const editor = await opened(id);
    assert.ok(editor.document.getText().endsWith('typed\n'));
    await run('redline.preview.saveAndApply', id, 1);
    assert.equal(await text(), `${after}typed\n`);
  });

  test('is thrown away by Revert, also after the tab was closed', async () => {
    const id = push();
    await typeLine(id, 'typed\n');
    await run('workbench.action.closeAllEditors');
    await run('redline.preview.revertEdits', id);
    assert.equal((await opened(id)).document.getText(), after);
    await run('redline.preview.apply', id);
    assert.equal(await text(), after);
  });

  test('is stored in the encoding of the file, and refused where that lacks a character', async () => {
    await setFiles('autoSave', 'off');
    await setFiles('encoding', 'iso88591');
    const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
    await givenFile('latin.txt', latin(`caf\u00e9\n${before}`));
    await api.session.prompt('/edit latin.txt :: line 15 => fifteen');
    const { id } = api.previews.peek() ?? assert.fail('a preview is pending');
    await setFiles('encoding', undefined);
    await opened(id);
    await run('redline.preview.edit', id);
    const editor = vscode.window.activeTextEditor ?? assert.fail('an editor');
    const { document } = editor;
    assert.ok(document.getText().startsWith('caf\u00e9\n'));
    do assert.ok(await editor.edit(edit => edit.insert(new vscode.Position(21, 0), '\u20ac\n')));
    while (!document.isDirty);
    await document.save();
    assert.equal(api.previews.get(id)?.revision, 1, 'Latin-1 has no euro sign');
    await editor.edit(edit => edit.replace(new vscode.Range(21, 0, 22, 0), '\u00fc\n'));
    await document.save();
    await run('redline.preview.apply', id);
    assert.deepEqual(await bytesOf('latin.txt'), latin(`caf\u00e9\n${after}\u00fc\n`));
  });
});
