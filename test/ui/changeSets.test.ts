import assert from 'node:assert/strict';
import type { Script } from '../support/scriptedServer.ts';
import { modelTest } from './support/uiTest.ts';

const threeFiles: Script = (_request, n) =>
  n === 0
    ? {
        toolCalls: [
          {
            name: 'edit_file',
            arguments: {
              path: 'src/cart.ts',
              edits: [{ old: 'item.price;', new: 'item.price * item.quantity;' }],
            },
          },
          { name: 'write_file', arguments: { path: 'src/tax.ts', content: 'export const tax = 0.19;\n' } },
          { name: 'delete_file', arguments: { path: 'src/money.ts' } },
        ],
      }
    : { text: n === 1 ? 'Have a look.' : '[c1] No: it depends on the country.' };

modelTest(
  'what one prompt produces is one row with its files below, which follows what becomes of them',
  threeFiles,
  async workbench => {
    await workbench.openRedlineChat();
    await workbench.sendChat('Add the tax per country');
    const set = workbench.treeRow('Add the tax per country');
    await set.filter({ hasText: '3 files' }).waitFor();
    await workbench.picture('change-set');
    await workbench.clickTreeRow('Delete money.ts');
    // Deletions are read last, after which the review begins anew.
    await workbench.statusBarItem('Hunk 3 of 3 · money.ts').waitFor();
    await workbench.picture('change-set-last-hunk');
    // The diff has the focus only after a click into it: the row was clicked.
    await workbench.runCommand('Redline: Next Hunk');
    await workbench.statusBarItem('Hunk 1 of 3 · cart.ts').waitFor();
    // The row whose buttons are shown is that of the diff, not the deletion's.
    const selected = workbench.page.locator('.monaco-list-row.selected');
    await selected.filter({ hasText: 'cart.ts' }).waitFor();
    await workbench.runCommand('Redline: Next Hunk');
    await workbench.statusBarItem('Hunk 2 of 3 · tax.ts').waitFor();
    await selected.filter({ hasText: 'Create tax.ts' }).waitFor();
    await workbench.picture('change-set-next-hunk');
    // The rows of the tree and of the card stand in the order of the hunks.
    const names = ['cart.ts', 'tax.ts', 'money.ts'];
    const order = (texts: readonly string[]): (string | undefined)[] =>
      texts.flatMap(text => names.find(name => text.includes(name)) ?? []);
    assert.deepEqual(order(await workbench.chatFrame().locator('.turn-row').allTextContents()), names);
    const rows = workbench.page.locator('.pane-body .monaco-list-row');
    assert.deepEqual(
      order(await rows.filter({ hasText: /cart|tax|money/ }).allTextContents()).slice(-3),
      names,
    );
    await workbench.runCommand('Redline: Previous Hunk');
    await workbench.statusBarItem('Hunk 1 of 3 · cart.ts').waitFor();
    await workbench.openFile('src/cart.ts');
    await workbench.lens('1 proposed change · Review').waitFor();
    await workbench.runCommand('View: Show Explorer');
    await workbench.treeRow('src').waitFor();
    await workbench.picture('marks-where-people-work');
    await workbench.openRedlineChat();
    await workbench.treeAction('Create tax.ts', 'Apply Preview');
    await workbench.waitForFile('src/tax.ts', text => text !== undefined);
    await set.filter({ hasText: '2 files' }).filter({ hasText: '1 of 3 decided' }).waitFor();
    await workbench.treeRow('Create tax.ts').filter({ hasText: 'applied' }).waitFor();
    await workbench.clickTreeRow('Delete');
    await workbench.lens('Delete').waitFor();
    await workbench.picture('change-set-deleted-file');
    // The rows are drawn anew once it was in view for a second; a click just then is refused.
    await workbench.treeRow('Delete money.ts').filter({ hasText: 'viewed' }).waitFor();
    await workbench.clickTreeRow('cart.ts');
    await workbench.editorTab('cart.ts (Redline').waitFor();
    await workbench.page.locator('.monaco-diff-editor .editor.modified .monaco-editor.focused').waitFor();
    await workbench.runCommand('Comments: Add Comment on Current Selection');
    await workbench.page.locator('.review-widget .monaco-editor.focused').waitFor();
    await workbench.page.keyboard.type('Is it always 19 percent?');
    await workbench.page.locator('.review-widget').getByRole('button', { name: 'Add Comment' }).click();
    await workbench.statusBarItem('Send Review (1 comment, 1 applied)').waitFor();
    const thread = workbench.page.locator('.review-widget');
    await thread.getByText('Is it always 19 percent?').hover();
    await thread.getByRole('button', { name: 'Edit Comment' }).click();
    await thread.locator('.edit-textarea .monaco-editor.focused').waitFor();
    await workbench.page.keyboard.press('Control+End');
    await workbench.page.keyboard.type(' In every country?');
    await thread.getByRole('button', { name: 'Save Comment' }).click();
    await thread.getByText('Is it always 19 percent? In every country?').waitFor();
    // VS Code has opened its list of comments.
    await workbench.page.locator('.comments-panel').getByText('In every country?').waitFor();
    await workbench.picture('comment-on-a-line');
    await workbench.statusBarItem('Send Review').click();
    await workbench.chatFrame().getByText('I reviewed your previews: 1 comment, 1 applied.').waitFor();
    await workbench.statusBarItem('Send Review').waitFor({ state: 'hidden' });
    await thread.getByText('No: it depends on the country.').waitFor();
    await workbench.picture('review-sent');
    await workbench.clickTreeRow('Add the tax per country');
    await workbench.editorTab('· Redline').waitFor();
    await workbench.picture('change-set-review');
    await workbench.runCommand('Redline: Apply All Previews');
    await workbench.waitForFile('src/money.ts', text => text === undefined);
    await workbench.waitForFile('src/cart.ts', text => text?.includes('item.price * item.quantity') === true);
    await set.waitFor({ state: 'detached' });
    await workbench.openFile('src/tax.ts');
    await workbench.runCommand('Redline: Who Approved This Line?');
    const picked = workbench.page.locator('.quick-input-list .monaco-list-row');
    await picked.filter({ hasText: 'Applied by you' }).waitFor();
    await picked.filter({ hasText: 'Add the tax per country' }).waitFor();
    await workbench.picture('who-approved-this-line');
    await picked.filter({ hasText: 'Show Diff' }).click();
    await workbench.editorTab('tax.ts (Redline').waitFor();
    await workbench.runCommand('Redline: Show Ledger');
    await picked.filter({ hasText: 'tax.ts' }).waitFor();
    await workbench.page.getByRole('button', { name: 'Group by Prompt' }).click();
    await workbench.page.getByRole('button', { name: 'Group by Decision' }).waitFor();
    await workbench.picture('ledger-by-prompt');
  },
  { workbench: { settings: { 'redline.resolve.modelAuthority': 'none' } } },
);
