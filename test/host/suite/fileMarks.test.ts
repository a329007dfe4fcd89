import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { polled } from '../../../scripts/lib/limits.mjs';
import type { FileChange } from '../../../src/agent/hold/preview/fileChange.ts';
import { PreviewStore } from '../../../src/agent/hold/preview/previewStore.ts';
import type { Agent } from '../../../src/views/agent.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import { FileMarks } from '../../../src/views/review/marks/fileMarks.ts';
import { changeUri, rowUri } from '../../../src/views/workspace/previewUri.ts';
import { create, modify, remove, rename } from '../../support/changes.ts';
import { draft } from '../../support/drafts.ts';
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

  test('the document of a preview has the letter of what happens to its file, in words too', () => {
    const done = (): Promise<void> => Promise.resolve();
    const log = { append: done, flush: done, compact: done };
    const store = new PreviewStore(log, error => assert.fail(String(error)));
    const files = (path: string): vscode.Uri => vscode.Uri.file(fileInWorkspace(path));
    const extensionUri = vscode.Uri.file('/');
    const marks = new FileMarks({ store, files, extensionUri } as unknown as Agent & {
      extensionUri: vscode.Uri;
    });
    const letterOf = (change: FileChange): readonly [string | undefined, string | undefined] => {
      const { id } = store.stage(draft({ changes: [change] })).preview;
      const document = changeUri(id, change, change.after ? 'proposal' : 'deleted', files);
      const [inTab, inRow] = [document, rowUri(id, change, files)].map(uri =>
        marks.provideFileDecoration(uri),
      );
      assert.deepEqual(inRow, inTab);
      return [inTab?.badge, inTab?.tooltip];
    };
    assert.deepEqual(letterOf(create('new.ts', 'a')), ['A', 'new']);
    assert.deepEqual(letterOf(remove('old.ts', 'a')), ['D', 'deleted']);
    assert.deepEqual(letterOf(rename('a.ts', 'b.ts', 'a')), ['R', 'renamed']);
    assert.deepEqual(letterOf(modify('c.ts', 'a', 'b')), [undefined, undefined]);
    marks.dispose();
  });
});
