import * as assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { Preview } from '../../../src/agent/hold/preview/preview.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import { changeUri } from '../../../src/views/workspace/previewUri.ts';
import { ShownRevisions } from '../../../src/views/review/shownRevisions.ts';
import { modify } from '../../support/changes.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile, until } from '../support/redline.ts';

const before = Array.from({ length: 20 }, (_, n) => `${n}\n`).join('');
const after = before.replace('2\n', 'two\n').replace('15\n', 'fifteen\n');

suite('votes by key and title, parts and all of them', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });
  setup(() => givenFile('shown.txt', before));
  teardown(() => cleanUp(api));

  const push = (): string =>
    api.previews.push({
      label: 'Two lines',
      sourceToolName: 'test',
      changes: [{ path: 'shown.txt', before, after }],
    }).id;
  const text = async (): Promise<string> => (await bytesOf('shown.txt')).toString();

  /** Opens the diff and waits until the proposal is loaded. */
  const open = async (id: string): Promise<vscode.TextEditor> => {
    await vscode.commands.executeCommand('redline.preview.open', id);
    const read = (): vscode.TextEditor | undefined => {
      const { activeTextEditor: editor } = vscode.window;
      return editor?.document.uri.authority === id ? editor : undefined;
    };
    return until(vscode.window.onDidChangeActiveTextEditor, read, 'the diff to open');
  };

  /** Has another process change a line of the file, so that the preview is rebased, and acts in the moment when it is. */
  const inTheMomentOfARebase = async (id: string, act: () => Thenable<unknown>): Promise<string> => {
    const acted = new Promise<void>((done, failed) => {
      const listening = api.previews.onDidChange(preview => {
        if (preview.id !== id || preview.revision !== 2) return;
        listening.dispose();
        act().then(() => done(), failed);
      });
    });
    const changed = before.replace('9\n', 'nine\n');
    await givenFile('shown.txt', changed);
    await acted;
    return changed;
  };

  for (const [how, command] of [
    ['the key for Apply', 'redline.preview.apply'],
    ['the key for Discard', 'redline.preview.discard'],
    ['the key for the hunk', 'redline.preview.applyHunk'],
    ['the command for the file', 'redline.preview.discardFile'],
  ] as const)
    test(`${how}: a vote on what is no longer shown is refused; on what is shown then, it counts`, async () => {
      const id = push();
      const editor = await open(id);
      editor.selection = new vscode.Selection(2, 0, 2, 0);
      const changed = await inTheMomentOfARebase(id, () => vscode.commands.executeCommand(command));
      assert.equal(await text(), changed);
      assert.equal(api.previews.get(id)?.state, 'pending');
      assert.deepEqual(
        api.previews.ledger().filter(entry => entry.previewId === id),
        [],
      );

      const isShown = (): true | undefined => (editor.document.getText().includes('nine') ? true : undefined);
      await until(vscode.workspace.onDidChangeTextDocument, isShown, 'the diff to show the new revision');
      const resolved = api.previews.ledger().length;
      await vscode.commands.executeCommand(command);
      assert.equal(api.previews.ledger().length, resolved + 1);
    });

  test('the button in the editor title: the same', async () => {
    const id = push();
    const editor = await open(id);
    const { uri } = editor.document;
    const changed = await inTheMomentOfARebase(id, () =>
      vscode.commands.executeCommand('redline.preview.apply', uri, { groupId: 0 }),
    );
    assert.equal(await text(), changed);
    assert.equal(api.previews.get(id)?.state, 'pending');
  });

  test('a proposal that the user edited and saved is what is shown', async () => {
    const id = push();
    await open(id);
    await vscode.commands.executeCommand('redline.preview.edit', id);
    const editor = vscode.window.activeTextEditor ?? assert.fail('an editor');
    // There is no event for when the editor becomes writable; until then it does not become dirty.
    do assert.ok(await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'typed\n')));
    while (!editor.document.isDirty);
    const typed = editor.document.getText();
    assert.ok(await editor.document.save());
    assert.equal(api.previews.get(id)?.revision, 2);
    await vscode.commands.executeCommand('redline.preview.apply');
    assert.equal(await text(), typed);
    assert.ok(typed.startsWith('typed\n'));
  });

  for (const [what, args, state] of [
    ['the palette decides on nothing', [], 'pending'],
    ['a key decides on the diff that comes next', [{ from: 'key' }], 'applied'],
  ] as const)
    test(`while a vote is cast and no diff is in front, ${what}`, async () => {
      const [first, next] = [push(), push()];
      await open(first);
      // The vote lasts until its reason is asked for in vain.
      const asking = vscode.commands.executeCommand('redline.preview.discardWithReason');
      const nothingActive = (): true | undefined => !vscode.window.activeTextEditor || undefined;
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await until(vscode.window.onDidChangeActiveTextEditor, nothingActive, 'no diff to be in front');
      const called = vscode.commands.executeCommand('redline.preview.apply', ...args);
      await open(next);
      let isOver = false;
      const over = Promise.all([asking, called]).then(() => (isOver = true));
      while (!isOver) await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
      await over;
      assert.equal(api.previews.get(next)?.state, state);
      assert.equal(api.previews.get(first)?.state, 'pending');
    });

  test('a hunk and a file are discarded with a reason, which is in the ledger', async () => {
    const id = push();
    await vscode.commands.executeCommand('redline.preview.discardHunk', id, 'shown.txt', 0, 1, 'not this');
    const { action, reason, hunks } = api.previews.ledger().at(-1) ?? assert.fail('an entry');
    assert.deepEqual([action, reason, hunks], ['discard', 'not this', { applied: 0, refused: 1 }]);
    await vscode.commands.executeCommand('redline.preview.discardFile', id, 'shown.txt', 2, 'nor that');
    assert.equal(api.previews.ledger().at(-1)?.reason, 'nor that');
    assert.equal(api.previews.get(id)?.state, 'discarded');
  });

  test('each hunk has the same three lenses, which act on it', async () => {
    const { id } = api.previews.push({
      label: 'Two files',
      changes: [
        { path: 'shown.txt', before, after },
        { path: 'new.txt', before: null, after: 'new\n' },
      ],
    });
    const { document } = await open(id);
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      document.uri,
      20,
    );
    const hunk = (line: number, n: number) =>
      [
        ['Apply', 'redline.preview.applyHunk'],
        ['Discard', 'redline.preview.discardHunk'],
        ['More…', 'redline.preview.more'],
      ].map(([title, command]) => [line, title, command, id, 'shown.txt', n, 1]);
    assert.deepEqual(
      lenses.map(({ range, command }) => [
        range.start.line,
        command?.title,
        command?.command,
        ...((command?.arguments ?? []) as unknown[]).slice(0, 4),
      ]),
      [...hunk(2, 0), ...hunk(15, 1)],
    );
  });

  for (const [what, bytes, expected] of [
    ['the same bytes again, in an encoding of its own: the new revision is shown', 'a', 2],
    ['other bytes, which it does not show yet: the old one is', 'b', 1],
  ] as const)
    test(`a document is read anew with ${what}`, async () => {
      const id = push();
      const real = api.previews.get(id) ?? assert.fail('a preview');
      const changes = [modify('shown.txt', before, 'decoded in another way')];
      let revision = 1;
      const get = () => ({ ...real, kind: 'files', changes, revision }) as unknown as Preview;
      const files = (path: string): vscode.Uri => vscode.Uri.file(fileInWorkspace(path));
      const shown = new ShownRevisions({ get, all: () => [get()] } as never, files);
      const uri = changeUri(id, modify('shown.txt', before, after), 'proposal', files);
      shown.noteRead(uri, 1, Buffer.from('a'));
      await open(id);
      assert.equal(shown.of(id), 1);
      revision = 2;
      const heard: unknown[] = [];
      shown.onDidShow(() => heard.push(shown.of(id)));
      shown.noteRead(uri, 2, Buffer.from(bytes));
      assert.equal(shown.of(id), expected);
      assert.deepEqual(heard, [expected], 'who waits for the revision hears of it');
      revision = 3;
      shown.noteRead(uri, 3, Buffer.from(bytes));
      assert.equal(shown.of(id), bytes === 'a' ? 3 : 1);
      shown.dispose();
    });

  test('Apply All applies a part before the rest that builds on it, although it was split off later', async () => {
    const id = push();
    const file = fileInWorkspace('shown.txt');
    await chmod(file, 0o444);
    await vscode.commands.executeCommand('redline.preview.applyHunk', id, 'shown.txt', 0, 1);
    await chmod(file, 0o644);
    const [part] = api.previews.list().filter(preview => preview.id !== id);
    assert.deepEqual(api.previews.get(id)?.dependsOn, [part?.id]);
    await vscode.commands.executeCommand('redline.preview.applyAll');
    assert.equal(await text(), after);
    assert.deepEqual(api.previews.list(), []);
  });

  test('the ledger and the lens tell an apply that returned an error from one that failed', async () => {
    const error = { content: [{ type: 'text' as const, text: 'exit 1' }], isError: true };
    const ends = [() => Promise.resolve(error), () => Promise.reject(new Error('exit 2'))];
    for (const apply of ends) {
      const { id } = api.previews.push({ label: 'Deploy', sourceToolName: 'test', apply });
      await vscode.commands.executeCommand('redline.preview.apply', id);
    }
    const uri = vscode.Uri.from({ scheme: 'redline-ledger', path: '/Redline Ledger' });
    // If an earlier test opened it, VS Code reads it again a moment later.
    const ledger = await vscode.workspace.openTextDocument(uri);
    const shows = (text: RegExp) => () => text.test(ledger.getText()) || undefined;
    const onEdit = vscode.workspace.onDidChangeTextDocument;
    const failed = /Apply failed, and the preview was not applied: Deploy \(p\d+, test, by you\)/;
    await until(onEdit, shows(failed), 'the ledger document');
    await until(
      onEdit,
      shows(/Applied, and returned an error: Deploy \(p\d+, test, by you\)/),
      'the ledger document',
    );
    const { previewId } = api.previews.ledger().at(-2) ?? assert.fail('an entry');
    const document = vscode.Uri.from({
      scheme: 'redline-preview',
      authority: previewId,
      path: '/action.redline-document',
    });
    await vscode.workspace.openTextDocument(document);
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      document,
      10,
    );
    assert.ok(lenses.some(({ command }) => /and returned an error: exit 1$/.test(command?.title ?? '')));
  });
});
