/** One card for all files of a turn: what waits, what is red, what has become of each, and the way back. */
import assert from 'node:assert/strict';
import { modelTest } from './support/uiTest.ts';

const write = (name: string) => ({
  name: 'write_file',
  arguments: { path: `${name}.txt`, content: `${name}\n` },
});

modelTest(
  'three files of a turn are one card, from a red check to a mixed outcome and back',
  [{ toolCalls: ['one', 'two', 'three'].map(write) }, { text: 'All three wait.' }, { text: 'Done.' }],
  async workbench => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await workbench.sendChat('Write three files.');
    await chat.getByText('All three wait.').waitFor();
    const card = chat.locator('[data-kind="turn"]');
    await card.getByRole('button', { name: /^The check test failed/ }).waitFor();
    await card.getByText('3 files', { exact: true }).waitFor();
    // Nothing asks to be clicked while the check is red.
    assert.equal(await card.locator('.button.primary').count(), 0);
    assert.equal(await chat.locator('[data-kind="preview"]').count(), 0);
    await workbench.picture('turn-red');

    const row = (name: string) => card.locator('.turn-row').filter({ hasText: `${name}.txt` });
    await row('one').getByRole('button').click();
    await workbench.lens('Create').waitFor();
    await workbench.runCommand('Redline: Apply Preview');
    await row('one').getByText('applied', { exact: true }).waitFor();
    await row('three').getByRole('button').click();
    await workbench.page.locator('.tab.active').filter({ hasText: 'three.txt' }).waitFor();
    await workbench.runCommand('Redline: Discard Preview');
    await row('three').getByText('discarded', { exact: true }).waitFor();
    await workbench.picture('turn-in-part');

    // What can be done with all of it is done to what is left.
    await card.getByRole('button', { name: /^More for/ }).click();
    await workbench.quickPick('Apply 1 change');
    await card.getByText('2 of 3 hunks applied').waitFor();
    assert.equal(workbench.readFile('two.txt'), 'two\n');
    await workbench.picture('turn-mixed');

    await card.getByRole('button', { name: /^Undo/ }).click();
    await row('two').getByText('undone', { exact: true }).waitFor();
    await row('one').getByText('undone', { exact: true }).waitFor();
    assert.deepEqual(
      ['one', 'two', 'three'].map(name => workbench.readFile(`${name}.txt`)),
      [undefined, undefined, undefined],
    );
    await workbench.picture('turn-undone');

    // What was refused comes back, too.
    await card.getByRole('button', { name: /^More for/ }).click();
    await workbench.quickPick('Reopen Create three.txt');
    await chat.locator('[data-kind="preview"]').getByText('three.txt').first().waitFor();
    await workbench.picture('turn-reopened');
  },
  {
    workbench: {
      settings: {
        'redline.resolve.forcing': 'off',
        'redline.checks': [{ name: 'test', command: 'test ! -e three.txt' }],
      },
      viewport: { width: 1400, height: 1000 },
    },
  },
);
