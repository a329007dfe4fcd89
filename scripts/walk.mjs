/**
 * The core story, walked through in a real VS Code by the real buttons: `npm start -- --once`. Each step prints what the
 * file on disk holds and leaves a picture; the first difference from what must be there ends the walk.
 */
import * as assert from 'node:assert/strict';

const CART = 'src/cart.ts';
const MONEY = 'src/money.ts';
const NOTES = 'notes.md';
const FIX = `/edit ${CART} :: total += item.price; => total += item.price * item.quantity;`;

/**
 * @param {import('./lib/workbench.mjs').Workbench} workbench with the example workspace open, in Review mode
 * @param {(line: string) => void} print
 * @returns {Promise<void>} rejects at the first difference
 */
export async function walk(workbench, print) {
  const original = { cart: workbench.readFile(CART), money: workbench.readFile(MONEY) };
  let number = 0;

  /** Tells what was done, what the file holds, and keeps a picture. */
  const step = async (title, file) => {
    number++;
    const picture = await workbench.screenshot(
      `${number}-${title.toLowerCase().split(' ').slice(0, 6).join('-')}`,
    );
    print(`${number}. ${title}`);
    print(`   ${file} on disk: ${shown(workbench.readFile(file))}`);
    print(`   ${picture}`);
  };
  const unchanged = (file, text) =>
    assert.equal(workbench.readFile(file), text, `${file} is unchanged on disk`);

  /** A lens that only says something is no link. */
  const recommended = () =>
    workbench.page.locator('.codelens-decoration').filter({ hasText: 'model recommends Apply' }).waitFor();

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
  await step('Click Apply above the change: exactly this landed', CART);

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
    .chatCard('Edit src/money.ts (1 edit)')
    .getByRole('button', { name: /^Apply/ })
    .waitFor();
  await workbench.sendChat(`/write ${NOTES} :: Not wanted.`);
  await workbench
    .chatCard(`Create ${NOTES}`)
    .getByRole('button', { name: /^Apply/ })
    .waitFor();
  await workbench.lens('Apply').waitFor();
  await step('Ask twice: two previews are pending', MONEY);

  await workbench.runCommand('Redline: Discard All Previews');
  await workbench.toast('Discarded 2 previews').waitFor();
  unchanged(MONEY, original.money);
  unchanged(NOTES, undefined);
  await step('Discard All from the palette: nothing changed', MONEY);
  await workbench.runCommand('Notifications: Clear All Notifications');

  await workbench.sendChat('/replace console.log($$$A) => logger.info($$$A) in src/**/*.ts');
  const structural = workbench.chatCard('AST Edit: 2 replacements in 2 files');
  await structural.getByRole('button', { name: /^Apply/ }).waitFor();
  unchanged(MONEY, original.money);
  await structural.locator('.card-label').click();
  await workbench.editorTab('AST Edit: 2 replacements').waitFor();
  await workbench.lens('Apply').first().waitFor();
  await step('Replace code by its structure: every file in one preview', MONEY);

  await structural.getByRole('button', { name: /^Apply/ }).click();
  await workbench.waitForFile(MONEY, text => text === original.money.replace('console.log', 'logger.info'));
  await workbench.waitForFile(CART, text => text === fixed.replace('console.log', 'logger.info'));
  await step('Apply it: exactly this landed in both files', MONEY);

  await workbench.chatFrame().locator('#mode').selectOption('apply');
  await workbench.sendChat(`/write ${NOTES} :: Written in Auto mode.`);
  await workbench.waitForFile(NOTES, text => text === 'Written in Auto mode.');
  await workbench.chatFrame().locator('.log').getByText(`Accept: Create ${NOTES}`).waitFor();
  await step('Switch to Auto: the model resolves its own preview', NOTES);
}

/** The lines that tell: a file's text without what the story does not touch. */
function shown(text) {
  if (text === undefined) return '(no such file)';
  const telling = text.split('\n').filter(line => /total \+=|toFixed|Written|logger/.test(line));
  return telling.map(line => line.trim()).join(' | ');
}
