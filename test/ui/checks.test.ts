/** Proven before it lands: a red check, a mend, a green check, and the model's own apply that depends on it. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { modelTest } from './support/uiTest.ts';

const CODE = 'export const total = items => items.reduce((sum, item) => sum + item.price, 0);\n';
const TEST = `import assert from 'node:assert/strict';
import { total } from './total.mjs';
assert.equal(total([{ price: 2, quantity: 3 }]), 6);
`;
const edit = (old: string, to: string) => ({
  toolCalls: [{ name: 'edit_file', arguments: { path: 'total.mjs', edits: [{ old, new: to }] } }],
});
const vote = (id: string) => ({
  toolCalls: [{ name: 'resolve', arguments: { id, action: 'apply', reason: 'The test passes with it.' } }],
});

modelTest(
  'a red check is mended, and what a green one has seen lands by the model’s own vote',
  [
    edit('sum + item.price', 'sum + item.price + item.quantity'),
    { toolCalls: [{ name: 'run_checks', arguments: {} }] },
    vote('p1'),
    { text: 'The test fails, so I mend it.' },
    edit('item.price + item.quantity', 'item.price * item.quantity'),
    vote('p2'),
    { text: 'It is applied.' },
    { text: 'Done.' },
    { text: 'Done.' },
  ],
  async (workbench, server) => {
    workbench.writeFile('total.mjs', CODE);
    workbench.writeFile('total.test.mjs', TEST);
    const written = (): number => fs.statSync(path.join(workbench.workspace, 'total.mjs')).mtimeMs;
    const before = written();
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await workbench.sendChat('Count each item as often as its quantity says.');
    await chat.getByText('The test fails, so I mend it.').waitFor();
    const card = chat.locator('[data-preview-id="p1"]');
    await card.getByRole('button', { name: /^The check test failed/ }).waitFor();
    await workbench.picture('checks-red');
    assert.equal(workbench.readFile('total.mjs'), CODE);
    assert.equal(written(), before);

    // Typing in a file that the check has seen makes its result out of date, and taking that back makes it current again.
    await workbench.openFile('total.test.mjs');
    await workbench.page.keyboard.type('x');
    await card.getByRole('button', { name: /Something that it saw has changed since/ }).waitFor();
    await workbench.picture('checks-outdated');
    await workbench.runCommand('File: Revert File');
    await card.getByRole('button', { name: /^The check test failed with \d+ problems?\. Opens/ }).waitFor();

    await workbench.sendChat('Go on.');
    await chat.getByText('It is applied.').waitFor();
    assert.match(workbench.readFile('total.mjs') ?? '', /sum \+ item\.price \* item\.quantity/);
    const told = server.requests
      .flatMap(({ body }) => body.messages)
      .map(({ content }) => (typeof content === 'string' ? content : ''));
    assert.ok(told.some(text => /test failed \(exit code 1\)/.test(text)));
    assert.ok(told.some(text => /Applied: p1 \(.*\), p2 \(/.test(text)));
    await workbench.runCommand('Redline: Show Ledger');
    await workbench.picture('checks-ledger');
  },
  {
    workbench: {
      settings: {
        'redline.resolve.forcing': 'off',
        'redline.resolve.modelAuthority': 'checked',
        'redline.checks': [{ name: 'test', command: 'node total.test.mjs' }],
      },
      viewport: { width: 1400, height: 1000 },
    },
  },
);

const write = (n: number) => ({
  name: 'write_file',
  arguments: { path: `${n}.txt`, content: `${n}\n` },
});

modelTest(
  'checks that the workspace brings wait for approval; of eight previews the one that breaks a check is named',
  [{ toolCalls: [1, 2, 3, 4, 5, 6, 7, 8].map(write) }, { text: 'All eight wait.' }, { text: 'Done.' }],
  async workbench => {
    const chat = workbench.chatFrame();
    workbench.writeFile(
      '.vscode/settings.json',
      JSON.stringify({ 'redline.checks': [{ name: 'brought', command: 'echo evil > evil.txt; exit 1' }] }),
    );
    workbench.writeFile('seen.txt', 'seen\n');
    await workbench.openRedlineChat();
    await workbench.sendChat('Write eight files.');
    await chat.getByText('All eight wait.').waitFor();
    await chat
      .locator('[data-kind="turn"]')
      .getByRole('button', { name: /^The check test failed/ })
      .waitFor();

    // The text of what the workspace brings is asked for once; refused, nothing of it runs.
    await workbench.runCommand('Redline: Run Checks');
    const dialog = workbench.page.locator('.monaco-dialog-box');
    await dialog.getByText('brought: echo evil > evil.txt; exit 1').waitFor();
    await workbench.picture('checks-approval');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await chat.getByText('– brought not run yet').waitFor();
    await workbench.picture('checks-not-run-yet');

    await workbench.clickTreeRow('5.txt');
    await workbench.runCommand('Redline: Checks…');
    await workbench.picture('checks-list');
    await workbench.quickPick('Find the Preview That Breaks It');
    await workbench.toast('Create 5.txt breaks test').waitFor();
    await workbench.picture('checks-found');
    await chat
      .locator('[data-kind="turn"]')
      .getByRole('button', { name: /^The check test failed with 1 problem/ })
      .first()
      .click();
    await workbench.page.getByText('$ test ! -e 5.txt').first().waitFor();
    await workbench.picture('checks-output');

    // What is green is no longer current from the moment that a person types in a file that the check saw.
    await workbench.openFile('seen.txt');
    await workbench
      .treeRow('4.txt')
      .filter({ hasText: /✔ test [\d.]+ s/ })
      .waitFor();
    await workbench.page.keyboard.type('x');
    await workbench.treeRow('4.txt').filter({ hasText: 'out of date' }).waitFor();
    await workbench.picture('checks-green-outdated');
  },
  {
    workbench: {
      settings: {
        'redline.resolve.forcing': 'off',
        'redline.checks': [
          { name: 'test', command: 'test ! -e 5.txt || { echo "5.txt:1:1: error: five"; exit 1; }' },
        ],
      },
      viewport: { width: 1400, height: 1000 },
    },
  },
);
