import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { PREVIEW_SCHEME } from '../../../src/views/contributions.ts';
import { activateRedline, bytesOf, cleanUp, givenFile, setting, until } from '../support/redline.ts';

suite('the core story with the offline provider', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  setup(async () => {
    await givenFile('story.ts', 'const a = 1;\r\nconst b = 2;\r\n');
  });

  teardown(() => cleanUp(api));

  const head = () => {
    const preview = api.previews.peek();
    assert.ok(preview, 'a preview is pending');
    return preview;
  };
  const text = async (): Promise<string> => (await bytesOf('story.ts')).toString();

  test('a staged edit changes nothing on disk; Apply writes exactly its bytes', async () => {
    await api.session.prompt('/edit story.ts :: const b = 2; => const b = 3;');
    assert.equal(await text(), 'const a = 1;\r\nconst b = 2;\r\n');
    const preview = head();
    assert.deepEqual(preview.files, [{ path: 'story.ts', kind: 'modify' }]);
    assert.equal(preview.recommendation?.action, 'apply');
    assert.equal(api.session.state, 'awaitingReview');

    await vscode.commands.executeCommand('redline.preview.apply', preview.id, undefined, preview.revision);

    assert.equal(await text(), 'const a = 1;\r\nconst b = 3;\r\n');
    assert.equal(api.previews.get(preview.id)?.state, 'applied');
    const entry = api.previews.ledger().at(-1);
    assert.equal(entry?.actor, 'human');
    assert.equal(entry?.reason, 'Applied by the user.');
    assert.equal(entry?.outcome, 'applied');
  });

  test('Discard leaves every byte as it was', async () => {
    const before = await bytesOf('story.ts');
    await api.session.prompt('/edit story.ts :: const b = 2; => const b = 3;');
    const { id } = head();
    await vscode.commands.executeCommand('redline.preview.discard', id, 'not now');
    assert.deepEqual(await bytesOf('story.ts'), before);
    assert.equal(api.previews.get(id)?.state, 'discarded');
    assert.equal(api.previews.ledger().at(-1)?.reason, 'not now');
  });

  test('the proposal and its base are served as read-only documents', async () => {
    await api.session.prompt('/edit story.ts :: const a = 1; => const a = 9;');
    const { id } = head();
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    const proposal = vscode.Uri.joinPath(folder.uri, 'story.ts').with({
      scheme: PREVIEW_SCHEME,
      authority: id,
    });
    const base = proposal.with({ query: 'base' });
    assert.equal(
      (await vscode.workspace.openTextDocument(proposal)).getText(),
      'const a = 9;\r\nconst b = 2;\r\n',
    );
    assert.equal(
      (await vscode.workspace.openTextDocument(base)).getText(),
      'const a = 1;\r\nconst b = 2;\r\n',
    );
    const stat = await vscode.workspace.fs.stat(proposal);
    assert.equal(stat.permissions, vscode.FilePermission.Readonly);
    await assert.rejects(async () => vscode.workspace.fs.writeFile(proposal, Buffer.from('x')));
  });

  test('Open shows the diff with its lenses, and resolving closes the tab', async () => {
    await api.session.prompt('/edit story.ts :: const b = 2; => const b = 3;');
    const { id, revision } = head();
    await vscode.commands.executeCommand('redline.preview.open', id);
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    assert.equal(tab?.label, 'story.ts (Redline)');
    assert.ok(tab.input instanceof vscode.TabInputTextDiff);
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      tab.input.modified,
      10,
    );
    const apply = lenses.find(lens => lens.command?.command === 'redline.preview.apply');
    assert.deepEqual(apply?.command?.arguments?.slice(0, 3), [id, undefined, revision]);
    assert.equal(apply?.range.start.line, 1, 'above the first changed line');
    assert.ok(lenses.some(({ command }) => command?.tooltip?.startsWith('The model recommends Apply: ')));

    const closed = until(
      vscode.window.tabGroups.onDidChangeTabs,
      () => (findTab(id) ? undefined : true),
      'the tab to close',
    );
    await vscode.commands.executeCommand('redline.preview.discard');
    await closed;
    assert.equal(
      api.previews.get(id)?.state,
      'discarded',
      'without an id it acts on the active preview editor',
    );
  });

  test('Auto mode lets the model resolve its own preview', async () => {
    await setting('resolve.modelAuthority', 'apply');
    await api.session.prompt('/edit story.ts :: const b = 2; => const b = 3;');
    assert.equal(await text(), 'const a = 1;\r\nconst b = 3;\r\n');
    const entry = api.previews.ledger().at(-1);
    assert.equal(entry?.actor, 'model');
    assert.equal(entry?.reason, 'Exactly the change you asked for.');
    assert.equal(api.session.state, 'idle');
  });

  test('Manual mode: the model is neither forced nor reminded', async () => {
    await setting('resolve.modelAuthority', 'none');
    await api.session.prompt('/edit story.ts :: const b = 2; => const b = 3;');
    assert.equal(head().recommendation, undefined);
    assert.ok(api.session.messages().every(message => message.role !== 'steering'));
  });

  test('Discard All discards everything, and the session stays idle', async () => {
    await api.session.prompt('/edit story.ts :: const a = 1; => const a = 2;');
    await api.session.prompt('/write fresh.ts :: export {};');
    assert.equal(api.previews.list().length, 2);
    const answers = api.session.messages().length;
    await vscode.commands.executeCommand('redline.preview.discardAll');
    assert.deepEqual(api.previews.list(), []);
    assert.equal(api.session.state, 'idle');
    assert.equal(api.session.messages().length, answers, 'no request was made');
    await assert.rejects(bytesOf('fresh.ts'), { code: 'ENOENT' });
  });
});

function findTab(id: string): vscode.Tab | undefined {
  return vscode.window.tabGroups.all
    .flatMap(group => group.tabs)
    .find(tab => tab.input instanceof vscode.TabInputTextDiff && tab.input.modified.authority === id);
}
