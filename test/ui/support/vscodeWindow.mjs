/** A VS Code window in a browser page, as a user sees and clicks it, with or without extensions. */
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { limitMs } from '../../../scripts/lib/limits.mjs';
import { inRepo } from '../../../scripts/lib/paths.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').Locator} Locator */

/** How long a step waits before it fails, in milliseconds. */
export const TIMEOUT_MS = limitMs(40_000);

/** Where pictures are kept, unless a window is told otherwise. */
export const PICTURES = inRepo('out', 'pictures');

/** The entries of the open quick pick. */
const PICKS = '.quick-input-list .monaco-list-row';

/**
 * Methods that click or type wait for their target, at most `TIMEOUT_MS`. Methods that return a locator
 * do not wait: the locator does, when it is clicked or read.
 */
export class VscodeWindow {
  /** The page that shows the window. @type {Page} */
  page;
  /** The folder that `screenshot` writes to. */
  pictures = PICTURES;

  /** @param {Page} page */
  show(page) {
    this.page = page;
    page.setDefaultTimeout(TIMEOUT_MS);
  }

  /**
   * Runs a command from the command palette.
   * @param {string} title as the palette shows it, with its category: `Redline: New Session`
   * @throws {Error} when the palette does not offer exactly that
   */
  async runCommand(title) {
    await this.#pickAfter('F1', `>${title}`, title);
  }

  /**
   * Opens a list by a key, filters it, and chooses an entry. A window that is still loading may lose the key or close the
   * list, and a list does not grow once it is open: so it is opened again and again, until the click reaches an entry.
   */
  async #pickAfter(key, filter, label) {
    let tries = 0;
    const pick = async () => {
      if (tries++ > 0) {
        await this.page.keyboard.press('Escape');
        // A page in the window, such as the chat, may not pass the key on.
        await this.page.evaluate(() => document.activeElement?.blur());
      }
      const timeout = TIMEOUT_MS / (tries === 1 ? 16 : 8);
      await this.page.keyboard.press(key);
      await this.#quickInput().fill(filter, { timeout });
      await this.quickPick(label, timeout);
    };
    await this.#clickUntilItArrives(PICKS, pick).catch(async error => {
      throw new Error(await this.#listState(label), { cause: error });
    });
  }

  /**
   * Chooses an entry of the open quick pick: the palette, the file list, or one that an extension shows.
   * @param {string} label the entry's whole label
   * @param {number} [timeout] in milliseconds
   */
  async quickPick(label, timeout = TIMEOUT_MS) {
    const rows = this.page.locator(PICKS);
    const exact = this.page
      .locator('.monaco-highlighted-label, .label-name')
      .getByText(label, { exact: true });
    await rows.filter({ has: exact }).first().click({ timeout });
  }

  /** Says what the list shows instead of an entry. */
  async #listState(label) {
    const typed = await this.#quickInput().evaluateAll(([input]) => input?.value);
    const shown = await this.page.locator(PICKS).filter({ visible: true }).allInnerTexts();
    const state = typed === undefined ? 'No list is open' : `"${typed}" lists ${JSON.stringify(shown)}`;
    return `"${label}" could not be chosen. ${state}.`;
  }

  /**
   * Fills in the input box that an extension shows, and accepts it.
   * @param {string} text
   */
  async answerInput(text) {
    // The quick pick that led here may still be shown in its place.
    const input = this.page
      .locator('.quick-input-widget:visible')
      .filter({ hasNot: this.page.locator('.quick-input-list:visible') })
      .locator('input.input');
    await input.fill(text);
    await input.press('Enter');
  }

  #quickInput() {
    return this.page.locator('.quick-input-widget:visible input.input');
  }

  /**
   * Opens a file of the workspace in a text editor, and waits until that editor takes the keys.
   * @param {string} relative path with slashes
   */
  async openFile(relative) {
    const name = path.posix.basename(relative);
    await this.#pickAfter('Control+P', relative, name);
    // By its whole title: until then, a preview of the same file may be the active tab.
    const group = '.editor-group-container.active';
    const tab = `${group} .tab.active`;
    await this.page.locator(`${tab}[aria-label="${name}"], ${tab}[aria-label^="${name}, "]`).waitFor();
    await this.page.locator(`${group} .editor-instance > .monaco-editor.focused`).waitFor();
  }

  /**
   * An editor's tab.
   * @param {string} title or a part of it
   * @returns {Locator}
   */
  editorTab(title) {
    return this.page.locator('.tabs-container .tab').filter({ hasText: title }).first();
  }

  /**
   * A button at the top right of the active editor.
   * @param {string} label its tooltip, or the beginning
   * @returns {Locator}
   */
  editorTitleAction(label) {
    return this.page
      .locator(`.editor-group-container.active .editor-actions a[aria-label^="${label}"]`)
      .first();
  }

  /**
   * A code lens on the modified side of the diff editor or multi-file diff that is shown, or in the editor of a whole file.
   * @param {string} title the lens's text, or its beginning
   * @returns {Locator}
   */
  lens(title) {
    const diff = '.monaco-diff-editor .editor.modified .codelens-decoration a';
    const multi = '.multiDiffEntry .editor.modified .codelens-decoration a';
    const alone = '.editor-instance > .monaco-editor .codelens-decoration a';
    return this.page
      .locator(`${diff}, ${multi}, ${alone}`)
      .filter({ hasText: startsWith(title) })
      .first();
  }

  /**
   * An entry of the status bar.
   * @param {string | RegExp} text or a part of it
   * @returns {Locator}
   */
  statusBarItem(text) {
    return this.page.locator('.statusbar-item').filter({ hasText: text }).locator('a').first();
  }

  /**
   * An icon of the activity bar.
   * @param {string} label its name, or the beginning
   * @returns {Locator}
   */
  activityBarItem(label) {
    return this.page.locator(`.activitybar .action-item a[aria-label^="${label}"]`).first();
  }

  /**
   * The number or text on an icon of the activity bar; matches nothing when there is none.
   * @param {string} label
   * @returns {Locator}
   */
  badge(label) {
    const item = `.activitybar .action-item:has(a[aria-label^="${label}"])`;
    return this.page.locator(`${item} .badge-content`).filter({ hasText: /\S/ });
  }

  /**
   * A row of a tree view. Its inline buttons appear on hover: click them with `treeAction`.
   * @param {string | RegExp} text or a part of it
   * @returns {Locator}
   */
  treeRow(text) {
    return this.page.locator('.pane-body .monaco-list-row').filter({ hasText: text }).first();
  }

  /**
   * Clicks a tree row. A click whose row is redrawn between press and release reaches no row; it is made again.
   * @param {string | RegExp} text or a part of it
   */
  clickTreeRow(text) {
    return this.#clickUntilItArrives('.monaco-list-row', () =>
      this.treeRow(text).click({ timeout: TIMEOUT_MS / 20 }),
    );
  }

  /**
   * Clicks an inline button of a tree row.
   * @param {string} row
   * @param {string} label the button's tooltip, or the beginning
   */
  async treeAction(row, label) {
    const button = `a[aria-label^="${label}"]`;
    await this.#clickUntilItArrives(button, async () => {
      // A tree that was redrawn shows the buttons only once the mouse moves.
      await this.page.mouse.move(0, 0);
      await this.treeRow(row).hover();
      await this.treeRow(row)
        .locator(button)
        .first()
        .click({ timeout: TIMEOUT_MS / 20 });
    });
  }

  /**
   * Clicks again until the target got the click.
   * @param {string} selector of the target, which may be around the clicked element
   * @param {() => Promise<void>} click
   */
  async #clickUntilItArrives(selector, click) {
    const deadline = Date.now() + TIMEOUT_MS;
    const hasArrived = await this.noteClicks(selector);
    for (;;) {
      /** @type {unknown} */
      let failure = new Error(`No click reached ${selector}.`);
      await click().catch(error => (failure = error));
      if (await hasArrived()) return;
      if (Date.now() > deadline) throw failure;
    }
  }

  /**
   * Notes clicks from now on. A click that fails may have reached its target all the same: the window was too busy with what it
   * began to answer in time. It must not be made again.
   * @param {string} selector of the target, which may be around the clicked element
   * @returns {Promise<() => Promise<boolean>>} whether there was one
   */
  async noteClicks(selector) {
    const noted = await this.page.evaluateHandle(selector => {
      const clicks = { count: 0 };
      const note = event => {
        if (event.composedPath().some(each => each instanceof Element && each.matches(selector)))
          clicks.count++;
      };
      document.addEventListener('click', note, { capture: true });
      return clicks;
    }, selector);
    // What a click begins may replace the page.
    return () => noted.evaluate(({ count }) => count > 0).catch(() => true);
  }

  /**
   * Unfolds or folds a row of a tree view. A click that meets a redraw of the row is lost, so the row is looked at afterwards.
   * @param {string | Locator} row its text or a part of it, or itself
   * @param {'expanded' | 'collapsed'} state
   */
  async setTreeRow(row, state) {
    const twistie = (typeof row === 'string' ? this.treeRow(row) : row).locator('.monaco-tl-twistie');
    const isDone = async () =>
      (await twistie.evaluate(({ classList }) => classList.contains('collapsed'))) ===
      (state === 'collapsed');
    const deadline = Date.now() + TIMEOUT_MS;
    while (!(await isDone())) {
      if (Date.now() > deadline) throw new Error(`${row} could not be ${state}.`);
      await twistie.click();
      for (const soon = Date.now() + TIMEOUT_MS / 20; Date.now() < soon && !(await isDone());)
        await delay(50);
    }
  }

  /**
   * A button in the title of a view.
   * @param {string} label its tooltip, or the beginning
   * @returns {Locator}
   */
  viewTitleAction(label) {
    const places = ['.pane-header .actions', '.composite.title .title-actions'];
    return this.page.locator(places.map(place => `${place} a[aria-label^="${label}"]`).join(', ')).first();
  }

  /**
   * Drags the edge of the side bar.
   * @param {number} width of the side bar, in pixels
   */
  async resizeSideBar(width) {
    const { mouse } = this.page;
    const sideBar = await this.page.locator('.part.sidebar').boundingBox();
    const sashes = await this.page.locator('.monaco-sash.vertical').all();
    const boxes = (await Promise.all(sashes.map(sash => sash.boundingBox()))).filter(box => box !== null);
    const distance = box => Math.abs(box.x + box.width / 2 - sideBar.x - sideBar.width);
    const [sash] = boxes.toSorted((one, other) => distance(one) - distance(other));
    const [edge, middle] = [sash.x + sash.width / 2, sash.y + sash.height / 2];
    const target = edge + width - sideBar.width;
    await mouse.move(edge, middle);
    await mouse.down();
    await mouse.move(target, middle, { steps: 8 });
    await mouse.up();
    await mouse.move(target + 100, middle); // the edge is lit as long as the mouse is on it
    await this.page.locator('.monaco-sash.hover').waitFor({ state: 'detached' });
  }

  /**
   * A notification.
   * @param {string} text or a part of it
   * @returns {Locator}
   */
  toast(text) {
    return this.page.locator('.notification-toast').filter({ hasText: text }).first();
  }

  /**
   * Takes a picture that someone may want to look at: only if REDLINE_PICTURES is set, since it is no part of a test.
   * @param {string} name as in `screenshot`
   */
  async picture(name) {
    if (process.env.REDLINE_PICTURES) await this.screenshot(name);
  }

  /**
   * Takes a picture of the window, with the mouse out of the way.
   * @param {string} name becomes `<name>.png`
   * @returns {Promise<string>} the file's path
   */
  async screenshot(name) {
    const file = path.join(this.pictures, `${name.replace(/[^\w.-]+/g, '-')}.png`);
    await this.page.mouse.move(0, 0);
    // A hover that the keyboard opened stays: then the picture is taken with it.
    const hover = this.page.locator('.monaco-hover:visible').first();
    await hover.waitFor({ state: 'detached', timeout: TIMEOUT_MS / 20 }).catch(() => {});
    await this.page.screenshot({ path: file });
    return file;
  }
}

/** Matches text that begins with `title`, after an icon or spaces. */
function startsWith(title) {
  return new RegExp(`^\\s*${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
}
