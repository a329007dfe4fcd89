/**
 * A whole VS Code of its own: server, browser, profile, Redline installed, and a copy of the example workspace open in a
 * window. scripts/headless/README.md has an example.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { atExit, removeTemporaryFolder, temporaryFolder } from '../../../scripts/lib/cleanup.mjs';
import { vsixPath } from '../../../scripts/lib/paths.mjs';
import { copyExampleWorkspace } from '../../../scripts/lib/workspaceCopy.mjs';
import { openBrowser } from '../../../scripts/headless/browser.mjs';
import { clearProfile } from './freshProfile.mjs';
import { RedlineWindow } from './redlineWindow.mjs';
import { extensionsOf, installExtension, startServer } from '../../../scripts/headless/server.mjs';
import { writeSettings } from '../../../scripts/headless/settings.mjs';
import { PICTURES } from './vscodeWindow.mjs';

/**
 * @typedef {object} WorkbenchOptions
 * @property {string} [vsix] the package to install; out/redline.vsix when omitted
 * @property {string[]} [extensions] packages to install beside it
 * @property {Record<string, unknown>} [settings] user settings
 * @property {Record<string, string>} [env] added to the extension host's environment
 * @property {string} [workspace] the folder to open, which is used in place; a fresh copy of examples/workspace when
 *   omitted
 * @property {boolean} [empty] opens a window without a folder; `workspace` is then a folder that is not open
 * @property {string} [pictures] where `screenshot` writes; out/pictures when omitted
 * @property {{ width: number, height: number }} [viewport] of the window
 * @property {number} [scale] how many pixels of a picture a pixel of the window has; 1 when omitted
 * @property {string} [language] of extensions, as VS Code names it, such as `zh-cn`; VS Code's own texts stay English
 */

/** @typedef {Pick<WorkbenchOptions, 'vsix' | 'extensions' | 'settings' | 'workspace' | 'empty' | 'pictures' | 'viewport' | 'language'>} ResetOptions */

/** Folders with installed extensions, by the packages in them. Installing takes a second, copying almost nothing. */
const installations = new Map();

export class Workbench extends RedlineWindow {
  #options;
  #server;
  #browser;
  #close;

  /** Use `Workbench.open`. */
  constructor(options, workspace) {
    super(workspace);
    this.#options = options;
    if (options.pictures !== undefined) this.pictures = options.pictures;
  }

  /**
   * Starts VS Code and waits until Redline can be used.
   * @param {WorkbenchOptions} [options]
   * @returns {Promise<Workbench>}
   * @throws {Error} when VS Code does not start or Redline does not appear in it
   */
  static async open(options = {}) {
    const userDataDir = temporaryFolder('redline-workbench-');
    await installInto(userDataDir, options);
    const workspace = options.workspace ?? copyExampleWorkspace();
    const workbench = new Workbench({ ...options, userDataDir }, workspace);
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
   * Where VS Code keeps its settings, storage and logs. The subfolder `browser` is the browser's own profile.
   * @returns {string}
   */
  get userDataDir() {
    return this.#options.userDataDir;
  }

  /** Ends this VS Code with its browser, and deletes its profile and its copy of the workspace. */
  async close() {
    await this.#close();
    await removeTemporaryFolder(this.#options.userDataDir);
    await this.#removeWorkspace();
  }

  /**
   * Becomes a workbench as `Workbench.open` makes it for these options, in a second instead of ten: the same VS Code and
   * browser, with a window on another folder in an empty profile. `freshProfile.mjs` says how.
   * @param {ResetOptions} [options]
   * @throws {Error} when something is left of the window before; then only `close` may be called
   */
  async reset({ vsix, extensions, settings, workspace, empty, pictures, viewport, language } = {}) {
    const { userDataDir } = this;
    const used = { userDataDir, server: this.#server, context: this.#browser.context };
    const page = await clearProfile(used, { settings, viewport });
    if (packagesOf(this.#options).join() !== packagesOf({ vsix, extensions }).join()) {
      fs.rmSync(extensionsOf(userDataDir), { recursive: true });
      await installInto(userDataDir, { vsix, extensions });
    }
    await this.#removeWorkspace();
    Object.assign(this.#options, { vsix, extensions, settings, workspace, empty, viewport, language });
    this.workspace = workspace ?? copyExampleWorkspace();
    this.pictures = pictures ?? PICTURES;
    await this.#show(page);
  }

  /**
   * Ends VS Code and starts it again on the same workspace with the same storage.
   * @param {() => void} [whileClosed] called when no VS Code runs, so that none sees its changes happen
   */
  async restart(whileClosed) {
    // A page that is left saves its state; a browser process that is ended does not.
    await this.page.goto('about:blank');
    await this.#stop();
    whileClosed?.();
    await this.#start();
  }

  /**
   * Reloads the window. Its scripts wait until the extension host of before has ended: VS Code gives a host another storage while
   * that is in use, as on a machine that is busy.
   */
  async reload() {
    if (this.#browser.context.pages().length > 1) return super.reload();
    const scripts = /\.js(?:\?|$)/;
    let ended;
    await this.page.route(scripts, async route => {
      await (ended ??= this.#server.endHosts());
      await route.continue();
    });
    try {
      await super.reload();
    } finally {
      await this.page.unroute(scripts);
    }
  }

  /**
   * Opens a second window on the same folder. It is closed together with this workbench.
   * @returns {Promise<RedlineWindow>}
   */
  async secondWindow() {
    const second = new RedlineWindow(this.workspace);
    second.pictures = this.pictures;
    second.show(await this.#browser.context.newPage());
    await this.#setLanguage(second.page);
    await second.page.goto(this.page.url());
    await second.waitForRedline();
    return second;
  }

  /**
   * Changes user settings in their file and reloads the window, which is when a window on a server reads them reliably.
   * @param {Record<string, unknown>} changes undefined removes a setting
   */
  async updateSettings(changes) {
    writeSettings(this.#options.userDataDir, changes);
    await this.reload();
  }

  /**
   * The text of the extension's output channels, for failure reports.
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

  async #start() {
    const { userDataDir, settings, env, viewport, scale } = this.#options;
    this.#server = await startServer({ userDataDir, settings, env });
    this.#browser = await openBrowser({
      profile: path.join(userDataDir, 'browser'),
      viewport,
      scale,
    });
    await this.#show(this.#browser.page);
  }

  /** Opens the window in a page. */
  async #show(page) {
    this.show(page);
    await this.#setLanguage(page);
    await page.goto(this.#server.url(this.#options.empty ? {} : { folder: this.workspace }));
    await this.waitForRedline();
  }

  /** Lets windows in this page ask extensions for their texts in the language, as the messages of a language pack would. */
  async #setLanguage(page) {
    const { language } = this.#options;
    if (language) await page.addInitScript(value => (globalThis._VSCODE_NLS_LANGUAGE = value), language);
  }

  /** Deletes the copy of the example workspace, but no folder of the caller. */
  async #removeWorkspace() {
    if (!this.#options.workspace) await removeTemporaryFolder(path.dirname(this.workspace));
  }

  async #stop() {
    await this.#browser?.close();
    await this.#server?.stop();
  }
}

/** @param {Pick<WorkbenchOptions, 'vsix' | 'extensions'>} options */
function packagesOf({ vsix = vsixPath, extensions = [] }) {
  return [vsix, ...extensions];
}

/** Installs the extensions of these options into a profile that has none. They are copied: each VS Code changes its own. */
async function installInto(userDataDir, options) {
  const packages = packagesOf(options);
  const key = packages.join('\n');
  if (!installations.has(key)) installations.set(key, install(packages));
  fs.cpSync(await installations.get(key), extensionsOf(userDataDir), { recursive: true });
}

async function install(packages) {
  const userDataDir = temporaryFolder('redline-extensions-');
  for (const vsix of packages) await installExtension(vsix, userDataDir);
  return extensionsOf(userDataDir);
}
