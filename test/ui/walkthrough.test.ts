import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { read } from '../support/docs/pages.ts';
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
    await workbench.editorTab('a.txt (Redline p1)').waitFor();
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
