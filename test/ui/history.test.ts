/** The History view in the real window: the sessions, and the branches of the open one. */
import type { Workbench } from './support/workbench.mjs';
import { modelTest } from './support/uiTest.ts';

const pane = (workbench: Workbench) =>
  workbench.page
    .locator('.pane')
    .filter({ has: workbench.page.locator('.pane-header').filter({ hasText: /^History/ }) });
const row = (workbench: Workbench, text: string | RegExp) =>
  pane(workbench).locator('.monaco-list-row').filter({ hasText: text }).first();

modelTest(
  'history: what a revert left is a branch below its session and can be switched to; a click opens another session',
  [
    { text: 'I proposed it.' },
    { text: 'Two tests.' },
    { text: 'Three of them.' },
    { text: 'It is rounded.' },
  ],
  async workbench => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await workbench.sendChat('Count every item.');
    await chat.getByText('I proposed it.').waitFor();
    await workbench.sendChat('Which tests change?');
    await chat.getByText('Two tests.').waitFor();
    await workbench.runCommand('Redline: Focus on History View');
    await row(workbench, /Count every item\..*current · 4 messages/).waitFor();

    const bubble = chat.locator('[data-kind="user"]').filter({ hasText: 'Which tests change?' });
    await bubble.hover();
    await bubble.getByRole('button', { name: 'Revert to Here and Edit the Prompt' }).click();
    await bubble.waitFor({ state: 'detached' });
    await chat.locator('#prompt').fill('');
    await workbench.sendChat('How many files?');
    await chat.getByText('Three of them.').waitFor();
    await workbench.runCommand('Redline: Focus on History View');
    const branch = row(workbench, /Which tests change\?.*2 messages/);
    await branch.waitFor();
    await workbench.picture('history-branch');
    await branch.hover();
    await branch.getByRole('button', { name: 'Switch to This Branch' }).click();
    await chat.getByText('Two tests.').waitFor();
    await row(workbench, /How many files\?.*2 messages/).waitFor();

    await workbench.runCommand('Redline: New Session');
    await chat.locator('.empty-title').waitFor();
    await workbench.sendChat('Where is the tax rounded?');
    await chat.getByText('It is rounded.').waitFor();
    await workbench.runCommand('Redline: Focus on History View');
    await row(workbench, /Where is the tax rounded\?.*current/).waitFor();
    await workbench.picture('history-sessions');
    await row(workbench, 'Count every item.').click();
    await chat.getByText('Two tests.').waitFor();
    await row(workbench, /Count every item\..*current/).waitFor();
  },
  { workbench: { viewport: { width: 1200, height: 1300 } } },
);
