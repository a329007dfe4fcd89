/**
 * `npm start -- --once`: walks through the tour and the core story in a headless VS Code by clicking the real buttons. Each step
 * prints the file on disk and takes a picture. The walk fails at the first thing that is not as it should be.
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

const CART = 'src/cart.ts';
const MONEY = 'src/money.ts';
const NOTES = 'notes.md';
const FIX = `/edit ${CART} :: total += item.price; => total += item.price * item.quantity;`;

/**
 * Opens VS Code on a copy of the tour's project and walks, then on one of the example workspace. Linux x64 only.
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
    const step = stepsIn(workbench);
    console.log(`\nThe tour, in ${workbench.workspace}`);
    await walkTour(workbench, step);
    await workbench.reset({ pictures });
    console.log(`\nMore, in ${workbench.workspace}`);
    await walk(workbench, step);
  } catch (error) {
    console.error(`The window's last picture: ${await workbench.screenshot('failure')}`);
    console.error(workbench.extensionLog());
    throw error;
  } finally {
    await workbench.close();
  }
}

/** Counts the steps: each prints its name and the file as it is now, and takes a picture. */
function stepsIn(workbench) {
  let number = 0;
  return async (title, file) => {
    number++;
    const picture = await workbench.screenshot(
      `${number}-${title.toLowerCase().split(' ').slice(0, 6).join('-')}`,
    );
    console.log(`${number}. ${title}`);
    console.log(`   ${file} on disk: ${shown(workbench.readFile(file))}`);
    console.log(`   ${picture}`);
  };
}

/** @param {Workbench} workbench in Review mode, on the project of the tour */
async function walkTour(workbench, step) {
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
  await step('An agent proposes a mend: its test passes, and nothing is written', SHOP);

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
  await step('Refuse the second hunk with a reason: the agent answers', SHOP);

  await workbench.lens('Apply').first().click();
  await workbench.waitForFile(SHOP, text => text === mended);
  await chat.getByText('holds what you applied').getByRole('button', { name: SHOP }).click();
  await workbench.editorTab('cart.js').waitFor();
  await step('Apply the rest: exactly this was written', SHOP);

  await workbench
    .chatCard('cart.js')
    .filter({ hasText: 'Applied by you' })
    .getByRole('button', { name: 'Undo' })
    .click();
  await workbench.waitForFile(SHOP, text => text === original);
  await step('Undo on the card: the file is as it was', SHOP);
}

/** @param {Workbench} workbench in Review mode */
async function walk(workbench, step) {
  const original = { cart: workbench.readFile(CART), money: workbench.readFile(MONEY) };
  const unchanged = (file, text) =>
    assert.equal(workbench.readFile(file), text, `${file} is unchanged on disk`);

  /** The word above the change, with the reason in its tooltip. */
  const recommended = () =>
    workbench.page
      .locator('.codelens-decoration [title="The model recommends Apply: Exactly the change you asked for."]')
      .waitFor();

  await workbench.openRedlineChat();
  await workbench.sendChat(FIX);
  await workbench.lens('Apply').waitFor();
  await recommended();
  unchanged(CART, original.cart);
  await step('Ask for a change: it is held as a preview', CART);

  await workbench.lens('Apply').click();
  const fixed = original.cart.replace('total += item.price;', 'total += item.price * item.quantity;');
  await workbench.waitForFile(CART, text => text === fixed);
  await workbench.editorTab('cart.ts (Redline').waitFor({ state: 'detached' });
  await step('Click Apply above the change: exactly this was written', CART);

  await workbench.sendChat(`/edit ${MONEY} :: toFixed(2) => toFixed(3)`);
  await workbench.lens('Apply').waitFor();
  await recommended();
  await workbench.editorTab('money.ts (Redline').click();
  await workbench.editorTitleAction('Discard').click();
  await workbench.editorTab('money.ts (Redline').waitFor({ state: 'detached' });
  unchanged(MONEY, original.money);
  await step('Ask again and Discard in the editor title: nothing changed', MONEY);

  await workbench.sendChat(`/edit ${MONEY} :: toFixed(2) => toFixed(4)`);
  await workbench
    .chatCard('2 → 4')
    .getByRole('button', { name: /^Apply/ })
    .waitFor();
  await workbench.sendChat(`/write ${NOTES} :: Not wanted.`);
  await workbench
    .chatCard(`Create ${NOTES}`)
    .getByRole('button', { name: /^Create/ })
    .waitFor();
  await workbench.lens('Create').waitFor();
  await step('Ask twice: two previews are pending', MONEY);

  await workbench.runCommand('Redline: Discard All Previews');
  await workbench.toast('Discarded 2 previews').waitFor();
  unchanged(MONEY, original.money);
  unchanged(NOTES, undefined);
  await step('Discard All from the palette: nothing changed', MONEY);
  await workbench.runCommand('Notifications: Clear All Notifications');

  await workbench.sendChat('/replace console.log($$$A) => logger.info($$$A) in src/**/*.ts');
  const structural = workbench.chatCard('console.log($$$A) → logger.info($$$A)');
  await structural.getByRole('button', { name: /^Apply/ }).waitFor();
  unchanged(MONEY, original.money);
  await structural.locator('.card-label').click();
  await workbench.editorTab('console.log($$$A) → logger.info($$$A) (Redline').waitFor();
  await workbench.lens('Apply').first().waitFor();
  await step('Replace code by its structure: one preview for all files', MONEY);

  await structural.getByRole('button', { name: /^Apply/ }).click();
  await workbench.waitForFile(MONEY, text => text === original.money.replace('console.log', 'logger.info'));
  await workbench.waitForFile(CART, text => text === fixed.replace('console.log', 'logger.info'));
  await structural.getByText('Applied by you').waitFor();
  await step('Apply it: exactly this was written to both files', MONEY);

  await workbench.chatFrame().locator('#mode').selectOption('apply');
  await workbench.sendChat(`/write ${NOTES} :: Written in Auto mode.`);
  await workbench.waitForFile(NOTES, text => text === 'Written in Auto mode.');
  await workbench.chatFrame().locator('.log').getByText(`Accept: Create ${NOTES}`).waitFor();
  await step('Switch to Auto: the model resolves its own preview', NOTES);
}

/** The lines of the text that the story changes. */
function shown(text) {
  if (text === undefined) return '(no such file)';
  const changed = text
    .split('\n')
    .filter(line => /total \+=|sum \+=|toFixed|Written|logger|Total: /.test(line));
  return changed.map(line => line.trim()).join(' | ');
}
