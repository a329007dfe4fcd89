/** The walkthrough on VS Code's welcome page. */
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import type { Workbench } from './workbench.mjs';

const STEPS = ['review', 'resolve', 'discard', 'connect'] as const;

export const walkthrough = (workbench: Workbench): Locator =>
  workbench.page.locator('.gettingStartedContainer');
export const step = (workbench: Workbench, id: string): Locator =>
  walkthrough(workbench).locator(`.getting-started-step[data-step-id$="#${id}"]`);

/** @param title as the walkthrough's list shows it */
export async function openWalkthrough(workbench: Workbench, title: string): Promise<void> {
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
  const image = walkthrough(workbench).locator(`.getting-started-media img[srcset*="${id}-"]`);
  await image.waitFor();
  return image.evaluate(async element => {
    const shown = element as unknown as PageImage;
    await shown.decode(); // rejects if it cannot be loaded
    const file = new URL(shown.currentSrc).searchParams.get('path');
    return { file: file?.split('/').at(-1) ?? '', alt: shown.alt };
  });
}

/**
 * Opens the walkthrough, and asserts that it says what the texts say, with the pictures for light or for dark themes.
 * @param texts of the manifest, in the language of the window
 * @param theme for the names of pictures
 */
export async function assertWalkthrough(
  workbench: Workbench,
  texts: Record<string, string>,
  shade: 'dark' | 'light',
  theme: string,
): Promise<void> {
  await openWalkthrough(workbench, texts['walkthrough.title'] ?? assert.fail('no title'));
  for (const id of STEPS) {
    const said = (part: string): string => texts[`walkthrough.${id}.${part}`] ?? assert.fail(`${id} ${part}`);
    assert.deepEqual(await pictureOf(workbench, id), { file: `${id}-${shade}.png`, alt: said('alt') });
    await step(workbench, id).getByText(said('title'), { exact: true }).waitFor();
    for (const [, label = ''] of said('description').matchAll(/^\[(.+)\]\(command:/gm))
      await step(workbench, id).getByRole('button', { name: label, exact: true }).waitFor();
    await workbench.picture(`walkthrough ${id} in ${theme}`);
  }
}
