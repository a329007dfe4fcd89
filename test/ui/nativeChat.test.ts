/** `@redline` in VS Code's own chat, without an account: nobody is signed in, and no extension offers a model. */
import assert from 'node:assert/strict';
import { NativeChat } from './support/nativeChat.ts';
import { modelTest } from './support/uiTest.ts';

const CART = 'src/cart.ts';
const OLD = 'total += item.price;';
const NEW = 'total += item.price * item.quantity;';
const TITLE = 'cart.ts:13 price → price * item.quantity';
const stage = {
  text: 'The total **ignores** the quantity.',
  toolCalls: [{ name: 'edit_file', arguments: { path: CART, edits: [{ old: OLD, new: NEW }] } }],
};
const recommend = { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'It counts.' } }] };

modelTest(
  '@redline streams its answer, shows what it staged, and its Apply button writes the file',
  [stage, recommend, { text: 'Have a look.' }, { text: 'The total is right now.' }, { text: 'No more.' }],
  async (workbench, server) => {
    const chat = await NativeChat.open(workbench);
    await chat.ask('@redline Fix the total.');
    await chat.button('Apply').waitFor();
    const reply = chat.reply();
    await reply.getByText('Have a look.').waitFor();
    await reply.getByText('The model recommends Apply: It counts.').waitFor();
    assert.deepEqual(server.requests[0]?.body.messages.at(-1)?.content, 'Fix the total.');
    assert.ok(workbench.readFile(CART)?.includes(OLD), 'nothing is written yet');
    await workbench.picture('native-chat-reply');

    await reply.getByRole('link', { name: TITLE }).click();
    await workbench.lens('Apply').waitFor();
    await workbench.picture('native-chat-diff');

    await chat.button('Apply').click();
    await workbench.waitForFile(CART, text => text?.includes(NEW) === true);
    await server.request(3);
    await chat.ask('@redline Anything else?');
    await chat.reply().getByText('No more.').waitFor();
    // What the model said after the click, when its reply had ended.
    await chat.reply().getByText('The total is right now.').waitFor();
    await workbench.picture('native-chat-applied');
  },
);
