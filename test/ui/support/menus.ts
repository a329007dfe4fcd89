import type { Locator } from 'playwright-core';
import { TIMEOUT_MS, type VscodeWindow } from './vscodeWindow.mjs';
import type { Workbench } from './workbench.mjs';

/** Chooses an entry of a context menu. */
export async function contextMenu(workbench: VscodeWindow, on: Locator, label: string): Promise<void> {
  await choose(workbench, label, () => on.click({ button: 'right' }));
}

/** Chooses an entry of the More Actions menu in the active editor's title. */
export async function editorOverflow(workbench: Workbench, label: string): Promise<void> {
  await choose(workbench, label, () => workbench.editorTitleAction('More Actions').click());
}

/** Chooses an entry of the More Actions menu in a view's title. */
export async function viewOverflow(workbench: Workbench, view: string, label: string): Promise<void> {
  const title = workbench.page.locator('.pane-header').filter({ hasText: view });
  const button = 'a[aria-label^="Views and More Actions"], a[aria-label^="More Actions"]';
  await choose(workbench, label, async () => {
    await title.hover();
    await title.locator(button).click();
  });
}

/** Opens a menu and chooses an entry; once more if the menu closes before the click. */
async function choose(workbench: VscodeWindow, label: string, open: () => Promise<void>): Promise<void> {
  do await openMenu(workbench, label, open);
  while (!(await chooseInMenu(workbench, label)));
}

/**
 * Opens a menu until it stays: VS Code closes a menu when an editor or a view that was still opening takes the focus.
 * @param label one of its entries
 */
async function openMenu(workbench: VscodeWindow, label: string, open: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    await open();
    try {
      return await entryOf(workbench, label).waitFor({ timeout: TIMEOUT_MS / 20 });
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

/**
 * A menu that has just opened may ignore a click, so the click is repeated until the menu closes.
 * @returns whether there was a click
 */
async function chooseInMenu(workbench: VscodeWindow, label: string): Promise<boolean> {
  const entry = entryOf(workbench, label);
  const hasArrived = await workbench.noteClicks('.monaco-menu .action-menu-item');
  let isClicked = false;
  for (let tries = 0; tries < 10 && (await entry.isVisible()); tries++) {
    await entry.click({ timeout: 5_000 }).then(
      () => (isClicked = true),
      () => undefined,
    );
    await entry.waitFor({ state: 'detached', timeout: 2_000 }).catch(() => undefined);
  }
  return isClicked || hasArrived();
}

const entryOf = ({ page }: VscodeWindow, label: string): Locator =>
  page.locator('.monaco-menu .action-menu-item').filter({ hasText: label }).first();
