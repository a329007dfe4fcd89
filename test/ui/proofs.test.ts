/** An old failure is shown as before, a full copy confirms it, and what a command left in the sandbox goes with a reset. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { uiTest } from './support/uiTest.ts';

const CHECK = 'echo "not ok 1 - old"; echo "not ok 2 - older"; echo "ok 3 - new"; echo 1..3; exit 1';
const REFUSED = 'A command is running in the sandbox. Stop it first.';

uiTest(
  'failures that were there before are told, and a full copy says the same',
  {
    settings: { 'redline.checks': [{ name: 'test', command: CHECK }] },
    viewport: { width: 1400, height: 1000 },
  },
  async workbench => {
    workbench.writeFile('cart.ts', 'export const total = 1;\n');
    await workbench.openRedlineChat();
    await workbench.sendChat('/edit cart.ts :: total = 1 => total = 2');
    const before = workbench.readFile('cart.ts');
    const card = workbench.chatFrame().locator('[data-preview-id="p1"]');
    await card.getByText('✘ test failed').waitFor();
    await workbench.runCommand('Redline: Run Checks');
    await card.getByText('✘ test: 2 failures, as before').waitFor();
    await workbench.picture('proofs-as-before');

    await workbench.runCommand('Redline: Checks…');
    await workbench.quickPick('Run Checks from Scratch');
    const dialog = workbench.page.locator('.monaco-dialog-box');
    await dialog.getByText('Run the checks in a full copy, too?').waitFor();
    await workbench.picture('proofs-asks-for-a-copy');
    await dialog.getByRole('button', { name: 'Copy and Run' }).click();
    await workbench.toast('The full copy says the same').waitFor();
    await card.getByText('✘ test: 2 failures, as before').waitFor();
    await workbench.picture('proofs-same');
    assert.equal(workbench.readFile('cart.ts'), before);
  },
);

uiTest(
  'the sandbox is reset once nothing runs in it, and the next command finds what git ignores as on disk',
  { viewport: { width: 1400, height: 1000 } },
  async workbench => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    const run = async (id: string, command: string): Promise<void> => {
      await chat.locator('#prompt').fill(`/run ${command}`);
      await chat.locator('#prompt').press('Enter');
      await chat.locator(`[data-preview-id="${id}"] [data-action="apply"]`).click();
    };
    const ended = (id: string): Promise<void> =>
      chat.locator(`[data-preview-id="${id}"][data-state="applied"]`).waitFor();
    workbench.writeFile('node_modules/tool.txt', 'of the disk\n');
    await run('p1', 'echo of the sandbox > node_modules/tool.txt; echo started; sleep 1000');
    await chat.locator('[data-preview-id="p1"] .card-output').getByText('started').waitFor();
    await workbench.runCommand('Redline: Sandbox…');
    await workbench.quickPick('Reset the Sandbox');
    await workbench.toast(REFUSED).waitFor();
    await workbench.picture('sandbox-reset-refused');
    await chat.locator('[data-preview-id="p1"] [data-action="stop"]').click();
    await ended('p1');

    await run('p2', 'echo of the sandbox > node_modules/tool.txt');
    await ended('p2');
    await workbench.runCommand('Redline: Sandbox…');
    await workbench.quickPick('Reset the Sandbox');
    await workbench.toast('The sandbox was reset').waitFor();
    await workbench.picture('sandbox-reset');
    await run('p3', 'cat node_modules/tool.txt');
    await ended('p3');
    const output = chat.locator('[data-preview-id="p3"] .card-output pre');
    assert.match((await output.textContent()) ?? '', /of the disk/);
    const file = path.join(workbench.workspace, 'node_modules', 'tool.txt');
    assert.equal(fs.readFileSync(file, 'utf8'), 'of the disk\n');
  },
);
