/**
 * A VS Code window with Redline installed and a copy of the example workspace open, as a person sees it. Used by the
 * walk (`npm start -- --once`) and the UI tests. Linux x64 only.
 *
 *   const workbench = await Workbench.open({ settings: { 'redline.resolve.modelAuthority': 'none' } });
 *   await workbench.openRedlineChat();
 *   await workbench.sendChat('/edit src/cart.ts :: a => b');
 *   await workbench.lens('Apply').click();
 *   await workbench.waitForFile('src/cart.ts', text => text.includes('b'));
 *   await workbench.screenshot('applied');
 *   await workbench.close();
 *
 * Nothing here sleeps: every step waits for what it needs to be there, at most `TIMEOUT_MS`. What is returned as a
 * locator is Playwright's; it waits by itself when it is clicked or read.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openBrowser } from './browser.mjs';
import { atExit, removeTemporaryFolder, temporaryFolder } from './cleanup.mjs';
import { inRepo, vsixPath } from './paths.mjs';
import { installExtension, startServer, updateSettings } from './vscodeServer.mjs';
import { copyExampleWorkspace } from './workspaceCopy.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').Locator} Locator */
/** @typedef {import('playwright-core').FrameLocator} FrameLocator */

/** How long a step waits before it fails, in milliseconds. */
const TIMEOUT_MS = 20_000;
const POLL_MS = 50;

/**
 * @typedef {object} WorkbenchOptions
 * @property {string} [vsix] the package to install; out/redline.vsix when omitted
 * @property {string[]} [extensions] packages to install beside it
 * @property {Record<string, unknown>} [settings] user settings
 * @property {Record<string, string>} [env] added to the extension host's environment
 * @property {string} [workspace] the folder to open, as it is; a fresh copy of examples/workspace when omitted
 * @property {boolean} [empty] opens no folder; `workspace` is a folder that nobody opened
 * @property {string} [pictures] where `screenshot` writes; out/pictures when omitted
 * @property {{ width: number, height: number }} [viewport] of the window
 */

export class Workbench {
  /** Where the page and the server come from, for `restart`. */
  #options;
  #server;
  #browser;
  #close;

  /** The open folder on disk. @type {string} */
  workspace;
  /** The window. @type {Page} */
  page;

  /** Use `Workbench.open`. */
  constructor(options, workspace) {
    this.#options = options;
    this.workspace = workspace;
  }

  /**
   * Starts VS Code and waits until Redline is there.
   * @param {WorkbenchOptions} [options]
   * @returns {Promise<Workbench>}
   * @throws {Error} when VS Code does not start or has no Redline
   */
  static async open(options = {}) {
    const userDataDir = temporaryFolder('redline-workbench-');
    const extensionsDir = path.join(userDataDir, 'extensions');
    for (const vsix of [options.vsix ?? vsixPath, ...(options.extensions ?? [])]) {
      await installExtension(vsix, { userDataDir, extensionsDir });
    }
    const workspace = options.workspace ?? copyExampleWorkspace();
    const workbench = new Workbench({ ...options, userDataDir, extensionsDir }, workspace);
    workbench.#close = atExit(() => workbench.#stop());
    try {
      await workbench.#start();
    } catch (error) {
      await workbench.screenshot('not-ready').catch(() => {});
      await workbench.close();
      throw error;
    }
    return workbench;
  }

  /**
   * Where VS Code keeps its settings, storage and logs; `browser` in it is the browser's own profile.
   * @returns {string}
   */
  get userDataDir() {
    return this.#options.userDataDir;
  }

  /** Ends this window and its server, nothing else, and forgets its profile and its copy of the workspace. */
  async close() {
    await this.#close();
    await removeTemporaryFolder(this.#options.userDataDir);
    if (!this.#options.workspace) await removeTemporaryFolder(path.dirname(this.workspace));
  }

  /** Reloads the window, as the command "Developer: Reload Window" does. */
  async reload() {
    await this.page.reload();
    await this.#ready();
  }

  /** Ends VS Code and starts it anew on the same workspace with the same storage. */
  async restart() {
    // A window that is left writes down what it would lose when its process just ended.
    await this.page.goto('about:blank');
    await this.#stop();
    await this.#start();
  }

  /**
   * A second window of the same VS Code on the same folder. It goes when this one is closed, and is not closed itself.
   * @returns {Promise<Workbench>}
   */
  async secondWindow() {
    const other = new Workbench(this.#options, this.workspace);
    other.page = await this.#browser.context.newPage();
    other.page.setDefaultTimeout(TIMEOUT_MS);
    await other.page.goto(this.page.url());
    await other.#ready();
    return other;
  }

  async #start() {
    const { userDataDir, extensionsDir, settings, env, viewport } = this.#options;
    this.#server = await startServer({ userDataDir, extensionsDir, settings, env });
    this.#browser = await openBrowser({ profile: path.join(userDataDir, 'browser'), viewport });
    this.page = this.#browser.page;
    this.page.setDefaultTimeout(TIMEOUT_MS);
    const { empty } = this.#options;
    await this.page.goto(this.#server.url(empty ? {} : { folder: this.workspace }));
    await this.#ready();
  }

  async #stop() {
    await this.#browser?.close();
    await this.#server?.stop();
  }

  async #ready() {
    // The server's extensions are known, and their contributions drawn, once ours has its icon.
    await this.activityBarItem('Redline').waitFor({ timeout: 2 * TIMEOUT_MS });
  }

  /**
   * Runs a command of the palette.
   * @param {string} title as the palette shows it, category and all: `Redline: New Session`
   * @throws {Error} when the palette does not offer exactly that
   */
  async runCommand(title) {
    // The palette lists what was there when it opened, and a window that is still settling may close it.
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      try {
        await this.page.keyboard.press('F1');
        await this.#quickInput().fill(`>${title}`, { timeout: TIMEOUT_MS / 4 });
        return await this.quickPick(title, TIMEOUT_MS / 4);
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await this.page.keyboard.press('Escape');
      }
    }
  }

  /**
   * Chooses an entry of the open quick pick (palette, file list, or one an extension shows).
   * @param {string} label the entry's whole label
   * @param {number} [timeout] in milliseconds
   */
  async quickPick(label, timeout = TIMEOUT_MS) {
    const rows = this.page.locator('.quick-input-list .monaco-list-row');
    const exact = this.page
      .locator('.monaco-highlighted-label, .label-name')
      .getByText(label, { exact: true });
    await rows.filter({ has: exact }).first().click({ timeout });
  }

  /**
   * Fills the input box that an extension shows, and accepts it.
   * @param {string} text
   */
  async answerInput(text) {
    // The pick that led here may still be in its place.
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
   * Opens a file of the workspace in an editor.
   * @param {string} relative with slashes
   */
  async openFile(relative) {
    await this.page.keyboard.press('Control+P');
    await this.#quickInput().fill(relative);
    await this.quickPick(path.posix.basename(relative));
    await this.editorTab(path.posix.basename(relative)).waitFor();
  }

  /** Shows Redline's view container and waits for the chat to be ready for typing. */
  async openRedlineChat() {
    // Not by the activity bar, whose icon hides what a window that was reloaded is just about to show again.
    await this.runCommand('Redline: Focus on Chat View');
    await this.#prompt().waitFor();
  }

  /** The chat panel's document, for locators: `workbench.chatFrame().locator('.card')`. @returns {FrameLocator} */
  chatFrame() {
    return this.page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  }

  /**
   * Types a prompt in the chat and sends it. Does not wait for the answer.
   * @param {string} text
   */
  async sendChat(text) {
    await this.#prompt().fill(text);
    await this.#prompt().press('Enter');
  }

  #prompt() {
    return this.chatFrame().locator('textarea#prompt');
  }

  /**
   * A preview's card in the chat.
   * @param {string} label the preview's label, or a part of it
   * @returns {Locator}
   */
  chatCard(label) {
    return this.chatFrame().locator('article.card').filter({ hasText: label }).last();
  }

  /**
   * A lens on the proposed side of the diff editor or multi-file diff that is shown.
   * @param {string} title the lens's text, or its beginning
   * @returns {Locator}
   */
  lens(title) {
    const diff = '.monaco-diff-editor .editor.modified .codelens-decoration a';
    const multi = '.multiDiffEntry .editor.modified .codelens-decoration a';
    return this.page
      .locator(`${diff}, ${multi}`)
      .filter({ hasText: startsWith(title) })
      .first();
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
   * An editor's tab.
   * @param {string} title or a part of it
   * @returns {Locator}
   */
  editorTab(title) {
    return this.page.locator('.tabs-container .tab').filter({ hasText: title }).first();
  }

  /**
   * An entry of the status bar.
   * @param {string} text or a part of it
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
   * The number (or text) on an icon of the activity bar; no element when there is none.
   * @param {string} label
   * @returns {Locator}
   */
  badge(label) {
    const item = `.activitybar .action-item:has(a[aria-label^="${label}"])`;
    return this.page.locator(`${item} .badge-content`).filter({ hasText: /\S/ });
  }

  /**
   * A row of a tree view. Its inline buttons appear on hover: see `treeAction`.
   * @param {string} text or a part of it
   * @returns {Locator}
   */
  treeRow(text) {
    return this.page.locator('.pane-body .monaco-list-row').filter({ hasText: text }).first();
  }

  /**
   * Clicks an inline button of a tree row.
   * @param {string} row
   * @param {string} label the button's tooltip, or the beginning
   */
  async treeAction(row, label) {
    const button = this.treeRow(row).locator(`a[aria-label^="${label}"]`).first();
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      // A tree that is drawn anew shows the buttons only to a mouse that moves.
      await this.page.mouse.move(0, 0);
      await this.treeRow(row).hover();
      try {
        return await button.click({ timeout: TIMEOUT_MS / 10 });
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
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
   * A notification.
   * @param {string} text or a part of it
   * @returns {Locator}
   */
  toast(text) {
    return this.page.locator('.notification-toast').filter({ hasText: text }).first();
  }

  /**
   * A file of the workspace as it is on disk.
   * @param {string} relative
   * @returns {string | undefined} undefined when it does not exist
   */
  readFile(relative) {
    const file = path.join(this.workspace, relative);
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
  }

  /**
   * Writes a file of the workspace, as another program would.
   * @param {string} relative
   * @param {string | Uint8Array} content
   */
  writeFile(relative, content) {
    const file = path.join(this.workspace, relative);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  }

  /**
   * Waits until a file on disk is as wanted.
   * @param {string} relative
   * @param {(text: string | undefined) => boolean} isAsWanted is given undefined when the file does not exist
   * @param {number} [timeout] in milliseconds
   * @returns {Promise<string | undefined>} the text
   * @throws {Error} with the text as it is, when the time is over
   */
  async waitForFile(relative, isAsWanted, timeout = TIMEOUT_MS) {
    const deadline = Date.now() + timeout;
    for (;;) {
      const text = this.readFile(relative);
      if (isAsWanted(text)) return text;
      if (Date.now() > deadline) {
        throw new Error(`${relative} did not become as wanted. It is now: ${JSON.stringify(text)}`);
      }
      await delay(POLL_MS);
    }
  }

  /**
   * Changes user settings by writing their file, and reloads the window: a window on a server reads that file
   * reliably only when it opens.
   * @param {Record<string, unknown>} changes undefined removes a setting
   */
  async updateSettings(changes) {
    updateSettings(this.#options.userDataDir, changes);
    await this.reload();
  }

  /**
   * Takes a picture of the window, with the mouse out of its way.
   * @param {string} name becomes `<name>.png`
   * @returns {Promise<string>} the file
   */
  async screenshot(name) {
    const folder = this.#options.pictures ?? inRepo('out', 'pictures');
    const file = path.join(folder, `${name.replace(/[^\w.-]+/g, '-')}.png`);
    await this.page.mouse.move(0, 0);
    // What the keyboard points at keeps its hover.
    const hover = this.page.locator('.monaco-hover:visible').first();
    await hover.waitFor({ state: 'detached', timeout: TIMEOUT_MS / 10 }).catch(() => {});
    await this.page.screenshot({ path: file });
    return file;
  }

  /**
   * What the extension wrote to its output channels, for failure reports.
   * @returns {string}
   */
  extensionLog() {
    const logs = path.join(this.#options.userDataDir, 'logs');
    if (!fs.existsSync(logs)) return '';
    const files = fs.readdirSync(logs, { recursive: true, encoding: 'utf8' });
    return files
      .filter(file => /redline.*\.log$/i.test(file))
      .map(file => `── ${file}\n${fs.readFileSync(path.join(logs, file), 'utf8')}`)
      .join('\n');
  }
}

/** Matches text that begins with `title`, after an icon or spaces. */
function startsWith(title) {
  return new RegExp(`^\\s*${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
}
