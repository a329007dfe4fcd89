import assert from 'node:assert/strict';
import { uiTest } from './support/uiTest.ts';

const CART = 'src/cart.ts';
const EDIT = `/edit ${CART} :: total += item.price; => total += item.price * item.quantity;`;

uiTest(
  'a change asked for in the chat waits as a diff; the lens Discard drops it, the lens Apply lands it',
  {},
  async workbench => {
    const before = workbench.readFile(CART);
    await workbench.openRedlineChat();
    await workbench.sendChat(EDIT);
    await workbench.lens('Discard').click();
    await workbench.editorTab('cart.ts (Redline p1').waitFor({ state: 'detached' });
    assert.equal(workbench.readFile(CART), before);

    await workbench.sendChat(EDIT);
    await workbench.editorTab('cart.ts (Redline p2').waitFor();
    await workbench.lens('Apply').waitFor();
    assert.equal(workbench.readFile(CART), before);

    await workbench.lens('Apply').click();

    const expected = before?.replace('total += item.price;', 'total += item.price * item.quantity;');
    await workbench.waitForFile(CART, text => text === expected);
    await workbench.editorTab('cart.ts (Redline').waitFor({ state: 'detached' });
  },
);

uiTest('the chat moves to the secondary side bar, with what it shows', {}, async workbench => {
  const { page } = workbench;
  await workbench.openRedlineChat();
  await workbench.sendChat(EDIT);
  await workbench.lens('Apply').waitFor();
  await workbench.runCommand('Redline: Move Chat…');
  await workbench.quickPick('New Secondary Side Bar Entry');

  const bar = page.locator('.part.auxiliarybar');
  await bar.getByRole('tab', { name: 'Redline' }).waitFor();
  const card = workbench.chatFrame().locator('.card').first();
  await card.waitFor();
  const [place, shown] = [await bar.boundingBox(), await card.boundingBox()];
  assert.ok(place && shown && shown.x >= place.x, `${shown?.x} is not right of ${place?.x}`);
  await workbench.picture('chat-in-secondary-side-bar');
});
