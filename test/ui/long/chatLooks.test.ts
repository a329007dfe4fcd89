import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Workbench } from '../support/workbench.mjs';
import { limitMs } from '../../../scripts/lib/limits.mjs';
import { inRepo } from '../../../scripts/lib/paths.mjs';
import { startScriptedServer, type Script } from '../../support/scriptedServer.ts';
import { axeViolations, buttonNames, unnamedControls, unreachableByKeyboard } from '../support/chatChecks.ts';

const THEMES = {
  dark: 'Default Dark Modern',
  light: 'Default Light Modern',
  'high-contrast': 'Default High Contrast',
  'high-contrast-light': 'Default High Contrast Light',
};
/** Five windows are drawn. */
const LONG = { timeout: limitMs(500_000) };
const CART = 'src/cart.ts';
const edit = (old: string, replacement: string) => ({
  toolCalls: [{ name: 'edit_file', arguments: { path: CART, edits: [{ old, new: replacement }] } }],
});
/** In the mode Review, the model is asked only when its turn would end: before that, a vote names what it is about. */
const resolve = (action: string, id: string, reason: string) => ({
  toolCalls: [{ name: 'resolve', arguments: { action, id, reason } }],
});

/** A conversation in which everything appears that the chat can show. */
const EVERYTHING: Script = [
  {
    text: 'Let me **read** [the file](https://example.com) first.',
    toolCalls: [
      { name: 'read_file', arguments: { path: CART } },
      { name: 'read_file', arguments: { path: 'src/missing.ts' } },
    ],
  },
  edit('let total = 0;', 'let total = 1;'),
  resolve('discard', 'p1', 'That was wrong.'),
  edit('total += item.price;', 'total += item.price * item.quantity;'),
  resolve('apply', 'p2', 'The total counts every item now.'),
  { text: 'Please look at it:\n\n```ts\ntotal += item.price * item.quantity;\n```\n\n> It was `off`.' },
  { status: 400, body: { error: { message: 'The request was refused.' } } },
];

async function showEverything(workbench: Workbench): Promise<void> {
  const chat = workbench.chatFrame();
  await workbench.openRedlineChat();
  await workbench.sendChat('/tools');
  await chat.locator('#prompt').pressSequentially('Fix @cart');
  await chat.locator('.suggestion').first().waitFor();
  await workbench.page.keyboard.press('Enter');
  await workbench.page.keyboard.press('Enter');
  await chat.locator('.log').getByText('Please look at it').waitFor();
  await workbench.sendChat('Anything else?');
  await chat.locator('[data-kind="error"]').waitFor();
  // It outlasts the reload of the window that goes with each theme.
  await chat.getByRole('button', { name: 'Plan' }).click();
  await chat.locator('[aria-pressed="true"]').waitFor();
}

/** Every button of that conversation by its name, in the order of the keyboard. */
const BUTTONS = [
  'Revert to Here and Edit the Prompt',
  ...['Copy the Answer', 'Revert to Here', 'Copy', 'Copy the Answer', 'Revert to Here'],
  ...[
    'cart.ts src modified discarded +1 −1',
    'cart.ts src modified +1 −1',
    'Review 1 file',
    'More for 1 file',
  ],
  'Revert to Here and Edit the Prompt',
  ...['Try Again', 'Show Log'],
  'Token use: # tokens',
  ...['Remove src/cart.ts', 'Attach a File or the Selection', 'Plan'],
  'Model: scripted (127.0.0.1:#). Choose another',
  'Send',
];

/** Unfolds and opens what is folded, so that it is seen and checked. */
async function unfold(workbench: Workbench): Promise<void> {
  const chat = workbench.chatFrame();
  await chat.locator('summary').first().click();
  await chat.locator('[data-action="usage"]').click();
  await chat.locator('[aria-pressed="true"]').waitFor();
  await workbench.openFile(CART);
  await workbench.runCommand('Redline: Add to Redline Chat');
  await chat.locator('.composer .chip').first().waitFor();
}

test('the chat in dark, light and high contrast, by keyboard, and at 200 % zoom', LONG, async t => {
  const server = await startScriptedServer(EVERYTHING);
  const workbench = await Workbench.open({
    pictures: inRepo('out', 'chat-pictures'),
    viewport: { width: 1200, height: 1400 },
    settings: { 'redline.openai.baseUrl': server.baseUrl, 'redline.openai.model': 'scripted' },
  });
  t.after(async () => {
    await workbench.screenshot('last');
    await workbench.close();
    await server.close();
  });
  await showEverything(workbench);
  const found: [name: string, violations: readonly string[]][] = [];
  for (const [name, theme] of Object.entries(THEMES)) {
    await workbench.updateSettings({ 'workbench.colorTheme': theme });
    await workbench.openRedlineChat();
    await unfold(workbench);
    await workbench.screenshot(name);
    found.push([name, await axeViolations(workbench)]);
    await workbench.chatFrame().locator('#prompt').fill('/');
    await workbench.chatFrame().locator('.suggestion').first().waitFor();
    await workbench.screenshot(`${name}-list`);
    found.push([`${name}, with the list of commands`, await axeViolations(workbench)]);
    await workbench.chatFrame().locator('#prompt').fill('');
  }
  assert.deepEqual(
    found.filter(([, violations]) => violations.length > 0),
    [],
  );
  assert.deepEqual(await unnamedControls(workbench), []);
  // It is there as long as something is below, which whoever goes on by keyboard brings into view.
  const toEnd = workbench.chatFrame().getByRole('button', { name: 'Scroll to End' });
  await toEnd.click();
  await toEnd.waitFor({ state: 'hidden' });
  const numbers = /(?<=127.0.0.1:|Token use: )[\d.]+K?/;
  const names = (await buttonNames(workbench)).map(name => name.replace(numbers, '#'));
  assert.deepEqual(names, BUTTONS);
  assert.deepEqual(await unreachableByKeyboard(workbench), []);
  // What a window at 200 % has: half the room.
  await workbench.page.setViewportSize({ width: 600, height: 700 });
  await workbench.screenshot('zoom-200');
  const cut = await workbench
    .chatFrame()
    .locator('button, select, textarea, .bubble')
    .filter({ visible: true })
    .evaluateAll(all =>
      all
        .filter(
          one => one.getBoundingClientRect().right > one.ownerDocument.documentElement.clientWidth + 0.5,
        )
        .map(one => one.outerHTML),
    );
  assert.deepEqual(cut, []);
  assert.deepEqual(server.violations, []);
});
