/** The History view in the real window: prompts, the steps of their turns, and branches. */
import assert from 'node:assert/strict';
import type { Workbench } from '../../scripts/headless/workbench.mjs';
import { modelTest } from './support/uiTest.ts';

const read = (path: string) => ({ toolCalls: [{ name: 'read_file', arguments: { path } }] });
const OLD = 'total += item.price;';
const NEW = 'total += item.price * item.quantity;';

const pane = (workbench: Workbench) =>
  workbench.page
    .locator('.pane')
    .filter({ has: workbench.page.locator('.pane-header').filter({ hasText: /^History/ }) });
const rows = (workbench: Workbench) => pane(workbench).locator('.monaco-list-row');
const row = (workbench: Workbench, text: string | RegExp) =>
  rows(workbench).filter({ hasText: text }).first();

modelTest(
  'history by turn: steps fold below their prompt and say what was done; a branch is in sight and can be switched to',
  [
    read('src/cart.ts'),
    read('src/money.ts'),
    read('README.md'),
    {
      toolCalls: [{ name: 'edit_file', arguments: { path: 'src/cart.ts', edits: [{ old: OLD, new: NEW }] } }],
    },
    { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'It counts.' } }] },
    { text: 'I proposed it.' },
    { text: 'Two tests.' },
    { text: 'Three of them.' },
  ],
  async workbench => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await workbench.sendChat('Count every item.');
    await chat.getByText('I proposed it.').waitFor();
    await workbench.sendChat('Which tests change?');
    await chat.getByText('Two tests.').waitFor();

    await workbench.runCommand('Redline: Focus on History View');
    await row(workbench, /Which tests change\?.*current/).waitFor();
    assert.equal(await rows(workbench).count(), 3, 'two prompts and the beginning');
    await workbench.setTreeRow(row(workbench, 'Count every item.'), 'expanded');
    await row(workbench, 'Read 3 files · Proposed a change to cart.ts · Voted to apply').waitFor();
    await workbench.picture('history-turns');

    // Before the second prompt: it stays as a branch, and is in sight.
    await row(workbench, 'Which tests change?').hover();
    await row(workbench, 'Which tests change?').getByRole('button', { name: 'Revert to Here' }).click();
    await chat.getByText('Two tests.').waitFor({ state: 'detached' });
    await row(workbench, /I proposed it\..*current/).waitFor();
    const branch = row(workbench, /Which tests change\?.*2 messages/);
    await branch.waitFor();
    await chat.locator('#prompt').fill('');
    await workbench.sendChat('How many files?');
    await chat.getByText('Three of them.').waitFor();
    await row(workbench, /How many files\?.*current/).waitFor();
    await workbench.picture('history-branch');
    await branch.hover();
    await branch.getByRole('button', { name: 'Switch to This Branch' }).click();
    await chat.getByText('Two tests.').waitFor();
    await row(workbench, /Which tests change\?.*current/).waitFor();

    // A step: the conversation goes on after it.
    await row(workbench, 'I proposed it.').hover();
    await row(workbench, 'I proposed it.').getByRole('button', { name: 'Revert to Here' }).click();
    await chat.getByText('Two tests.').waitFor({ state: 'detached' });
    await row(workbench, /I proposed it\..*current/).waitFor();
  },
  { workbench: { viewport: { width: 1200, height: 1300 } } },
);
