/** A VS Code window with Redline in it: its chat, and the files of the workspace that it has open. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TIMEOUT_MS, VscodeWindow } from './vscodeWindow.mjs';

/** @typedef {import('playwright-core').Locator} Locator */
/** @typedef {import('playwright-core').FrameLocator} FrameLocator */

const POLL_MS = 50;

export class RedlineWindow extends VscodeWindow {
  /** The open folder on disk. @type {string} */
  workspace;

  /** @param {string} workspace */
  constructor(workspace) {
    super();
    this.workspace = workspace;
  }

  /** Waits until Redline can be used: VS Code knows the contributions of all extensions, and has drawn Redline's icon. */
  async waitForRedline() {
    const timeout = 2 * TIMEOUT_MS;
    // A window that was open before draws the icon from memory, long before Redline's commands exist.
    await this.page.waitForFunction(
      () => performance.getEntriesByName('code/didHandleExtensionPoints').length > 0,
      undefined,
      { timeout },
    );
    await this.activityBarItem('Redline').waitFor({ timeout });
  }

  /** Reloads the window, as the command "Developer: Reload Window" does. */
  async reload() {
    // The load of frames that a killed extension host has left behind may never end.
    await this.page.reload({ waitUntil: 'commit' });
    await this.waitForRedline();
  }

  /** Shows the chat and waits until a prompt can be typed. */
  async openRedlineChat() {
    // Not with the activity bar: its icon would hide the view that a reloaded window is about to restore.
    await this.runCommand('Redline: Focus on Chat View');
    await this.#prompt().waitFor();
  }

  /** The chat's own document, for locators: `window.chatFrame().locator('.card')`. @returns {FrameLocator} */
  chatFrame() {
    return this.page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  }

  /**
   * Types a prompt into the chat and sends it. Does not wait for the answer.
   * @param {string} text
   */
  async sendChat(text) {
    const prompt = this.#prompt();
    const deadline = Date.now() + TIMEOUT_MS;
    const until = async (act, isDone) => {
      do await act();
      while (!isDone(await prompt.inputValue()) && Date.now() < deadline);
    };
    // The text goes elsewhere if VS Code moves the focus at that moment, as when a tab closes.
    await until(
      () => prompt.fill(text),
      value => value === text,
    );
    await until(
      () => prompt.press('Enter'),
      value => value !== text,
    );
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
   * Reads a file of the workspace from disk.
   * @param {string} relative
   * @returns {string | undefined} undefined when it does not exist
   */
  readFile(relative) {
    const file = path.join(this.workspace, relative);
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
  }

  /**
   * Writes a file of the workspace to disk, as another program would.
   * @param {string} relative
   * @param {string | Uint8Array} content
   */
  writeFile(relative, content) {
    const file = path.join(this.workspace, relative);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  }

  /**
   * Waits until a file on disk has the expected content.
   * @param {string} relative
   * @param {(text: string | undefined) => boolean} isExpected is given undefined when the file does not exist
   * @param {number} [timeout] in milliseconds
   * @returns {Promise<string | undefined>} the text
   * @throws {Error} with the text as it is, when the time is up
   */
  async waitForFile(relative, isExpected, timeout = TIMEOUT_MS) {
    const deadline = Date.now() + timeout;
    for (;;) {
      const text = this.readFile(relative);
      if (isExpected(text)) return text;
      if (Date.now() > deadline) {
        throw new Error(
          `${relative} did not get the expected content. It now holds: ${JSON.stringify(text)}`,
        );
      }
      await delay(POLL_MS);
    }
  }
}
