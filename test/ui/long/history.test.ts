/** The conversation's tree by the real view and the real buttons: back, over to other branches, other conversations. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import type { Workbench } from '../support/workbench.mjs';
import { modelTest } from '../support/uiTest.ts';

const THEMES = { dark: 'Default Dark Modern', 'high-contrast': 'Default High Contrast' };
const SETTINGS = {
  'files.simpleDialog.enable': true,
  'window.dialogStyle': 'custom',
};

const view = (workbench: Workbench) =>
  workbench.page
    .locator('.pane')
    .filter({ has: workbench.page.locator('.pane-header').filter({ hasText: /^History/ }) });
const row = (workbench: Workbench, text: string | RegExp) =>
  view(workbench).locator('.monaco-list-row').filter({ hasText: text }).first();

async function rowAction(workbench: Workbench, text: string | RegExp, action: string): Promise<void> {
  await row(workbench, text).hover();
  await row(workbench, text).getByRole('button', { name: action }).click();
}

/** Shows the view and draws its edge up: rows that are out of sight are not there. */
async function showHistory(workbench: Workbench): Promise<void> {
  await workbench.runCommand('Redline: Focus on History View');
  const { mouse } = workbench.page;
  // A view that is still being laid out has its edge elsewhere a moment later.
  await view(workbench).locator('.monaco-list-row').first().waitFor();
  for (let tries = 0; tries < 5; tries++) {
    const box = await view(workbench).boundingBox();
    assert.ok(box);
    if (box.height >= 400) return;
    const middle = box.x + box.width / 2;
    await mouse.move(middle, box.y);
    await mouse.down();
    await mouse.move(middle, box.y - 400, { steps: 8 });
    await mouse.up();
  }
  assert.fail('the view did not become larger');
}

/** Draws the side bar's edge to the right: whole rows can be read. */
async function widenSideBar(workbench: Workbench): Promise<void> {
  const sideBar = workbench.page.locator('.part.sidebar');
  const before = await sideBar.boundingBox();
  assert.ok(before);
  if (before.width >= 500) return; // the window remembers it, or does not, when it is loaded anew
  await workbench.resizeSideBar(before.width + 220);
  const after = await sideBar.boundingBox();
  assert.ok(after && after.width > before.width + 150, 'the side bar is wider');
}

/** Says something and waits for the answer. */
async function say(workbench: Workbench, prompt: string, answer: string): Promise<void> {
  await workbench.sendChat(prompt);
  await workbench.chatFrame().locator('.log').getByText(answer).last().waitFor();
}

const said = (workbench: Workbench): Promise<string[]> =>
  workbench.chatFrame().locator('[data-kind="user"] .bubble').allTextContents();

const pickRow = (workbench: Workbench, text: string) =>
  workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();

async function pickAction(workbench: Workbench, text: string, action: string): Promise<void> {
  await pickRow(workbench, text).hover();
  await pickRow(workbench, text).locator(`a[aria-label="${action}"]`).click();
}

modelTest(
  'history: three branches with tags, back by the view and by the chat, over to another branch',
  [
    { text: 'I would patch the generated parser.' },
    { text: 'I would add a second cart.' },
    { text: 'The tax is rounded in money.ts.' },
    { text: 'Multiply the price by the quantity.' },
    { text: 'There is one test to change.' },
    { text: 'Multiply, and round once.' },
  ],
  async (workbench, server) => {
    const chat = workbench.chatFrame();
    const input = chat.locator('#prompt');
    await workbench.openRedlineChat();
    await say(workbench, 'Fix the total in the cart.', 'generated parser');
    await say(workbench, '/revert n0 failure The parser is generated: do not patch it.', 'reverted to n0');
    await say(workbench, 'Try without the parser.', 'second cart');
    await say(workbench, '/revert n0 tangent A second cart is not needed.', 'reverted to n0');
    await say(workbench, 'Where is the tax rounded?', 'rounded in money.ts');
    await say(workbench, '/revert n0 completion The tax is rounded in money.ts.', 'reverted to n0');
    await say(workbench, 'Now fix it.', 'price by the quantity');
    await say(workbench, 'Which tests change?', 'one test');

    await showHistory(workbench);
    for (const tag of ['Lesson: The parser', 'Finding: A second', 'Outcome: The tax'])
      await row(workbench, tag).waitFor();
    assert.match(await row(workbench, 'Fix the total in the cart.').innerText(), /current/);
    for (const [name, theme] of Object.entries(THEMES)) {
      await workbench.updateSettings({ 'workbench.colorTheme': theme });
      await workbench.openRedlineChat();
      await showHistory(workbench);
      await widenSideBar(workbench); // the window was loaded anew
      await row(workbench, 'Lesson: The parser').waitFor();
      await workbench.screenshot(`history-${name}`);
    }

    // By the chat: what is typed stays, behind the prompt that comes back.
    await input.fill('A draft.');
    const bubble = chat.locator('[data-kind="user"]').filter({ hasText: 'Now fix it.' });
    await bubble.hover();
    await bubble.getByRole('button', { name: 'Revert to Here and Edit the Prompt' }).click();
    await bubble.waitFor({ state: 'detached' });
    assert.equal(await input.inputValue(), 'Now fix it.\n\nA draft.');
    await say(workbench, 'Now fix it, and round.', 'round once');
    const messages = JSON.stringify(server.requests.at(-1)?.body.messages);
    assert.match(messages, /The parser is generated/);
    assert.doesNotMatch(messages, /one test|Multiply the price/);

    // The branch that was left is there, and can be gone over to.
    await rowAction(workbench, /^Which tests change\?.*messages/, 'Switch to This Branch');
    await chat.locator('.log').getByText('one test').waitFor();
    assert.equal((await said(workbench)).at(-1)?.includes('Which tests change?'), true);

    // An answer, by the keyboard alone.
    const answer = chat.locator('[data-kind="assistant"]').filter({ hasText: 'Multiply the price' });
    await answer.getByRole('button', { name: 'Revert to Here' }).focus();
    await workbench.page.keyboard.press('Enter');
    await chat.locator('.log').getByText('one test').waitFor({ state: 'detached' });
    await answer.waitFor();
  },
  { workbench: { settings: SETTINGS, viewport: { width: 1200, height: 1300 } } },
);

modelTest(
  'sessions: listed, opened again after a reload, renamed, exported and deleted',
  [{ text: 'First answer.' }, { text: 'Second answer.' }],
  async workbench => {
    const chat = workbench.chatFrame();
    await workbench.openRedlineChat();
    await say(workbench, 'About the cart.', 'First answer.');
    await workbench.runCommand('Redline: New Session');
    await chat.locator('.empty-title').waitFor();
    await say(workbench, 'About the tax.', 'Second answer.');

    await workbench.runCommand('Redline: Open Session…');
    await pickRow(workbench, 'About the tax.').filter({ hasText: 'current' }).waitFor();
    await workbench.screenshot('sessions');
    await pickAction(workbench, 'About the cart.', 'Rename');
    await workbench.answerInput('The cart');
    await pickRow(workbench, 'The cart').waitFor();
    await workbench.quickPick('The cart');
    await chat.locator('.log').getByText('First answer.').waitFor();
    assert.deepEqual(await said(workbench), ['You: About the cart.']);
    await workbench.runCommand('Redline: Focus on History View');
    await row(workbench, 'About the cart.').waitFor();

    // It was used last, and is open again.
    await workbench.reload();
    await workbench.openRedlineChat();
    await chat.locator('.log').getByText('First answer.').waitFor();

    await workbench.runCommand('Redline: Export Session…');
    // VS Code shows the folder first, and then puts the file's name behind it.
    await workbench.page.waitForFunction(
      "[...document.querySelectorAll('.quick-input-widget input.input')].some(({ value }) => value.endsWith('/The-cart.md'))",
    );
    await workbench.page.keyboard.press('Enter');
    const markdown = await workbench.waitForFile('The-cart.md', text => text !== undefined && text !== '');
    assert.match(
      markdown ?? '',
      /^# The cart\n\n## You\n\nAbout the cart\.\n\n> \*\*Settings\*\*: model `openai:\S+:scripted`, authority `recommend`, [^\n]+\n\n## Redline\n\nFirst answer\.\n$/,
    );
    await workbench.toast('Exported the session to The-cart.md.').waitFor();

    await workbench.runCommand('Redline: Rename Session…');
    await workbench.answerInput('Cart and more');
    await view(workbench).getByText('Cart and more').waitFor();

    // The open one: a new one is begun, and nothing of it is left.
    await workbench.runCommand('Redline: Delete Session…');
    const dialog = workbench.page.locator('.monaco-dialog-box');
    await dialog.getByText('Delete the session “Cart and more”?').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await chat.locator('.empty-title').waitFor();
    await workbench.runCommand('Redline: Open Session…');
    await pickRow(workbench, 'About the tax.').waitFor();
    assert.equal(await pickRow(workbench, 'Cart and more').count(), 0);
    await pickAction(workbench, 'About the tax.', 'Delete');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await pickRow(workbench, 'About the tax.').waitFor();
    await workbench.page.keyboard.press('Escape');
    const logs = fs
      .readdirSync(workbench.userDataDir, { recursive: true, encoding: 'utf8' })
      .filter(name => name.includes('sessions') && name.endsWith('.jsonl'));
    assert.equal(logs.length, 1);
  },
  { workbench: { settings: SETTINGS } },
);
