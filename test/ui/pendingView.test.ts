import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { untilStored } from './support/browserStorage.ts';
import { drivenTest, type DrivenWorkbench } from './support/drivenWorkbench.ts';
import { exactLens } from './support/diffPage.ts';
import { contextMenu } from './support/menus.ts';

/** Stages a preview that makes these files. */
const push = (driven: DrivenWorkbench, label: string, ...paths: string[]): Promise<string> =>
  driven.run(
    ({ api }, [name, files]) =>
      api.previews.push({
        label: name,
        sourceToolName: 'test',
        changes: files.map(path => ({ path, before: null, after: `${path}\n` })),
      }).id,
    [label, paths] as const,
  );

/** Whether a text that VS Code has stored says that three files of p1 were looked at. */
function hasThreeMarks(_key: string, text: string): boolean {
  if (!text.includes('redline.lookedAt')) return false;
  const stored = JSON.parse(text) as { 'redline.lookedAt'?: { p1?: readonly string[] } };
  return stored['redline.lookedAt']?.p1?.length === 3;
}

drivenTest(
  'what was looked at is marked, also after a reload, and a new revision takes the mark away',
  {},
  async driven => {
    const { workbench } = driven;
    const { page } = workbench;
    const several = await push(driven, 'Make three', 'src/a.txt', 'src/b.txt', 'src/c.txt');
    await push(driven, 'Make one', 'one.txt');
    await workbench.openRedlineChat();
    const row = (text: string): Locator => workbench.treeRow(text);
    assert.doesNotMatch((await row('Make three').textContent()) ?? '', /viewed/);
    await workbench.runCommand('Redline: Next Preview');
    await row('Make one').filter({ hasText: 'viewed' }).waitFor();
    await workbench.runCommand('Redline: Next Preview');
    await row('1 of 3 viewed').waitFor();
    await workbench.runCommand('Redline: Next Preview');
    await workbench.clickTreeRow('2 of 3 viewed');
    // A click opens all files in one multi-file diff, in which one may be below the window. Its focus would close a menu.
    await exactLens(workbench, 'Create').waitFor();
    await page.locator('.statusbar-item').filter({ hasText: 'Hunk 1 of 3 · a.txt' }).waitFor();
    await contextMenu(workbench, row('Make three'), 'Mark as Viewed');
    await row('3 of 3 viewed').waitFor();
    await page.locator('.pane-body .monaco-list-row[aria-label*="3 of 3 viewed"]').waitFor();
    await workbench.setTreeRow(row('3 of 3 viewed'), 'expanded');
    await page.locator('.pane-body .monaco-list-row[aria-label*="src/b.txt, new, viewed"]').waitFor();

    await workbench.runCommand('View: Close All Editors');
    await untilStored(workbench, 'the marks', hasThreeMarks);
    await driven.reload();
    await workbench.openRedlineChat();
    await row('3 of 3 viewed').waitFor();
    await driven.run(
      ({ vscode }, id) => vscode.commands.executeCommand('redline.preview.edit', id, 'src/b.txt'),
      several,
    );
    await driven.until('the proposal with an unsaved edit', async ({ vscode }) => {
      const editor = vscode.window.visibleTextEditors.find(
        ({ document }) => document.uri.scheme === 'redline-preview' && document.uri.query === '',
      );
      // VS Code drops an edit without a word until it knows that the proposal is no longer read-only.
      if (editor?.document.getText().startsWith('mine ') === false)
        await editor.edit(edit => edit.insert(new vscode.Position(0, 0), 'mine '));
      return editor?.document.isDirty === true ? true : undefined;
    });
    await workbench.picture('edited-not-saved');
    // Apply All leaves alone what is being edited, and no more than that.
    await workbench.runCommand('Redline: Apply All Previews');
    await driven.until(
      'the other one is applied',
      ({ api }, id) => {
        const others = api.previews.list().filter(preview => preview.id !== id);
        return others.length === 0 && api.previews.get(id)?.state === 'pending' ? true : undefined;
      },
      several,
    );
    await driven.run(async ({ vscode }) => {
      for (const document of vscode.workspace.textDocuments) if (document.isDirty) await document.save();
    });
    await driven.until(
      'the revision',
      ({ api }, id) => (api.previews.get(id)?.revision === 2 ? true : undefined),
      several,
    );
    // It is in view, and so it was looked at again, a second later.
    await row('3 of 3 viewed').waitFor();
  },
);
