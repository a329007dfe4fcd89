import assert from 'node:assert/strict';
import { uiTest } from './support/uiTest.ts';

uiTest(
  'a command is read as a document, run from its card, watched there, and stopped',
  {},
  async workbench => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await chat.locator('#prompt').fill('/run echo started; sleep 1000 # until it is stopped');
    await chat.locator('#prompt').press('Enter');
    const card = chat.locator('[data-preview-id="p1"]');
    await card.getByRole('button', { name: /^Open/ }).last().click();
    const document = workbench.page.locator('.editor-instance');
    await document.getByText('Time limit').first().waitFor();
    await workbench.picture('run-command-document');

    await card.locator('[data-action="apply"]').click();
    await card.locator('.card-output').getByText('started').waitFor();
    await workbench.picture('run-command-running');
    await card.locator('[data-action="stop"]').click();
    await chat.locator('[data-preview-id="p1"][data-state="applied"]').waitFor();
    assert.match((await card.locator('.card-output pre').textContent()) ?? '', /^\s*started\s*$/);
    assert.match((await card.locator('.card-state').textContent()) ?? '', /^Stopped · [\d.]+ s · by you$/);
    assert.equal(await card.locator('[data-action="stop"]').count(), 0);
    await workbench.picture('run-command-stopped');
  },
);
