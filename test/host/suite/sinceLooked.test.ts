import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { polled } from '../../../scripts/lib/limits.mjs';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, cleanUp, givenFile } from '../support/redline.ts';

const OFFER = 'Changed since you looked · Show Difference';

suite('what changed since the user looked', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  /** The lenses of the proposal that is in front. */
  async function lenses(): Promise<readonly (string | undefined)[]> {
    const { uri } = vscode.window.activeTextEditor?.document ?? assert.fail('a preview is open');
    const all = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      uri,
      50,
    );
    return all.map(({ command }) => command?.title);
  }

  test('what a refused hunk leaves offers no difference: all of it was seen', async () => {
    const before = 'a\nb\nc\nd\ne\n';
    await givenFile('part.ts', before);
    const push = (name: string, after: string): string =>
      api.previews.push({ label: `Edit ${name}`, changes: [{ path: name, before, after }] }).id;
    const id = push('part.ts', 'A\nb\nc\nd\nE\n');
    await vscode.commands.executeCommand('redline.preview.markViewed', id);
    await vscode.commands.executeCommand('redline.preview.open', id);
    await vscode.commands.executeCommand('redline.preview.discardHunk', id, 'part.ts', 1, 1);
    await polled('the revision', () => (api.previews.get(id)?.revision ?? 0) > 1);
    // Another preview shows that the lenses are asked for by now.
    await givenFile('seen2.ts', before);
    const other = push('seen2.ts', 'a\nb\nc\nd\nE\n');
    await vscode.commands.executeCommand('redline.preview.markViewed', other);
    await givenFile('seen2.ts', `new\n${before}`);
    await polled('the other revision', () => (api.previews.get(other)?.revision ?? 0) > 1);
    await vscode.commands.executeCommand('redline.preview.open', other);
    await polled('the lens', async () => (await lenses()).includes(OFFER));
    await vscode.commands.executeCommand('redline.preview.open', id);
    await polled('the lens of what is left', async () => (await lenses()).includes('Apply'));
    assert.equal((await lenses()).includes(OFFER), false);
  });

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
    await polled('the lens', async () => (await lenses()).includes(OFFER));
    await vscode.commands.executeCommand('redline.preview.showSinceLooked', id, 'seen.ts');
    const { input, label } = vscode.window.tabGroups.activeTabGroup.activeTab ?? assert.fail('a tab is open');
    assert.equal(label, 'seen.ts since you looked (Redline)');
    assert.ok(input instanceof vscode.TabInputTextDiff);
    const seen = await vscode.workspace.openTextDocument(input.original);
    assert.equal(seen.getText(), 'a\nb\nc\nD\n');
  });
});
