import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { PREVIEW_SCHEME } from '../../../src/views/contributions.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile, setting, until } from '../support/redline.ts';

suite('manners: previews do not get in the way', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  const tabs = (): vscode.Tab[] => vscode.window.tabGroups.all.flatMap(group => group.tabs);
  const redlineTabs = (): string[] =>
    tabs()
      .map(tab => tab.label)
      .filter(label => label.includes('(Redline'));
  const push = (path: string, after: string) =>
    api.previews.push({ label: path, sourceToolName: 'test', changes: [{ path, before: null, after }] });
  const noRedlineTab = () =>
    until(
      vscode.window.tabGroups.onDidChangeTabs,
      () => (redlineTabs().length === 0 ? true : undefined),
      `no tab of ours to be left: ${redlineTabs().join(', ')}`,
    );

  test('while the user types, ten previews arrive: every character goes where it should, and no tab changes', async () => {
    await givenFile('typing.txt', '');
    const document = await vscode.workspace.openTextDocument(fileInWorkspace('typing.txt'));
    await vscode.window.showTextDocument(document);
    const before = tabs().map(tab => tab.label);
    const sentence = 'The quick brown fox jumps over the lazy dog. ';
    for (const [i, character] of [...sentence].entries()) {
      await vscode.commands.executeCommand('type', { text: character });
      if (i % 4 === 0 && i < 40) push(`arrives${i}.txt`, 'x');
    }
    assert.equal(document.getText(), sentence);
    assert.equal(api.previews.list().length, 10);
    assert.equal(vscode.window.activeTextEditor?.document, document);
    assert.deepEqual(
      tabs().map(tab => tab.label),
      before,
    );
  });

  test('thirty previews that are opened and resolved share one tab, and none is left', async () => {
    for (let i = 0; i < 30; i++) {
      const { id } = push(`stack${i}.txt`, `${i}`);
      await vscode.commands.executeCommand('redline.preview.open', id);
      assert.equal(redlineTabs().length, 1);
    }
    for (const { id } of api.previews.list()) {
      await vscode.commands.executeCommand('redline.preview.open', id);
      await vscode.commands.executeCommand('redline.preview.discard', id);
    }
    await noRedlineTab();
  });

  test('they share one tab even where preview editors are switched off', async () => {
    const editors = vscode.workspace.getConfiguration('workbench.editor');
    await editors.update('enablePreview', false, vscode.ConfigurationTarget.Global);
    try {
      for (let i = 0; i < 3; i++) {
        await vscode.commands.executeCommand('redline.preview.open', push(`keep${i}.txt`, `${i}`).id);
      }
      assert.equal(redlineTabs().length, 1);
    } finally {
      await editors.update('enablePreview', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test('a preview of several files opens as one multi-file diff, which closes when it is resolved', async () => {
    const { id } = api.previews.push({
      label: 'both (Redline p1)',
      sourceToolName: 'test',
      changes: [
        { path: 'both1.txt', before: null, after: '1' },
        { path: 'both2.txt', before: null, after: '2' },
      ],
    });
    await vscode.commands.executeCommand('redline.preview.open', id);
    assert.equal(redlineTabs().length, 1);
    await vscode.commands.executeCommand('redline.preview.open', id, 'both2.txt');
    assert.ok(tabs().some(tab => tab.label === 'both2.txt 2/2 (Redline)'));
    await vscode.commands.executeCommand('redline.preview.discard', id);
    await noRedlineTab();
  });

  test('a preview that has a tab in another group is shown there, not a second time', async () => {
    const { id } = push('twice.txt', 'x');
    await vscode.commands.executeCommand('redline.preview.open', id);
    const untitled = await vscode.workspace.openTextDocument({ content: '' });
    await vscode.window.showTextDocument(untitled, vscode.ViewColumn.Two);
    await vscode.commands.executeCommand('redline.preview.open', id);
    assert.deepEqual(redlineTabs(), ['twice.txt (Redline)']);
    assert.equal(vscode.window.tabGroups.activeTabGroup.viewColumn, vscode.ViewColumn.One);
  });

  test('a closed tab leaves its preview pending, and it comes back with the same bytes', async () => {
    const { id } = push('closed.txt', '\ufeffsame\r\nbytes');
    await vscode.commands.executeCommand('redline.preview.open', id);
    const uri = vscode.Uri.file(fileInWorkspace('closed.txt')).with({
      scheme: PREVIEW_SCHEME,
      authority: id,
    });
    const shown = await vscode.workspace.fs.readFile(uri);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    assert.deepEqual(redlineTabs(), []);
    assert.equal(api.previews.get(id)?.state, 'pending');
    await vscode.commands.executeCommand('redline.preview.open', id);
    assert.deepEqual(redlineTabs(), ['closed.txt (Redline)']);
    assert.deepEqual(await vscode.workspace.fs.readFile(uri), shown);
  });

  test('a proposal for a file outside the open folders is refused when it is staged', () => {
    assert.throws(() => push('../elsewhere.txt', 'kept'), /is outside the workspace/);
    assert.deepEqual(api.previews.list(), []);
  });

  test('Open All shows every pending preview in one diff, which closes with the last of them', async () => {
    const ids = [0, 1, 2].map(i => push(`all${i}.txt`, `${i}`).id);
    await vscode.commands.executeCommand('redline.preview.openAll');
    const isThere = (): boolean => tabs().some(({ label }) => label.startsWith('All Pending · Redline'));
    const { onDidChangeTabs } = vscode.window.tabGroups;
    await until(onDidChangeTabs, () => isThere() || undefined, 'the diff of all');
    const shown = (): readonly string[] =>
      vscode.workspace.textDocuments.flatMap(({ uri }) =>
        uri.scheme === PREVIEW_SCHEME && ids.includes(uri.authority) ? [uri.authority] : [],
      );
    const isWhole = (): true | undefined => ids.every(id => shown().includes(id)) || undefined;
    await until(vscode.workspace.onDidOpenTextDocument, isWhole, 'a document of each preview');
    for (const id of ids) await vscode.commands.executeCommand('redline.preview.discard', id);
    await until(onDidChangeTabs, () => !isThere() || undefined, 'the diff of all to be closed');
  });

  test('the buttons in the title of a diff of all are for all of them', async () => {
    const ids = [0, 1].map(i => push(`title${i}.txt`, `${i}`).id);
    await vscode.commands.executeCommand('redline.preview.openAll');
    const isThere = (): true | undefined =>
      tabs().some(({ label, isActive }) => isActive && label.startsWith('All Pending · Redline')) ||
      undefined;
    await until(vscode.window.tabGroups.onDidChangeTabs, isThere, 'the diff of all');
    // The command ends only when its notification is closed.
    void vscode.commands.executeCommand('redline.preview.discard', vscode.Uri.parse('multi-diff-editor:all'));
    const areDiscarded = (): true | undefined =>
      ids.every(id => api.previews.get(id)?.state === 'discarded') || undefined;
    await until(api.previews.onDidChange, areDiscarded, 'both to be discarded');
  });

  test('of more than a hundred files, a diff shows the first hundred and says so', async () => {
    const changes = Array.from({ length: 101 }, (_, n) => ({
      path: `many/${n}.txt`,
      before: null,
      after: `${n}`,
    }));
    const { id } = api.previews.push({ label: 'Make many', sourceToolName: 'test', changes });
    const other = push('other.txt', 'x').id;
    const { onDidChangeTabs } = vscode.window.tabGroups;
    const untilTab = async (title: string): Promise<void> => {
      const isThere = (): true | undefined =>
        tabs().some(({ label }) => label.startsWith(title)) || undefined;
      await until(onDidChangeTabs, isThere, title);
    };
    await vscode.commands.executeCommand('redline.preview.open', id);
    await untilTab('Make many (Redline) · first 100 of 101 files');
    const documents = (): number =>
      vscode.workspace.textDocuments.filter(({ uri }) => uri.authority === id).length;
    const isWhole = (): true | undefined => documents() === 100 || undefined;
    await until(vscode.workspace.onDidOpenTextDocument, isWhole, 'the documents');

    await vscode.commands.executeCommand('redline.preview.openAll');
    await untilTab('All Pending · Redline · first 100 of 102 files');
    for (const each of [id, other]) await vscode.commands.executeCommand('redline.preview.discard', each);
    const isClosed = (): true | undefined =>
      !tabs().some(({ label }) => label.includes('Redline')) || undefined;
    await until(onDidChangeTabs, isClosed, 'the diffs to be closed');
  });

  test('Next and Previous go through the previews in order and wrap around at the ends', async () => {
    await setting('resolve.order', 'oldestFirst');
    for (const i of [0, 1, 2]) push(`walk${i}.txt`, `${i}`);
    const walked: (string | undefined)[] = [];
    for (const step of ['next', 'next', 'next', 'next', 'previous']) {
      await vscode.commands.executeCommand(`redline.preview.${step}`);
      walked.push(/^walk(\d)\.txt /.exec(vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '')?.[1]);
    }
    assert.deepEqual(walked, ['0', '1', '2', '0', '2']);
  });
});
