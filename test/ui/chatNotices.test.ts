/** What the chat tells by itself: a wait for the server, and what a revert leaves in the files. */
import assert from 'node:assert/strict';
import { modelTest } from './support/uiTest.ts';

const OLD = 'total += item.price;';
const NEW = 'total += item.price * item.quantity;';
const stage = {
  toolCalls: [{ name: 'edit_file', arguments: { path: 'src/cart.ts', edits: [{ old: OLD, new: NEW }] } }],
};
const recommend = { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'It counts.' } }] };

/** Lets the model answer, once nothing of it is in sight. */
let hidden = (): void => undefined;

modelTest(
  'a refused request that waits to be sent again counts down in the status line',
  [{ status: 429, headers: { 'retry-after': '4' } }, { text: 'Here I am.' }],
  async (workbench, server) => {
    await workbench.openRedlineChat();
    await workbench.sendChat('Hello');
    const line = workbench.chatFrame().locator('.status-line');
    await line.getByText(/trying again in 3 s/).waitFor();
    await workbench.picture('rate-limited');
    await line.getByText(/trying again in 2 s/).waitFor();
    // Screen readers hear it once, with the whole time.
    assert.equal(await line.locator('.hidden').textContent(), 'Rate limited, trying again in 4 s');
    assert.equal(await line.locator('[aria-hidden="true"]').last().textContent().then(Boolean), true);
    await workbench.chatFrame().locator('.item.assistant').getByText('Here I am.').waitFor();
    await line
      .getByText(/trying again/)
      .first()
      .waitFor({ state: 'detached' });
    assert.equal(server.requests.length, 2);
  },
  { workbench: { settings: { 'workbench.colorTheme': 'Default High Contrast Light' } } },
);

modelTest(
  'a wait for the person is a row of the chat, without a default; what is refused is never asked for at the host',
  [
    { toolCalls: [{ name: 'fetch_url', arguments: { url: 'https://docs.example.com/page?q=1' } }] },
    { text: 'Then I go on without it.' },
  ],
  async (workbench, server) => {
    await workbench.openRedlineChat();
    await workbench.sendChat('Look it up.');
    const row = workbench.chatFrame().locator('[data-kind="host"]');
    await row.getByText('The agent wants to read from docs.example.com.').waitFor();
    await row.getByText('https://docs.example.com/page?q=1', { exact: true }).waitFor();
    await workbench.chatFrame().locator('.status-line').getByText('Waiting for your answer').waitFor();
    await workbench.picture('host-question');
    assert.equal(await row.locator('button.primary').count(), 0);
    assert.equal(await row.locator('button').count(), 4);
    await row.locator('[data-answer="no"]').click();
    await row.waitFor({ state: 'detached' });
    const { body } = await server.request(1);
    assert.match(
      JSON.stringify(body.messages.at(-1)?.content),
      /^"The user does not let you read docs\.example\.com\. Nothing was sent to it\./,
    );
    await workbench.chatFrame().locator('.item.assistant').getByText('Then I go on without it.').waitFor();
  },
);

const question = {
  name: 'ask_user',
  arguments: { question: 'Where should the cart be stored?', choices: ['In a cookie', 'On the server'] },
};

modelTest(
  'a question of the agent has its choices as buttons; a prompt is another answer',
  [{ toolCalls: [question] }, { toolCalls: [question] }, { text: 'Then I know.' }],
  async (workbench, server) => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await workbench.sendChat('Store the cart.');
    const open = chat.locator('[data-kind="question"]').filter({ has: chat.locator('button') });
    await open.getByText('Or type another answer below.').waitFor();
    await chat.locator('.status-line').getByText('Waiting for your answer').waitFor();
    await workbench.picture('agent-question');
    assert.equal(await open.locator('button.primary').count(), 0);
    await open.getByRole('button', { name: 'On the server' }).click();
    await chat.getByText('Your answer: On the server').waitFor();
    await open.waitFor();
    await workbench.sendChat('In a file, for now.');
    await chat.getByText('Your answer: In a file, for now.').waitFor();
    await chat.locator('.item.assistant').getByText('Then I know.').waitFor();
    await workbench.picture('agent-question-answered');
    assert.equal(await open.count(), 0);
    assert.equal(await chat.locator('[data-kind="user"]').count(), 1, 'the answer is no prompt');
    const { body } = await server.request(2);
    const results = body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    assert.deepEqual(results, [
      'The user chose "On the server".',
      'The user answered: "In a file, for now."',
    ]);
  },
);

modelTest(
  'after a revert, the chat says that an applied change is still in the files, and opens the undo',
  [
    { text: 'Ready.' },
    {
      toolCalls: [{ name: 'edit_file', arguments: { path: 'src/cart.ts', edits: [{ old: OLD, new: NEW }] } }],
    },
    { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'It counts.' } }] },
    { text: 'Proposed.' },
    { text: 'Applied, thank you.' },
  ],
  async workbench => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await workbench.sendChat('Hello');
    await chat.getByText('Ready.').waitFor();
    await workbench.sendChat('Count every item.');
    await chat.getByText('Proposed.').waitFor();
    await chat.locator('[data-kind="preview"] [data-action="apply"]').click();
    await chat.getByText('Applied, thank you.').waitFor();
    const prompt = chat.locator('[data-kind="user"]').filter({ hasText: 'Count every item.' });
    await prompt.hover();
    await prompt.locator('[data-action="revert"]').click();
    const notice = chat.locator('[data-kind="notice"]').filter({ hasText: '1 applied change' });
    await notice.waitFor();
    assert.equal(await workbench.page.locator('.monaco-dialog-box').count(), 0, 'no dialog');
    await workbench.picture('revert-still-applied');
    // The preview below it is the offer, and the only one.
    assert.equal(await notice.getByRole('button').count(), 0);
    await chat.locator('[data-preview-id="p2"] .card-label').click();
    await workbench.editorTab('cart.ts (Redline)').waitFor();
    await workbench.picture('revert-review-undo');
    // Once it is resolved, there is nothing more to say.
    await chat.locator('[data-kind="preview"] [data-action="apply"]').click();
    await notice.waitFor({ state: 'detached' });
    const text = await workbench.waitForFile('src/cart.ts', found => found?.includes(NEW) === false);
    assert.ok(text?.includes(OLD));
  },
);

modelTest(
  'a notification tells that the agent waits only while neither the chat nor the preview is in sight, and opens the review',
  [
    { text: 'Ready.' },
    { ...stage, delayUntil: new Promise<void>(resolve => (hidden = resolve)) },
    recommend,
    { text: 'Proposed.' },
    { text: 'Applied.' },
  ],
  async workbench => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await workbench.sendChat('Hello');
    await chat.getByText('Ready.').waitFor();
    await workbench.sendChat('Count every item.');
    await chat.locator('[data-kind="user"]').filter({ hasText: 'Count every item.' }).waitFor();
    await workbench.runCommand('View: Show Explorer');
    hidden();
    const toast = workbench.toast('Redline waits for your review: cart.ts:13 price → price * item.quantity');
    await toast.waitFor();
    await workbench.picture('waiting-notification');
    await toast.getByRole('button', { name: 'Review' }).click();
    await workbench.editorTab('cart.ts (Redline)').waitFor();
  },
  { workbench: { settings: { 'redline.preview.open': 'never' } } },
);
