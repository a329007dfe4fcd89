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
    : { text: 'Have a look.' };

modelTest(
  'what one prompt produces is one row with its files below, which follows what becomes of them',
  threeFiles,
  async workbench => {
    await workbench.openRedlineChat();
    await workbench.sendChat('Add the tax per country');
    const set = workbench.treeRow('Add the tax per country');
    await set.filter({ hasText: '3 files' }).filter({ hasText: '0/3' }).waitFor();
    await workbench.picture('change-set');
    await workbench.treeRow('Delete src/money.ts').click();
    await workbench.statusBarItem('Hunk 1 of 3 · money.ts 1 of 3').waitFor();
    await workbench.picture('change-set-first-hunk');
    // The diff has the focus only after a click into it: the row was clicked.
    await workbench.runCommand('Redline: Next Hunk');
    await workbench.statusBarItem('Hunk 2 of 3 · tax.ts 2 of 3').waitFor();
    await workbench.page.keyboard.press('Alt+PageDown');
    await workbench.statusBarItem('Hunk 3 of 3 · cart.ts 3 of 3').waitFor();
    await workbench.picture('change-set-last-hunk');
    await workbench.page.keyboard.press('Alt+PageUp');
    await workbench.statusBarItem('Hunk 2 of 3 · tax.ts 2 of 3').waitFor();
    await workbench.treeAction('Create src/tax.ts', 'Apply Preview');
    await workbench.waitForFile('src/tax.ts', text => text !== undefined);
    await set.filter({ hasText: '2 files' }).filter({ hasText: '1/3' }).waitFor();
    await workbench.treeRow('Create src/tax.ts').filter({ hasText: 'applied' }).waitFor();
    await workbench.clickTreeRow('Delete');
    await workbench.lens('Delete File').waitFor();
    await workbench.picture('change-set-deleted-file');
    // The rows are drawn anew once it was in view for a second; a click just then is refused.
    await workbench.treeRow('Delete src/money.ts').filter({ hasText: '✓' }).waitFor();
    await workbench.treeAction('Add the tax per country', 'Open All Previews');
    await workbench.editorTab('(Redline)').waitFor();
    await workbench.picture('change-set-review');
    await workbench.runCommand('Redline: Apply All Previews');
    await workbench.waitForFile('src/money.ts', text => text === undefined);
    await workbench.waitForFile('src/cart.ts', text => text?.includes('item.price * item.quantity') === true);
    await set.waitFor({ state: 'detached' });
  },
  { workbench: { settings: { 'redline.resolve.modelAuthority': 'none' } } },
);
