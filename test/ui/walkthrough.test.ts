import assert from 'node:assert/strict';
import * as path from 'node:path';
import type { Locator } from 'playwright-core';
import { RedlineWindow } from './support/redlineWindow.mjs';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { read } from '../support/docs/pages.ts';
import { proposedLine } from './support/diffPage.ts';
import { contextMenu } from './support/menus.ts';
import { uiTest } from './support/uiTest.ts';
import { assertWalkthrough, openWalkthrough, step, walkthrough } from './support/walkthrough.ts';

const english = JSON.parse(read('package.nls.json')) as Record<string, string>;
const pictures = inRepo('out', 'walkthrough-pictures');
const [DARK, LIGHT] = ['Dark 2026', 'Light 2026'];

// languages.test.ts has the themes of high contrast, in the other languages.
uiTest(
  'the walkthrough has pictures for light themes',
  { settings: { 'workbench.colorTheme': LIGHT }, pictures },
  workbench => assertWalkthrough(workbench, english, 'light', LIGHT),
);

uiTest(
  'the walkthrough has pictures for dark themes; its links lead where they say, and tick its steps',
  { settings: { 'workbench.colorTheme': DARK }, pictures },
  async workbench => {
    const list = workbench.page.locator('.quick-input-list');
    const input = workbench.page.locator('.quick-input-widget:visible input.input');
    const follow = async (id: string, link: string): Promise<void> => {
      await openWalkthrough(workbench, 'Get Started with Redline');
      await step(workbench, id).locator('.step-title').click();
      await step(workbench, id).getByRole('button', { name: link, exact: true }).click();
    };
    const setting = (name: string): Locator =>
      workbench.page.locator('.settings-editor .setting-item-title').filter({ hasText: name }).first();
    const ticked = (id: string): Locator =>
      walkthrough(workbench).locator(`.getting-started-step .complete[data-done-step-id$="#${id}"]`);

    await assertWalkthrough(workbench, english, 'dark', DARK);
    await follow('review', 'Open Chat');
    await workbench.chatFrame().locator('textarea#prompt').waitFor();
    await workbench.sendChat('/write a.txt :: a');
    await workbench.statusBarItem('1 pending').waitFor();
    await workbench.runCommand('View: Close All Editors');
    await follow('review', 'Open the First Preview');
    await workbench.editorTab('a.txt (Redline)').waitFor();
    await follow('review', 'Move Chat…');
    await list.getByText('New Secondary Side Bar Entry').waitFor();
    await workbench.page.keyboard.press('Escape');

    await follow('resolve', 'Choose What the Model May Do');
    await setting('Model Authority').waitFor();
    assert.equal(await ticked('resolve').count(), 0);
    await follow('resolve', 'Show Ledger');
    await list.waitFor();
    await workbench.page.keyboard.press('Escape');
    await ticked('resolve').waitFor();

    await follow('discard', 'Open Command Palette');
    assert.equal(await input.inputValue(), '>Redline: Discard All');
    assert.equal(await ticked('discard').count(), 0);
    await workbench.quickPick('Redline: Discard All Previews');
    await workbench.toast('Discarded 1 preview').waitFor();
    assert.equal(workbench.readFile('a.txt'), undefined);
    await openWalkthrough(workbench, 'Get Started with Redline');
    await ticked('discard').waitFor();
    await ticked('review').waitFor();

    await follow('connect', 'Select Model');
    await list.getByText('Set Base URL…').waitFor();
    await workbench.page.keyboard.press('Escape');
    await follow('connect', 'Set API Key');
    await input.waitFor();
    await workbench.page.keyboard.press('Escape');
    assert.equal(await ticked('connect').count(), 0);
  },
);

uiTest(
  'the tour opens in a window of its own: its test fails, a proposal passes it, a hunk is refused, and only then the disk changes',
  { viewport: { width: 1400, height: 900 } },
  async workbench => {
    await openWalkthrough(workbench, 'Get Started with Redline');
    await step(workbench, 'review').locator('.step-title').click();
    const opened = workbench.page.context().waitForEvent('page');
    await step(workbench, 'review').getByRole('button', { name: 'Open the Tour', exact: true }).click();
    const tour = new RedlineWindow(
      path.join(workbench.userDataDir, 'User', 'globalStorage', 'redline.redline', 'tour'),
    );
    tour.pictures = String(workbench.pictures);
    tour.show(await opened);
    await tour.waitForRedline();
    const chat = tour.chatFrame();
    const file = 'src/cart.js';
    const code = tour.readFile(file);

    // The chat is there by itself, and its first example is the tour.
    await chat.getByRole('button', { name: '/tour', exact: true }).click();
    await chat.locator('textarea#prompt').press('Enter');
    await chat.getByText('The test did not run by itself').last().waitFor();
    await chat.getByText('My second hunk renames the total').waitFor();
    await tour.picture('tour-proposed');
    await tour.chatCard('cart.js').getByRole('button', { name: 'Run Checks' }).click();
    const dialog = tour.page.locator('.monaco-dialog-box');
    await dialog.getByText('test: node --test').waitFor();
    await dialog.getByRole('button', { name: 'Approve and Run' }).click();
    await tour
      .chatCard('cart.js')
      .getByRole('button', { name: /^The check test passed/ })
      .waitFor();
    await tour.picture('tour-green');
    assert.equal(tour.readFile(file), code);

    await tour.editorTab('cart.js (Redline)').click();
    await tour.page.keyboard.press('Control+End');
    await contextMenu(tour, proposedLine(tour, 'Grand total'), 'Discard Hunk with Reason…');
    await tour.page.locator('.quick-input-widget:visible input.input').fill('Keep “Total”.');
    await tour.page.keyboard.press('Enter');
    await chat.getByText('The other hunk still waits for you').waitFor();
    await tour.picture('tour-refused');
    assert.equal(tour.readFile(file), code);
    await tour.lens('Apply').first().click();
    await tour.waitForFile(
      file,
      text => text === code?.replace('sum += item.price;', 'sum += item.price * item.quantity;'),
    );
    // The answer names the file, and opens it.
    await chat.getByText('holds what you applied').getByRole('button', { name: file }).click();
    await tour.editorTab('cart.js').waitFor();
    await tour.picture('tour-applied');
  },
);
