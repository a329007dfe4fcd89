import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import type { Workbench } from '../../scripts/headless/workbench.mjs';
import { readTexts } from '../../scripts/l10n/translations.mjs';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { read } from '../support/docs/pages.ts';
import { uiTest } from './support/uiTest.ts';

const english = JSON.parse(read('package.nls.json')) as Record<string, string>;
const { translations } = readTexts();
const STEPS = ['review', 'resolve', 'discard', 'connect'] as const;
const pictures = inRepo('out', 'walkthrough-pictures');

const page = (workbench: Workbench): Locator => workbench.page.locator('.gettingStartedContainer');
const step = (workbench: Workbench, id: string): Locator =>
  page(workbench).locator(`.getting-started-step[data-step-id$="#${id}"]`);

async function openWalkthrough(workbench: Workbench, title: string): Promise<void> {
  await workbench.runCommand('Welcome: Open Walkthrough...');
  await workbench.quickPick(title);
  await step(workbench, 'connect').waitFor();
}

/** What is used here of an `HTMLImageElement`. */
interface PageImage {
  readonly currentSrc: string;
  readonly alt: string;
  decode(): Promise<void>;
}

/** Unfolds a step, and returns the picture beside it once it is loaded. */
async function pictureOf(workbench: Workbench, id: string): Promise<{ file: string; alt: string }> {
  // The step that is unfolded has its description, and a click on that does nothing.
  await step(workbench, id).locator('.step-title').click();
  const image = page(workbench).locator(`.getting-started-media img[srcset*="${id}-"]`);
  await image.waitFor();
  return image.evaluate(async element => {
    const shown = element as unknown as PageImage;
    await shown.decode(); // rejects if it cannot be loaded
    const file = new URL(shown.currentSrc).searchParams.get('path');
    return { file: file?.split('/').at(-1) ?? '', alt: shown.alt };
  });
}

/** What the walkthrough says in the language, with the pictures for light or for dark themes. */
async function assertShown(
  workbench: Workbench,
  texts: Record<string, string>,
  shade: string,
  theme: string,
): Promise<void> {
  for (const id of STEPS) {
    const said = (part: string): string => texts[`walkthrough.${id}.${part}`] ?? assert.fail(`${id} ${part}`);
    assert.deepEqual(await pictureOf(workbench, id), { file: `${id}-${shade}.png`, alt: said('alt') });
    await step(workbench, id).getByText(said('title'), { exact: true }).waitFor();
    for (const [, label = ''] of said('description').matchAll(/^\[(.+)\]\(command:/gm))
      await step(workbench, id).getByRole('button', { name: label, exact: true }).waitFor();
    await workbench.screenshot(`${id} in ${theme}`);
  }
}

/** Each kind of theme, and each language, once. */
const SHOWN: readonly (readonly [shade: string, theme: string, language?: string])[] = [
  ['dark', 'Dark 2026'],
  ['light', 'Light 2026'],
  ['dark', 'Default High Contrast', 'zh-cn'],
  ['light', 'Default High Contrast Light', 'de'],
];
for (const [shade, theme, language] of SHOWN)
  uiTest(
    `the walkthrough is told in the language ${language ?? 'en'} with pictures in the theme ${theme}`,
    { settings: { 'workbench.colorTheme': theme }, pictures, ...(language !== undefined && { language }) },
    async workbench => {
      const texts = language === undefined ? english : translations[language]?.manifest;
      assert.ok(texts);
      await openWalkthrough(workbench, texts['walkthrough.title'] ?? assert.fail('no title'));
      await assertShown(workbench, texts, shade, theme);
    },
  );

test('each translation is shown in one of the themes', () => {
  assert.deepEqual(
    SHOWN.flatMap(([, , language]) => language ?? []).sort(),
    Object.keys(translations).sort(),
  );
});

uiTest(
  'the links of the walkthrough lead where they say, and tick its steps',
  { pictures },
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
      page(workbench).locator(`.getting-started-step .complete[data-done-step-id$="#${id}"]`);

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
