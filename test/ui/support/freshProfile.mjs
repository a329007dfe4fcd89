/** Makes a VS Code that has been used as if it had just been installed, without ending its server or its browser. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { VIEWPORT } from '../../../scripts/headless/browser.mjs';
import { prepareSettings } from '../../../scripts/headless/settings.mjs';

/** Folders in a server's profile, beside its logs, with the state of its windows. */
const OF_WINDOWS = ['User', 'Machine', 'CachedProfilesData', 'CachedExtensionVSIXs'];

/**
 * Leaves every window and deletes its stored state, so that the next one starts as in a profile of its own. Installed
 * extensions and the browser's cache of VS Code's code stay: that is the time that is saved.
 *
 * | traces of a test | go because |
 * | --- | --- |
 * | its windows, with listeners, viewport, mouse and open menus | their pages are closed, and a new one is made |
 * | timers, servers and pending work of extensions; terminals | each window has an extension host, and that has ended |
 * | previews, conversations, ledgers, storage of extensions | `User` is deleted, with the storage of all workspaces |
 * | settings, keys | `User` and `Machine` are deleted, and those of the next window written |
 * | open editors, focus, layout, memory of the palette, secrets | the browser's data of the server's address are deleted |
 * | logs of extensions | the folders of the extension hosts in `logs` are deleted |
 *
 * The files of the workspace are the caller's, who opens another folder.
 * @param {object} used
 * @param {string} used.userDataDir
 * @param {import('../../../scripts/headless/server.mjs').Server} used.server
 * @param {import('playwright-core').BrowserContext} used.context
 * @param {{ settings?: Record<string, unknown>, viewport?: { width: number, height: number } }} wanted
 * @returns {Promise<import('playwright-core').Page>} an empty page, the only one
 * @throws {Error} when something of the windows is left; this VS Code must not be used any more then
 */
export async function clearProfile({ userDataDir, server, context }, { settings, viewport = VIEWPORT }) {
  const page = await context.newPage();
  await page.setViewportSize(viewport);
  for (const used of context.pages().filter(one => one !== page)) {
    used.removeAllListeners('dialog');
    // A page that is left takes leave of the server, which then ends its extension host at once.
    await used.goto('about:blank');
    await used.close();
  }
  await server.endHosts();
  for (const folder of [...OF_WINDOWS.map(name => path.join(userDataDir, name)), ...hostLogs(userDataDir)])
    fs.rmSync(folder, { recursive: true, force: true });
  const { origin } = new URL(server.url());
  const browser = await context.newCDPSession(page);
  await browser.send('Storage.clearDataForOrigin', { origin, storageTypes: BROWSER_DATA.join() });
  await browser.detach();

  const left = [...filesLeft(userDataDir), ...(await browserDataLeft(page, origin))];
  if (context.pages().length !== 1) left.push('a page');
  if (left.length > 0) throw new Error(`Of the windows before, this is left: ${left.join(', ')}`);
  prepareSettings(userDataDir, settings);
  return page;
}

/** Everything but the caches. */
const BROWSER_DATA = ['local_storage', 'indexeddb', 'cookies', 'file_systems', 'websql'];

/** The folders with the logs of extension hosts. Those of the server stay, which writes to them. */
function hostLogs(userDataDir) {
  return fs.globSync('logs/*/exthost*', { cwd: userDataDir }).map(folder => path.join(userDataDir, folder));
}

function filesLeft(userDataDir) {
  return [...OF_WINDOWS, ...fs.globSync('logs/*/exthost*', { cwd: userDataDir })].filter(name =>
    fs.existsSync(path.join(userDataDir, name)),
  );
}

/** Names of the stores that the browser still has for an address. */
async function browserDataLeft(page, origin) {
  // An answer of the server that is not a window.
  await page.goto(`${origin}/version`);
  const left = await page.evaluate(async () => [
    ...Object.keys(localStorage),
    ...Object.keys(sessionStorage),
    ...(await indexedDB.databases()).map(({ name }) => name),
  ]);
  await page.goto('about:blank');
  return left;
}
