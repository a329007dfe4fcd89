import assert from 'node:assert/strict';
import { drivenTest } from './support/drivenWorkbench.ts';

drivenTest(
  'a change that did not stay: a notice says so and why, and opens its diff, which is pending again',
  {},
  async driven => {
    const { workbench } = driven;
    const { page } = workbench;
    const id = await driven.run(async ({ api, vscode }) => {
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      if (!folder) throw new Error('A folder is open.');
      const uri = vscode.Uri.joinPath(folder.uri, 'cart.ts');
      await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode('let total = 0;\nlet count = 0;\n'));
      const document = await vscode.workspace.openTextDocument(uri);
      const editor = await vscode.window.showTextDocument(document);
      await editor.edit(edit => edit.insert(new vscode.Position(0, 0), '// typed\n'));
      const before = document.getText();
      const after = before.replace('count = 0', 'count = 1');
      const changes = [{ path: 'cart.ts', before, after }];
      const preview = api.previews.push({ label: 'Count from one', sourceToolName: 'test', changes });
      await api.previews.resolve({ id: preview.id, action: 'apply', reason: 'test' });
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand('workbench.action.files.revert');
      return preview.id;
    }, undefined);
    const notice = page.locator('.notification-toast').filter({ hasText: 'did not stay' });
    await notice.waitFor();
    assert.match(
      (await notice.textContent()) ?? '',
      /Count from one was applied, but did not stay, and is pending again\. cart\.ts: its editor was closed or reverted without saving it\./,
    );
    await workbench.picture('did-not-stay');
    await notice.getByRole('button', { name: 'Open', exact: true }).click();
    await workbench.lens('Apply').first().waitFor();
    const said = await driven.run(
      ({ api }, wanted) =>
        api.previews
          .ledger()
          .flatMap(({ previewId, outcome, lost }) => (previewId === wanted ? [[outcome, lost ?? []]] : [])),
      id,
    );
    assert.deepEqual(said, [
      ['applied', []],
      ['failed', [{ path: 'cart.ts', why: 'notSaved' }]],
    ]);
    await workbench.runCommand('Redline: Show Ledger');
    await page
      .locator('.quick-input-list .monaco-list-row')
      .filter({ hasText: 'Applied, but it did not stay' })
      .waitFor();
    await workbench.picture('did-not-stay-ledger');
  },
);
