import assert from 'node:assert/strict';
import { uiTest } from './support/uiTest.ts';

const CART = 'src/cart.ts';
const EDIT = `/edit ${CART} :: total += item.price; => total += item.price * item.quantity;`;

uiTest('a change asked for in the chat waits as a diff, and its lens lands it', {}, async workbench => {
  const before = workbench.readFile(CART);
  await workbench.openRedlineChat();
  await workbench.sendChat(EDIT);
  await workbench.lens('Apply').waitFor();
  assert.equal(workbench.readFile(CART), before);

  await workbench.lens('Apply').click();

  const expected = before?.replace('total += item.price;', 'total += item.price * item.quantity;');
  await workbench.waitForFile(CART, text => text === expected);
  await workbench.editorTab('cart.ts (Redline').waitFor({ state: 'detached' });
});

uiTest('the Discard lens closes the diff and leaves every byte', {}, async workbench => {
  const before = workbench.readFile(CART);
  await workbench.openRedlineChat();
  await workbench.sendChat(EDIT);
  await workbench.lens('Discard').click();
  await workbench.editorTab('cart.ts (Redline').waitFor({ state: 'detached' });
  assert.equal(workbench.readFile(CART), before);
});
