/** The walk of `npm start -- --once`, by which a newcomer sees the tour and the core story. */
import assert from 'node:assert/strict';
import type { Workbench } from './support/workbench.mjs';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { SETTINGS } from '../../scripts/lib/startCode.mjs';
import { copyTour } from '../../scripts/lib/workspaceCopy.mjs';
import { uiTest } from './support/uiTest.ts';

/** The file of the tour. */
const SHOP = 'src/cart.js';
const REASON = 'Keep the old word.';

const CART = 'src/cart.ts';
const MONEY = 'src/money.ts';
const NOTES = 'notes.md';
const FIX = `/edit ${CART} :: total += item.price; => total += item.price * item.quantity;`;

const OPTIONS = { pictures: inRepo('out', 'walk'), settings: SETTINGS };

let steps = 0;

/** Prints the lines of a file that the story changes, as they are on disk, and takes a picture where pictures are wanted. */
async function step(workbench: Workbench, title: string, file: string): Promise<void> {
  steps++;
  const lines = workbench.readFile(file)?.split('\n') ?? ['(no such file)'];
  const told = lines.filter(line => /total \+=|sum \+=|toFixed|Written|logger|Total: |^\(/.test(line));
  console.log(`${steps}. ${title}\n   ${file} on disk: ${told.map(line => line.trim()).join(' | ')}`);
  await workbench.picture(`${steps}-${title.toLowerCase().split(' ').slice(0, 6).join('-')}`);
}

uiTest(
  'the tour: one hunk is refused and answered, the rest applied and undone',
  { ...OPTIONS, workspace: copyTour() },
  async workbench => {
    const original = workbench.readFile(SHOP) ?? assert.fail();
    const mended = original.replace('sum += item.price;', 'sum += item.price * item.quantity;');
    const chat = workbench.chatFrame();
    const unchanged = (): void =>
      assert.equal(workbench.readFile(SHOP), original, `${SHOP} is unchanged on disk`);

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
    await step(workbench, 'An agent proposes a mend: its test passes, and nothing is written', SHOP);

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
    await step(workbench, 'Refuse the second hunk with a reason: the agent answers', SHOP);

    await workbench.lens('Apply').first().click();
    await workbench.waitForFile(SHOP, text => text === mended);
    await chat.getByText('holds what you applied').getByRole('button', { name: SHOP }).click();
    await workbench.editorTab('cart.js').waitFor();
    await step(workbench, 'Apply the rest: exactly this was written', SHOP);

    await workbench
      .chatCard('cart.js')
      .filter({ hasText: 'Applied by you' })
      .getByRole('button', { name: 'Undo' })
      .click();
    await workbench.waitForFile(SHOP, text => text === original);
    await step(workbench, 'Undo on the card: the file is as it was', SHOP);
  },
);

uiTest(
  'the core story: changes wait, and are applied, discarded, or resolved by the model',
  OPTIONS,
  async workbench => {
    const original = {
      cart: workbench.readFile(CART) ?? assert.fail(),
      money: workbench.readFile(MONEY) ?? assert.fail(),
    };
    const unchanged = (file: string, text: string | undefined): void =>
      assert.equal(workbench.readFile(file), text, `${file} is unchanged on disk`);

    /** The word above the change, with the reason in its tooltip. */
    const recommended = (): Promise<void> =>
      workbench.page
        .locator(
          '.codelens-decoration [title="The model recommends Apply: Exactly the change you asked for."]',
        )
        .waitFor();

    await workbench.openRedlineChat();
    await workbench.sendChat(FIX);
    await workbench.lens('Apply').waitFor();
    await recommended();
    unchanged(CART, original.cart);
    await step(workbench, 'Ask for a change: it is held as a preview', CART);

    await workbench.lens('Apply').click();
    const fixed = original.cart.replace('total += item.price;', 'total += item.price * item.quantity;');
    await workbench.waitForFile(CART, text => text === fixed);
    await workbench.editorTab('cart.ts (Redline').waitFor({ state: 'detached' });
    await step(workbench, 'Click Apply above the change: exactly this was written', CART);

    await workbench.sendChat(`/edit ${MONEY} :: toFixed(2) => toFixed(3)`);
    await workbench.lens('Apply').waitFor();
    await recommended();
    await workbench.editorTab('money.ts (Redline').click();
    await workbench.editorTitleAction('Discard').click();
    await workbench.editorTab('money.ts (Redline').waitFor({ state: 'detached' });
    unchanged(MONEY, original.money);
    await step(workbench, 'Ask again and Discard in the editor title: nothing changed', MONEY);

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
    await step(workbench, 'Ask twice: two previews are pending', MONEY);

    await workbench.runCommand('Redline: Discard All Previews');
    await workbench.toast('Discarded 2 previews').waitFor();
    unchanged(MONEY, original.money);
    unchanged(NOTES, undefined);
    await step(workbench, 'Discard All from the palette: nothing changed', MONEY);
    await workbench.runCommand('Notifications: Clear All Notifications');

    await workbench.sendChat('/replace console.log($$$A) => logger.info($$$A) in src/**/*.ts');
    const structural = workbench.chatCard('console.log($$$A) → logger.info($$$A)');
    await structural.getByRole('button', { name: /^Apply/ }).waitFor();
    unchanged(MONEY, original.money);
    await structural.locator('.card-label').click();
    await workbench.editorTab('console.log($$$A) → logger.info($$$A) (Redline').waitFor();
    await workbench.lens('Apply').first().waitFor();
    await step(workbench, 'Replace code by its structure: one preview for all files', MONEY);

    await structural.getByRole('button', { name: /^Apply/ }).click();
    await workbench.waitForFile(MONEY, text => text === original.money.replace('console.log', 'logger.info'));
    await workbench.waitForFile(CART, text => text === fixed.replace('console.log', 'logger.info'));
    await structural.getByText('Applied by you').waitFor();
    await step(workbench, 'Apply it: exactly this was written to both files', MONEY);

    await workbench.chatFrame().locator('#mode').selectOption('apply');
    await workbench.sendChat(`/write ${NOTES} :: Written in Auto mode.`);
    await workbench.waitForFile(NOTES, text => text === 'Written in Auto mode.');
    await workbench.chatFrame().locator('.log').getByText(`Accept: Create ${NOTES}`).waitFor();
    await step(workbench, 'Switch to Auto: the model resolves its own preview', NOTES);
  },
);
