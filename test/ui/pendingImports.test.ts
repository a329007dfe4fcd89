import assert from 'node:assert/strict';
import { lensText } from './support/diffPage.ts';
import { drivenTest } from './support/drivenWorkbench.ts';

drivenTest(
  'applying a file whose import is still pending asks, and a deleted file that is still imported says by whom',
  {},
  async driven => {
    const { workbench } = driven;
    const cart = workbench.readFile('src/cart.ts') ?? assert.fail('the example has a cart');
    const money = workbench.readFile('src/money.ts') ?? assert.fail('the example has money');
    await driven.run(
      ({ api }, texts) => {
        const push = (label: string, path: string, before: string | null, after: string | null) =>
          api.previews.push({ label, sourceToolName: 'a_tool', changes: [{ path, before, after }] });
        push('Create tax.ts', 'src/tax.ts', null, 'export const tax = 0.19;\n');
        push('Delete money.ts', 'src/money.ts', texts.money, null);
        push('Add the tax', 'src/cart.ts', texts.cart, `import { tax } from './tax';\n${texts.cart}`);
      },
      { cart, money },
    );
    await workbench.openRedlineChat();
    await workbench.clickTreeRow('Delete money.ts');
    await lensText(workbench, 'still imported').waitFor();
    await workbench.treeRow('Delete money.ts').filter({ hasText: 'still imported' }).waitFor();
    await workbench.chatFrame().getByText('src/money.ts is still imported by src/cart.ts.').waitFor();
    await workbench.picture('still-imported');
    await workbench.clickTreeRow('Add the tax');
    await workbench.lens('Apply').click();
    const dialog = workbench.page.locator('.monaco-dialog-box');
    await dialog.getByText('cart.ts imports tax.ts, which is still pending.').waitFor();
    await workbench.picture('pending-import');
    await dialog.getByRole('button', { name: 'Apply Both' }).click();
    await workbench.waitForFile('src/cart.ts', text => text?.startsWith('import { tax }') === true);
    assert.equal(workbench.readFile('src/tax.ts'), 'export const tax = 0.19;\n');
    assert.equal(workbench.readFile('src/money.ts'), money, 'what was not asked about stays pending');

    const imports = (workbench.readFile('src/cart.ts') ?? '').split('\n');
    workbench.writeFile('src/cart.ts', imports.filter(line => !line.includes('./money')).join('\n'));
    await workbench.treeRow('Delete money.ts').filter({ hasNotText: 'still imported' }).waitFor();
    await workbench.chatFrame().getByText('src/money.ts is still imported by').waitFor({ state: 'hidden' });
  },
);
