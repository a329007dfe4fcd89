import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, bytesOf, cleanUp, givenFile, opened, until } from '../support/redline.ts';

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
    for (const key of ['autoSaveDelay', 'encoding']) await setFiles(key, undefined);
    // As in all windows of the tests.
    await setFiles('autoSave', 'off');
  });

  const setFiles = (key: string, value: unknown): Thenable<void> =>
    vscode.workspace.getConfiguration('files').update(key, value, vscode.ConfigurationTarget.Global);
  const run = (command: string, ...args: unknown[]) => vscode.commands.executeCommand(command, ...args);
  const text = async (): Promise<string> => (await bytesOf('draft.txt')).toString();
  const push = (): string =>
    api.previews.push({
      label: 'Fifteen',
      sourceToolName: 'test',
      changes: [{ path: 'draft.txt', before, after }],
    }).id;

  /** Makes the proposal writable and puts a text in the place of a line of it, counted from 0. */
  const typeAt = async (id: string, at: number, line: string, replaced = 1): Promise<vscode.TextDocument> => {
    await run('redline.preview.edit', id);
    const editor = vscode.window.activeTextEditor ?? assert.fail('an editor');
    const { document } = editor;
    // There is no event for when the editor becomes writable; until then it does not become dirty.
    do assert.ok(await editor.edit(edit => edit.replace(new vscode.Range(at, 0, at + replaced, 0), line)));
    while (!document.isDirty);
    return document;
  };

  /** Types a line at the end of the proposal, and waits until auto save has written it. */
  const typeLine = async (id: string, line: string): Promise<vscode.TextDocument> => {
    await opened(id);
    const document = await typeAt(id, 20, line, 0);
    await until(
      vscode.workspace.onDidSaveTextDocument,
      () => (document.isDirty || undefined ? undefined : true),
      'auto save',
    );
    return document;
  };

  /**
   * Puts a line at the beginning of the proposal in the moment when what was typed before becomes its next revision. The window
   * gets the edit before the answer to what it saves, and makes it at once.
   */
  const typeWhileSaved = (id: string, document: vscode.TextDocument, line: string): Promise<void> =>
    new Promise((done, failed) => {
      const editor = vscode.window.visibleTextEditors.find(each => each.document === document);
      const listening = api.previews.onDidChange(preview => {
        if (preview.id !== id) return;
        listening.dispose();
        const typed = editor?.edit(edit => edit.insert(new vscode.Position(0, 0), line));
        if (!typed) return failed(new Error('no editor'));
        typed.then(isDone => (isDone ? done() : failed(new Error('not typed'))), failed);
      });
    });

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
    const editor = await opened(id);
    assert.ok(editor.document.getText().startsWith('caf\u00e9\n'));
    const document = await typeAt(id, 21, '\u20ac\n', 0);
    await document.save();
    assert.equal(api.previews.get(id)?.revision, 1, 'Latin-1 has no euro sign');
    await vscode.window.activeTextEditor?.edit(edit =>
      edit.replace(new vscode.Range(21, 0, 22, 0), '\u00fc\n'),
    );
    await document.save();
    await run('redline.preview.apply', id);
    assert.deepEqual(await bytesOf('latin.txt'), latin(`caf\u00e9\n${after}\u00fc\n`));
  });

  for (const [what, again] of [
    ['another text', 'FIFTEEN\n'],
    ['what was proposed at first', 'fifteen\n'],
  ] as const)
    test(`is saved by hand twice: the second time, ${what} is exactly what is proposed`, async () => {
      await setFiles('autoSave', 'off');
      const id = push();
      await opened(id);
      const document = await typeAt(id, 15, 'XV\n');
      assert.ok(await document.save());
      assert.equal(api.previews.get(id)?.revision, 2);
      await typeAt(id, 15, again);
      const typed = document.getText();
      assert.equal(typed, after.replace('fifteen\n', again));
      assert.ok(await document.save());
      assert.equal(api.previews.get(id)?.revision, 3);
      assert.equal(document.getText(), typed);
      await run('redline.preview.apply', id);
      assert.equal(await text(), typed);
    });

  test('stays unsaved if it is typed while a save by hand is under way, and goes with the next one', async () => {
    await setFiles('autoSave', 'off');
    const id = push();
    await opened(id);
    const document = await typeAt(id, 15, 'XV\n');
    const typed = typeWhileSaved(id, document, 'more\n');
    await Promise.all([document.save(), typed]);
    assert.equal(api.previews.get(id)?.revision, 2);
    assert.ok(document.getText().startsWith('more'));
    await run('redline.preview.apply', id);
    assert.equal(await text(), before, 'the editor shows what is not part of the proposal yet');
    assert.ok(await document.save());
    assert.equal(api.previews.get(id)?.revision, 3);
    await run('redline.preview.apply', id);
    assert.equal(await text(), `more\n${after.replace('fifteen\n', 'XV\n')}`);
  });

  test('is merged when it is saved by hand: then the editor shows the merged text, on which more can be typed', async () => {
    await setFiles('autoSave', 'off');
    const id = push();
    await opened(id);
    const document = await typeAt(id, 15, 'XV\n');
    const rebased = until(
      api.previews.onDidChange,
      () => (api.previews.get(id)?.revision === 2 ? true : undefined),
      'the rebase',
    );
    const changed = before.replace('line 3\n', 'a line that is longer\n');
    await givenFile('draft.txt', changed);
    await rebased;
    assert.ok(await document.save());
    assert.equal(api.previews.get(id)?.revision, 3);
    const merged = changed.replace('line 15\n', 'XV\n');
    const isShown = (): true | undefined => (document.getText() === merged ? true : undefined);
    await until(vscode.workspace.onDidChangeTextDocument, isShown, 'the merged text');
    await typeAt(id, 15, 'xv\n');
    assert.ok(await document.save());
    await run('redline.preview.apply', id);
    assert.equal(await text(), changed.replace('line 15\n', 'xv\n'));
  });

  test('while Save and Apply saves is not lost: nothing is applied, and the next time all of it is', async () => {
    await setFiles('autoSave', 'off');
    const id = push();
    await opened(id);
    const document = await typeAt(id, 15, 'XV\n');
    const typed = typeWhileSaved(id, document, 'more\n');
    await Promise.all([run('redline.preview.saveAndApply', id, 1), typed]);
    assert.equal(api.previews.get(id)?.state, 'pending');
    assert.equal(await text(), before);
    const all = `more\n${after.replace('fifteen\n', 'XV\n')}`;
    assert.equal(document.getText(), all);
    await run('redline.preview.saveAndApply', id, 2);
    assert.equal(await text(), all);
  });

  test('at once after Save and Apply is applied or stays', async () => {
    await setFiles('autoSave', 'off');
    const id = push();
    await opened(id);
    const document = await typeAt(id, 15, 'XV\n');
    const saving = run('redline.preview.saveAndApply', id, 1);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), 'more\n');
    await vscode.workspace.applyEdit(edit);
    await saving;
    if (api.previews.get(id)?.state === 'pending') await run('redline.preview.saveAndApply', id);
    const all = `more\n${after.replace('fifteen\n', 'XV\n')}`;
    // What came after the apply is still in the editor, unsaved.
    assert.equal(document.isDirty ? document.getText() : await text(), all);
  });
});
