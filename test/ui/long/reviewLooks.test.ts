/** A review as it looks in four themes, in side bars from narrow to wide, in a small window and enlarged. Look at the pictures. */
import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { limitMs, polled } from '../../../scripts/lib/limits.mjs';
import { inRepo } from '../../../scripts/lib/paths.mjs';
import { openWindows, windowsFolder } from '../../../src/agent/clients/windowFiles.ts';
import { McpAgent } from '../../support/mcpClients.ts';
import type { Workbench } from '../support/workbench.mjs';
import { startScriptedServer, type Script } from '../../support/scriptedServer.ts';
import { axeViolations, unnamedControls, unreachableByKeyboard } from '../support/chatChecks.ts';
import { drivenTest } from '../support/drivenWorkbench.ts';

const THEMES = {
  dark: 'Default Dark Modern',
  light: 'Default Light Modern',
  'high-contrast': 'Default High Contrast',
  'high-contrast-light': 'Default High Contrast Light',
};
const VIEWPORT = { width: 1400, height: 1000 };
/** Sizes of the window; zoom leaves it so much less room. */
const WINDOWS = {
  'window-1000x700': { width: 1000, height: 700 },
  'zoom-150': { width: 933, height: 667 },
  'zoom-200': { width: 700, height: 500 },
};
const SIDE_BARS = [250, 350, 600];

const TEST_FILE = `import { test } from 'node:test';
test('counts every item', () => {
  assert.equal(total([{ name: 'a', price: 2, quantity: 3 }]), 6);
  assert.equal(total([]), 0);
});
test('rounds', () => {
  assert.equal(format(5), '0.05');
});
`;
const edit = (path: string, ...edits: readonly (readonly [old: string, now: string])[]) => ({
  name: 'edit_file',
  arguments: { path, edits: edits.map(([old, now]) => ({ old, new: now })) },
});

const script: Script = (_request, n) =>
  [
    {
      toolCalls: [
        edit(
          'src/cart.ts',
          ['    total += item.price;', '    total += item.price * item.quantity * (1 + tax);'],
          ["console.log('receipt', items.length);", "console.debug('receipt', items.length);"],
        ),
        { name: 'write_file', arguments: { path: 'src/tax.ts', content: 'export const tax = 0.19;\n' } },
        { name: 'delete_file', arguments: { path: 'src/money.ts' } },
        edit('test/cart.test.ts', ['  assert.equal(total([]), 0);\n', '']),
        edit('package.json', ['"test": "node --test"', '"test": "node --test --test-force-exit"']),
      ],
    },
    {
      toolCalls: [
        {
          name: 'resolve',
          arguments: {
            action: 'apply',
            reason: 'The total counts every item with its tax; please look at the removed assertion.',
            ids: ['p1', 'p2', 'p3', 'p4', 'p5'],
          },
        },
      ],
    },
    { text: 'Please look at it.' },
    { toolCalls: [edit('README.md', ['small cart', 'small shopping cart'])] },
    { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'It says what it is.' } }] },
    { text: 'Please look at it.' },
    {
      toolCalls: [
        { name: 'write_file', arguments: { path: 'src/countries.ts', content: 'export const de = 19;\n' } },
        edit('src/rates.ts', ['[7, 8]', '[7, 8, 9]']),
      ],
    },
    {
      toolCalls: [
        { name: 'resolve', arguments: { action: 'apply', reason: 'Both are as asked.', ids: ['p8', 'p9'] } },
      ],
    },
    { text: 'Done.' },
  ][n] ?? { text: 'Please look at it.' };

drivenTest(
  'a review in four themes, narrow and wide, in a small window and enlarged',
  {
    pictures: inRepo('out', 'review-pictures'),
    viewport: VIEWPORT,
    settings: { 'redline.agents.enabled': true, 'redline.preview.open': 'onDemand' },
  },
  async driven => {
    const { workbench } = driven;
    const { page } = workbench;
    const chat = workbench.chatFrame();
    const server = await startScriptedServer(script);
    try {
      workbench.writeFile('test/cart.test.ts', TEST_FILE);
      workbench.writeFile('package.json', '{\n  "scripts": {\n    "test": "node --test"\n  }\n}\n');
      workbench.writeFile('README.md', '# A cart\n\nA small cart.\n');
      workbench.writeFile('src/rates.ts', 'export const rates = [1, 2];\n');
      await driven.run(async ({ vscode }, url) => {
        const settings = vscode.workspace.getConfiguration('redline');
        await settings.update('openai.baseUrl', url, true);
        await settings.update('openai.model', 'scripted', true);
        await settings.update('resolve.forcing', 'forced', true);
      }, server.baseUrl);
      await workbench.openRedlineChat();
      await workbench.sendChat('Add the tax per country');
      await workbench.treeRow('Add the tax per country').filter({ hasText: '4 files' }).waitFor();
      await chat.getByText('Please look at it.').waitFor();
      await workbench.sendChat('Say what a cart is');
      await workbench.treeRow('README.md').waitFor();
      await chat.getByText('Please look at it.').nth(1).waitFor();
      const pid = await driven.run(() => process.pid);
      const window = await polled('the window to be announced', async () =>
        (await openWindows(windowsFolder(homedir()))).find(each => each.pid === pid),
      );
      const codex = await McpAgent.to(window, 'Codex');
      await codex.edit('[1, 2]', '[1, 2, 3]', 'src/rates.ts');
      await workbench.treeRow('Codex').waitFor();
      await codex.client.close();
      // Its text changed meanwhile: the preview is stale.
      workbench.writeFile('src/rates.ts', 'export const rates = [7, 8];\n');
      await workbench.treeRow('stale').waitFor();
      await workbench.clickTreeRow('Add the tax per country');
      await workbench.editorTab('· Redline').waitFor();
      await workbench.lens('Apply').waitFor();
      await workbench.picture('all-of-a-set');
      await workbench.clickTreeRow('Create tax.ts');
      await workbench.editorTab('tax.ts (Redline)').waitFor();
      await workbench.lens('Create').waitFor();
      await workbench.picture('new-file');
      await workbench.lens('Create').click();
      await workbench.waitForFile('src/tax.ts', text => text !== undefined);
      await workbench.treeRow('Add the tax per country').filter({ hasText: '1 of 6 decided' }).waitFor();

      const drawAll = async (name: string): Promise<void> => {
        // In a small window, the tree has no room for all rows.
        for (const [id, what, lens, file] of [
          ['p1', 'edited', 'Apply', 'cart.ts'],
          ['p3', 'deleted', 'Delete', 'money.ts'],
          ['p4', 'fewer-tests', 'Apply', 'cart.test.ts'],
          ['p7', 'stale', 'Rebase', 'rates.ts'],
        ] as const) {
          await driven.run(async ({ vscode }, id) => {
            await vscode.commands.executeCommand('redline.preview.open', id);
          }, id);
          await workbench.editorTab(`${file} (Redline)`).waitFor();
          await workbench.lens(lens).waitFor();
          await workbench.picture(`${name}-${what}`);
        }
      };
      for (const [name, theme] of Object.entries(THEMES)) {
        await driven.run(async ({ vscode }, label) => {
          await vscode.workspace.getConfiguration('workbench').update('colorTheme', label, true);
        }, theme);
        await drawAll(name);
        assert.deepEqual(await axeViolations(workbench), [], name);
      }
      await driven.run(async ({ vscode }) => {
        await vscode.workspace
          .getConfiguration('workbench')
          .update('colorTheme', 'Default Light Modern', true);
      });
      for (const width of SIDE_BARS) {
        await workbench.resizeSideBar(width);
        await drawAll(`side-bar-${width}`);
        assert.deepEqual(await axeViolations(workbench), [], `${width} px`);
      }
      await workbench.treeRow('Delete money.ts').hover();
      await workbench.picture('side-bar-600-hovered');
      await workbench.resizeSideBar(250);
      await workbench.treeRow('rates.ts').hover();
      await workbench.picture('side-bar-250-hovered');
      await workbench.resizeSideBar(300);
      for (const [name, size] of Object.entries(WINDOWS)) {
        await page.setViewportSize(size);
        await drawAll(name);
        assert.deepEqual(await axeViolations(workbench), [], name);
      }
      await page.setViewportSize(VIEWPORT);
      assert.deepEqual(await unnamedControls(workbench), []);
      assert.deepEqual(await unreachableByKeyboard(workbench), []);
      await sayWhatTheyAre(workbench);
      await workbench.openFile('src/tax.ts');
      await workbench.runCommand('Redline: Who Approved This Line?');
      await page.locator('.quick-input-list').getByText('Applied by you').waitFor();
      await workbench.picture('who-approved');
      await page.keyboard.press('Escape');
      await workbench.runCommand('Redline: Show Ledger');
      await page.locator('.quick-input-list').getByText('tax.ts').first().waitFor();
      await workbench.picture('ledger');
      await page.keyboard.press('Escape');
      await driven.run(async ({ vscode }) => {
        await vscode.workspace.getConfiguration('redline').update('resolve.modelAuthority', 'apply', true);
      });
      await workbench.sendChat('Add Germany');
      await chat.getByRole('button', { name: /^Undo/ }).waitFor();
      await workbench.statusBarItem('applied since you looked').waitFor();
      await workbench.treeRow('Add Germany').waitFor({ state: 'detached' });
      await workbench.picture('auto');
      assert.deepEqual(server.violations, []);
    } finally {
      await server.close();
    }
  },
  limitMs(600_000),
);

/** Each row, the place in the status bar and the buttons above a change say in words what they are. Printed to be read. */
async function sayWhatTheyAre(workbench: Workbench): Promise<void> {
  const { page } = workbench;
  await page.setViewportSize({ width: 1400, height: 2000 });
  await workbench.clickTreeRow('Delete money.ts');
  await workbench.lens('Delete').waitFor();
  const tree = page.getByRole('tree', { name: 'Pending' });
  const lenses = page.locator('.codelens-decoration').filter({ has: page.locator('a') });
  const place = page.locator('.statusbar-item[id="redline.redline.redline.pending"]');
  for (const each of [tree, lenses.first(), place]) console.log(`${await each.ariaSnapshot()}\n`);
  const rows = await tree.locator('.monaco-list-row').all();
  const names = await Promise.all(rows.map(row => row.getAttribute('aria-label')));
  for (const name of names) assert.doesNotMatch(name ?? '', /[✓⚠±]/u, 'signs are no words');
  const says = (of: RegExp): void =>
    assert.ok(
      names.some(name => of.test(name ?? '')),
      `${of}: ${names.join('; ')}`,
    );
  says(/^Add the tax per country, .*1 of 6 hunks decided, Recommends Apply: The total counts every item/);
  assert.ok(!names.some(name => /^Delete .*Recommends/.test(name ?? '')), 'nothing was said of it alone');
  says(/^Delete src\/money\.ts, .*src\/money\.ts is still imported by src\/cart\.ts/);
  says(/rates\.ts.*, stale, .*Codex/);
  says(/cart\.test\.ts.*, .*1 assertion is gone/);
  says(/Create src\/tax\.ts.*, applied/);
  await page.setViewportSize(VIEWPORT);
}
