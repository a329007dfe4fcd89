import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { polled } from '../../../scripts/lib/limits.mjs';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, givenFile } from '../support/redline.ts';

suite('what changed since the user looked', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  test('a revision offers the difference to the proposal that was seen', async () => {
    const before = 'a\nb\nc\nd\n';
    await givenFile('seen.ts', before);
    const { id } = api.previews.push({
      label: 'Edit seen.ts',
      changes: [{ path: 'seen.ts', before, after: 'a\nb\nc\nD\n' }],
    });
    await vscode.commands.executeCommand('redline.preview.markViewed', id);
    // The file changes, and the preview moves along.
    await givenFile('seen.ts', `new\n${before}`);
    await polled('the revision', () => (api.previews.get(id)?.revision ?? 0) > 1);
    await vscode.commands.executeCommand('redline.preview.open', id);
    const { uri } = vscode.window.activeTextEditor?.document ?? assert.fail('a preview is open');
    await polled('the lens', async () => {
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        uri,
        50,
      );
      return lenses.some(({ command }) => command?.title === 'Changed since you looked · Show Difference');
    });
    await vscode.commands.executeCommand('redline.preview.showSinceLooked', id, 'seen.ts');
    const { input, label } = vscode.window.tabGroups.activeTabGroup.activeTab ?? assert.fail('a tab is open');
    assert.equal(label, `seen.ts since you looked (Redline ${id})`);
    assert.ok(input instanceof vscode.TabInputTextDiff);
    const seen = await vscode.workspace.openTextDocument(input.original);
    assert.equal(seen.getText(), 'a\nb\nc\nD\n');
  });
});
