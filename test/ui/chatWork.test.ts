import assert from 'node:assert/strict';
import type { Workbench } from './support/workbench.mjs';
import type { ScriptedServer } from '../support/scriptedServer.ts';
import { modelTest } from './support/uiTest.ts';

const CART = 'src/cart.ts';
const OLD = 'total += item.price;';
const NEW = 'total += item.price * item.quantity;';
const APPLIED = /Applied p1 \(cart\.ts:\d+ price → price \* item\.quantity\)\./;
const stage = {
  toolCalls: [{ name: 'edit_file', arguments: { path: CART, edits: [{ old: OLD, new: NEW }] } }],
};
const planned = {
  name: 'todo',
  arguments: {
    items: [
      { text: 'Find where totals are added', state: 'done' },
      { text: 'Count the quantity', state: 'doing' },
      { text: 'Round to cents', state: 'open' },
    ],
  },
};
const recommend = { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'It counts.' } }] };

/** Everything that the model was sent with a request, as text. */
function sent(server: ScriptedServer, n: number): string {
  return JSON.stringify(server.requests[n]?.body.messages ?? []);
}

function button(workbench: Workbench, name: string) {
  return workbench.chatFrame().getByRole('button', { name, exact: true }).last();
}

modelTest(
  'what goes with a prompt is sent and shown as a chip, and the to-do list above it; a reason given on the card reaches the model',
  [{ toolCalls: [planned, ...stage.toolCalls] }, recommend, { text: 'Your turn.' }, { text: 'Understood.' }],
  async (workbench, server) => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await chat.locator('#prompt').pressSequentially('Fix @cart');
    await chat.locator('.suggestion').first().waitFor();
    await chat.locator('#prompt').press('Enter');
    assert.equal(await chat.locator('#prompt').inputValue(), `Fix @${CART} `);
    await chat.locator('#prompt').press('Enter');
    await chat.locator('.log').getByText('Your turn.').waitFor();
    assert.match(
      sent(server, 0),
      /\[Attached by the user: src\/cart\.ts\].*total \+= item\.price;.*Fix @src/,
    );
    const bubble = chat.locator('[data-kind="user"]');
    assert.equal(await bubble.locator('.bubble').textContent(), `You: Fix @${CART}`);
    assert.equal(await bubble.locator('.chip-label').textContent(), 'cart.ts');
    const todo = chat.locator('.todo-summary');
    assert.equal(await todo.textContent(), 'To-do: 1 of 3 done · Count the quantity');
    await workbench.picture('todo-list');
    await todo.click();
    await chat.locator('.todo-items').getByText('Round to cents').waitFor();
    await workbench.picture('todo-list-open');

    await chat.getByRole('button', { name: /^More for cart\.ts:\d+ / }).click();
    await workbench.quickPick('Discard with reason…');
    await workbench.answerInput('Keep the old total.');
    await chat.locator('.log').getByText('Understood.').waitFor();
    assert.match(sent(server, 3), /The user discarded p1 .*Keep the old total\./);
    assert.ok(workbench.readFile(CART)?.includes(OLD));

    await workbench.reload();
    await workbench.openRedlineChat();
    assert.equal(await bubble.locator('.chip-label').textContent(), 'cart.ts');
    assert.equal(await todo.textContent(), 'To-do: 1 of 3 done · Count the quantity');
  },
);

modelTest(
  'prompts that wait can be edited and removed; Stop and New Session put them back, before what is typed',
  [{ hang: true }, { hang: true }],
  async (workbench, server) => {
    const chat = workbench.chatFrame();
    const input = chat.locator('#prompt');
    const waiting = chat.locator('[data-kind="user"]').filter({ hasText: 'Queued' });
    await workbench.openRedlineChat();
    await workbench.sendChat('First.');
    await server.request(0);
    for (const text of ['Look at @src/cart.ts first.', 'Third.', 'Fourth.']) await workbench.sendChat(text);
    await waiting.nth(2).waitFor();
    await workbench.picture('queued');
    await waiting.nth(1).getByRole('button', { name: 'Remove the Queued Prompt' }).click();
    await waiting.nth(2).waitFor({ state: 'detached' });
    await input.fill('Being typed.');
    await waiting.nth(1).getByRole('button', { name: 'Edit the Queued Prompt' }).click();
    await waiting.nth(1).waitFor({ state: 'detached' });
    assert.equal(await input.inputValue(), 'Fourth.\n\nBeing typed.');
    await chat.locator('#send').click();
    await waiting.first().waitFor({ state: 'detached' });
    assert.equal(await input.inputValue(), 'Look at @src/cart.ts first.\n\nFourth.\n\nBeing typed.');
    assert.deepEqual(await chat.locator('.composer .chip-label').allTextContents(), ['cart.ts']);
    await workbench.picture('queued-put-back');

    await input.fill('');
    await workbench.sendChat('Fifth.');
    await server.request(1);
    await workbench.sendChat('Sixth.');
    await waiting.first().waitFor();
    await workbench.runCommand('Redline: New Session');
    await chat.locator('.empty-title').waitFor();
    assert.equal(await input.inputValue(), 'Sixth.');
    assert.equal(server.requests.length, 2);
  },
);

modelTest(
  'commands are carried out here with a model connected, and never sent to it as prompts',
  [
    stage,
    recommend,
    { text: 'Your turn.' },
    { text: 'Good.' },
    stage,
    { text: 'Once more.' },
    { text: 'Well.' },
  ],
  async (workbench, server) => {
    const chat = workbench.chatFrame();
    const answer = chat.locator('[data-kind="local"]').last();
    await workbench.openRedlineChat();
    await workbench.sendChat('/apply');
    await chat.locator('.log').getByText('Nothing is pending.').waitFor();
    await workbench.sendChat('Fix the total.');
    await chat.locator('.log').getByText('Your turn.').waitFor();
    await workbench.sendChat('/apply p7');
    await chat.locator('.log').getByText('There is no preview p7.').waitFor();
    await workbench.sendChat('/apply');
    await chat.locator('.log').getByText(APPLIED).waitFor();
    await workbench.waitForFile(CART, text => text?.includes(NEW) === true);
    await chat.locator('.log').getByText('Good.').waitFor();
    assert.match(sent(server, 3), /The user applied p1/);
    await workbench.sendChat('/tools');
    await answer.getByText('edit_file').waitFor();
    await workbench.sendChat('/help');
    await answer.getByText('/discard-all').waitFor();
    await workbench.sendChat('/call nonsense {');
    await answer.getByText('Usage: ').waitFor();
    await workbench.sendChat('/discard p1');
    await answer.getByText('is already applied').waitFor();
    assert.equal(server.requests.length, 4);

    await workbench.sendChat('/call list_files {"glob": "src/*.ts"}');
    await chat.locator('pre').getByText('src/money.ts').last().waitFor();
    assert.equal(server.requests.length, 4);
    await workbench.sendChat('/write notes.md :: Hello');
    await workbench.chatCard('Create notes.md').waitFor();
    await workbench.sendChat('/discard-all');
    await answer.getByText('Discarded 1 preview.').waitFor();
    assert.equal(workbench.readFile('notes.md'), undefined);
    const all = server.requests.map((_, n) => sent(server, n)).join('');
    for (const command of ['/apply', '/tools', '/help', '/discard', 'Nothing is pending'])
      assert.ok(!all.includes(command), command);

    await workbench.reload();
    await workbench.openRedlineChat();
    await chat.locator('.log').getByText(APPLIED).waitFor();
    await workbench.runCommand('Redline: New Session');
    await chat.locator('.empty-title').waitFor();
    assert.equal(await chat.locator('[data-kind="local"]').count(), 0);
  },
);

modelTest(
  'Plan: the model only reads, its plan is approved on its card, and the mode beside the switch is in force again',
  [
    {
      text: '# Count every item\n\nMultiply by the quantity.',
      toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'Ready.' } }],
    },
    { text: 'Waiting.' },
    { text: 'Off I go.' },
  ],
  async (workbench, server) => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await button(workbench, 'Plan').click();
    await chat.locator('[data-action="plan"][aria-pressed="true"]').waitFor();
    assert.equal(await chat.locator('#mode').inputValue(), 'recommend');
    await workbench.sendChat('Plan the fix.');
    await chat.locator('.log').getByText('Waiting.').waitFor();
    const said = (n: number) => JSON.stringify(server.requests[n]?.body.messages);
    assert.match(said(0), /Plan mode is on: /);
    await button(workbench, 'Approve Plan: Count every item').click();
    await chat.locator('.log').getByText('Off I go.').waitFor();
    assert.match(said(2), /Plan mode is off\./);
    assert.equal(await chat.locator('[data-action="plan"]').getAttribute('aria-pressed'), 'false');
  },
);

modelTest(
  'Stop ends a turn; tokens are counted; the mode switch says who resolves',
  [{ text: 'Counted.', usage: { inputTokens: 1200, outputTokens: 34 } }, { hang: true }],
  async (workbench, server) => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await chat.locator('#mode').selectOption({ label: 'Manual' });
    await workbench.sendChat('Hello');
    await chat.locator('.log').getByText('Counted.').waitFor();
    const [manual] = server.requests;
    assert.ok(
      manual?.body.tools?.some(tool => tool.function.name === 'resolve'),
      'the same tools in each mode',
    );
    await button(workbench, 'Context window: 1% full. Token use: 1.2K tokens').click();
    const told = [
      'Context window: 1,234 of 128,000 tokens (1%). Counted by the server for the last request and its answer.',
      'The size of the window is assumed, because the server does not report it. Set it in redline.openai.contextWindow.',
    ].join(' ');
    const used = 'Tokens in this session: 1,200 in, 34 out. Last request: 1,200 in, 34 out.';
    assert.equal(await chat.locator('#usage-detail').textContent(), `${told}\n${used}`);
    await workbench.sendChat('And again');
    const request = await server.request(1);
    await button(workbench, 'Stop').click();
    assert.equal(await request.left, true);
    await button(workbench, 'Send').waitFor();
  },
);

modelTest(
  'an address that does not answer, a key that is missing, and the way out of both by buttons',
  [{ text: 'Now I hear you.' }],
  async (workbench, server) => {
    const chat = workbench.chatFrame();
    const rows = workbench.page.locator('.quick-input-list .monaco-list-row');
    await workbench.openRedlineChat();
    await workbench.sendChat('Do you hear me?');
    await button(workbench, 'Select Model').click();
    await rows.filter({ hasText: 'The connection to' }).waitFor();
    await workbench.quickPick('Set Base URL…');
    await workbench.answerInput(server.baseUrl);
    await rows.filter({ hasText: 'key' }).first().waitFor();
    await workbench.quickPick('Set API Key…');
    await workbench.answerInput('sk-right');
    await workbench.quickPick('second-model');
    await chat.locator('.model').getByText('second-model').waitFor();
    await button(workbench, 'Try Again').click();
    await chat.locator('.log').getByText('Now I hear you.').waitFor();
    assert.equal(server.requests.at(-1)?.body.model, 'second-model');
    assert.equal(server.requests.at(-1)?.authorization, 'Bearer sk-right');
    assert.ok(!workbench.extensionLog().includes('sk-right'));

    await chat.locator('.model').click();
    await workbench.quickPick('Offline');
    await chat.locator('.model').getByText('Offline').waitFor();
    await workbench.sendChat('Still there?');
    await chat.locator('.log').getByText('not a language model').waitFor();
    await button(workbench, 'Connect a Model').click();
    await rows.filter({ hasText: 'Other…' }).first().waitFor();
  },
  {
    server: { key: 'sk-right', models: ['first-model', 'second-model'] },
    workbench: { settings: { 'redline.openai.baseUrl': 'http://127.0.0.1:9/v1' } },
  },
);
