/**
 * `npm start -- --once`: walks through the tour in a headless VS Code by clicking the real buttons. Each step prints the file on
 * disk and takes a picture. The walk fails at the first thing that is not as it should be.
 */
import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { runsHeadless } from '../headless/releases.mjs';
import { Workbench } from '../headless/workbench.mjs';
import { temporaryFolder } from './cleanup.mjs';
import { inRepo } from './paths.mjs';
import { SETTINGS } from './startCode.mjs';

/** The file of the tour. */
const SHOP = 'src/cart.js';
const REASON = 'Keep the old word.';

/**
 * Opens VS Code on a copy of the tour's project and walks. Linux x64 only.
 * @throws {Error} at the first step that fails; then a picture and the extension's log are printed
 */
export async function takeWalk() {
  if (!runsHeadless()) {
    throw new Error('The walk runs on Linux x64 only. "npm start" opens VS Code for you to walk through it.');
  }
  const pictures = inRepo('out', 'walk');
  const shop = path.join(temporaryFolder('redline-'), 'shop');
  fs.cpSync(inRepo('media', 'tour'), shop, { recursive: true });
  const workbench = await Workbench.open({ pictures, workspace: shop, settings: SETTINGS });
  try {
    await walk(workbench);
  } catch (error) {
    console.error(`The window's last picture: ${await workbench.screenshot('failure')}`);
    console.error(workbench.extensionLog());
    throw error;
  } finally {
    await workbench.close();
  }
}

/** @param {Workbench} workbench in Review mode, on the project of the tour */
async function walk(workbench) {
  let number = 0;
  const step = async title => {
    const name = `${++number}-${title.toLowerCase().split(' ').slice(0, 6).join('-')}`;
    const picture = await workbench.screenshot(name);
    const changed = workbench.readFile(SHOP).match(/^.*(?:sum \+=|Total: ).*$/gm);
    console.log(
      `${number}. ${title}\n   ${SHOP} on disk: ${changed.map(line => line.trim()).join(' | ')}\n   ${picture}`,
    );
  };
  const original = workbench.readFile(SHOP);
  const mended = original.replace('sum += item.price;', 'sum += item.price * item.quantity;');
  const chat = workbench.chatFrame();
  const unchanged = () => assert.equal(workbench.readFile(SHOP), original, `${SHOP} is unchanged on disk`);

  await workbench.openRedlineChat();
  await workbench.sendChat('/tour');
  await chat.getByText('My second hunk renames the total').waitFor();
  const card = workbench.chatCard('cart.js');
  const passed = card.getByRole('button', { name: /^The check test passed/ });
  // Where the sandbox is not isolated, a check waits for a click.
  if ((await passed.count()) === 0) await card.getByRole('button', { name: 'Run Checks' }).click();
  await passed.waitFor();
  await workbench.lens('Apply').first().waitFor();
  unchanged();
  await step('An agent proposes a mend: its test passes, and nothing is written');

  await workbench.editorTab('cart.js (Redline)').click();
  // VS Code moves the cursor to the first hunk by itself, once it has compared the texts.
  await workbench.statusBarItem('Hunk 1 of 2').waitFor();
  await workbench.runCommand('Redline: Next Hunk');
  await workbench.statusBarItem('Hunk 2 of 2').waitFor();
  await workbench.runCommand('Redline: Discard Hunk with Reason…');
  await workbench.page.locator('.quick-input-widget:visible input.input').fill(REASON);
  await workbench.page.keyboard.press('Enter');
  await chat.getByText('The other hunk still waits for you').waitFor();
  // The test runs again on the rest, whose only hunk is all there is to apply.
  await passed.waitFor();
  await workbench.page
    .locator('.editor.modified .codelens-decoration a')
    .filter({ hasText: /^\s*Apply\s*$/ })
    .waitFor();
  unchanged();
  await step('Refuse the second hunk with a reason: the agent answers');

  await workbench.lens('Apply').first().click();
  await workbench.waitForFile(SHOP, text => text === mended);
  await chat.getByText('holds what you applied').getByRole('button', { name: SHOP }).click();
  await workbench.editorTab('cart.js').waitFor();
  await step('Apply the rest: exactly this was written');

  await workbench
    .chatCard('cart.js')
    .filter({ hasText: 'Applied by you' })
    .getByRole('button', { name: 'Undo' })
    .click();
  await workbench.waitForFile(SHOP, text => text === original);
  await step('Undo on the card: the file is as it was');
}
