import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { polled } from '../../scripts/lib/limits.mjs';
import { untilStored } from './support/browserStorage.ts';
import { drivenTest, type DrivenWorkbench } from './support/drivenWorkbench.ts';
import { contextMenu, viewOverflow } from './support/menus.ts';

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

/** The names of the rows of the pending view, from top to bottom. */
async function rows({ workbench }: DrivenWorkbench): Promise<string[]> {
  const names = await pane(workbench.page.locator('body'))
    .locator('.monaco-list-row .label-name')
    .allTextContents();
  return names.map(name => name.trim());
}

const pane = (page: Locator): Locator => page.locator('.pane').filter({ hasText: 'Pending' }).first();

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
    await workbench.lens('Apply all 3 files').waitFor();
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
    // Apply All leaves alone what is being edited, and so the number on its button does.
    const bar = workbench.chatFrame().locator('.review-bar');
    await bar.getByText('1 edited, not saved').waitFor();
    await bar.getByRole('button', { name: 'Apply 1 Preview' }).waitFor();
    await workbench.picture('edited-not-saved');
    await driven.run(async ({ vscode }) => {
      for (const document of vscode.workspace.textDocuments) if (document.isDirty) await document.save();
    });
    await bar.getByRole('button', { name: 'Apply 2 Previews' }).waitFor();
    await driven.until(
      'the revision',
      ({ api }, id) => (api.previews.get(id)?.revision === 2 ? true : undefined),
      several,
    );
    // It is in view, and so it was looked at again, a second later.
    await row('3 of 3 viewed').waitFor();
  },
);

drivenTest(
  'the pending previews are sorted and filtered, and nothing that is hidden is resolved unasked',
  {},
  async driven => {
    const { workbench } = driven;
    const { page } = workbench;
    await push(driven, 'Second', 'src/part2.txt');
    await push(driven, 'Tenth', 'src/part10.txt');
    await push(driven, 'Docs', 'docs/a.txt', 'docs/b.txt');
    await push(driven, 'Root', 'zzz.txt');
    await workbench.openRedlineChat();
    const shown = async (...names: string[]): Promise<void> => {
      await polled(`the rows ${names.join()}`, async () => (await rows(driven)).join() === names.join());
    };
    await shown('Root', 'Docs', 'Tenth', 'Second');
    await viewOverflow(workbench, 'Pending', 'Sort Pending Previews By…');
    await workbench.quickPick('File Path');
    await shown('Docs', 'Second', 'Tenth', 'Root');

    // Next and Previous follow the tree.
    for (const name of ['a.txt 1/2', 'b.txt 2/2', 'part2.txt', 'part10.txt', 'zzz.txt']) {
      await workbench.runCommand('Redline: Next Preview');
      await workbench.editorTab(`${name} (Redline`).waitFor();
    }
    await workbench.runCommand('View: Close All Editors');

    await page.locator('.pane-header').filter({ hasText: 'Pending' }).hover();
    await workbench.viewTitleAction('Filter Pending Previews').click();
    await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'src/' }).waitFor();
    await page.keyboard.type('src/');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await shown('Second', 'Tenth');
    await page.locator('.pane').getByText('2 of 4 shown: src/').waitFor();
    await workbench.runCommand('Redline: Next Preview');
    await workbench.editorTab('part2.txt (Redline').waitFor();
    await workbench.runCommand('Redline: Previous Preview');
    await workbench.editorTab('part10.txt (Redline').waitFor();

    await workbench.runCommand('Redline: Discard All Previews');
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.getByText('The filter of the Pending view shows 2 of 4 previews.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await shown('Second', 'Tenth');
    await workbench.runCommand('Redline: Apply All Previews');
    await dialog.getByRole('button', { name: 'Apply 2 Shown' }).click();
    await workbench.waitForFile('src/part10.txt', text => text !== undefined);
    await page.locator('.pane').getByText('0 of 2 shown: src/').waitFor();
    assert.equal(workbench.readFile('docs/a.txt'), undefined);

    await page.locator('.pane-header').filter({ hasText: 'Pending' }).hover();
    await workbench.viewTitleAction('Clear Filter').click();
    await shown('Docs', 'Root');
    // The order stays, also after a reload.
    await driven.reload();
    await workbench.openRedlineChat();
    await shown('Docs', 'Root');
    await push(driven, 'First', 'aaa.txt');
    await shown('First', 'Docs', 'Root');
    await workbench.runCommand('Redline: Discard All Previews');
    await driven.until('all to be discarded', ({ api }) => (api.previews.hasPending ? undefined : true));
  },
);
