/** Finds a Chromium or Chrome on this machine, or installs Debian's, to draw windows that nobody sees. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { withFileLock } from '../lib/fileLock.mjs';
import { aptLock, installWithApt } from '../lib/apt.mjs';

/** The first one draws pages only, with a fifth less work than a whole browser that nobody sees. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
];

/** Debian's packages with one of them. Older systems lack the first. */
const PACKAGES = ['chromium-headless-shell', 'chromium'];

/** The executable within a folder of Playwright's cache, on the systems that there are. */
const IN_PLAYWRIGHT_CACHE = [
  'chrome-linux/chrome',
  'chrome-linux64/chrome',
  'chrome-mac/Chromium.app/Contents/MacOS/Chromium',
  'chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
  'chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
  'chrome-win/chrome.exe',
  'chrome-win64/chrome.exe',
];

/**
 * Finds a Chromium or Chrome: the one that the variable `CHROMIUM` names, else one in the usual places, else one that it
 * installs with apt-get if that needs no password. One process installs, others wait for it.
 * @returns {Promise<string>} its path
 * @throws {Error} that says what to install
 */
export async function chromiumPath() {
  const named = process.env.CHROMIUM;
  if (named) {
    if (!fs.existsSync(named)) throw new Error(`CHROMIUM names ${named}, but there is no such file.`);
    return named;
  }
  // While it is being installed, its file may be there before it can run.
  const found =
    (fs.existsSync(aptLock) ? undefined : findChromium()) ??
    (await withFileLock(
      aptLock,
      () =>
        findChromium() ??
        (PACKAGES.some(name => installWithApt('Chromium', [name, 'fonts-dejavu-core']))
          ? findChromium()
          : undefined),
      holder => console.log(`redline: waiting for process ${holder}, which is installing …`),
    ));
  if (found) return found;
  throw new Error(
    'No Chromium or Chrome was found. Please install one (Debian: apt-get install chromium; Ubuntu, macOS, Windows: ' +
      'Google Chrome, or "npx playwright-core install chromium"), or name one in the variable CHROMIUM.',
  );
}

function findChromium() {
  return [...usualPlaces(), ...playwrightCache()].find(file => fs.existsSync(file));
}

function usualPlaces() {
  if (process.platform === 'darwin') {
    return ['/Applications', path.join(os.homedir(), 'Applications')].flatMap(folder => [
      `${folder}/Google Chrome.app/Contents/MacOS/Google Chrome`,
      `${folder}/Chromium.app/Contents/MacOS/Chromium`,
    ]);
  }
  if (process.platform === 'win32') {
    const roots = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].map(name => process.env[name]);
    return roots
      .filter(Boolean)
      .flatMap(root => [
        path.join(root, 'Google', 'Chrome', 'Application', 'chrome.exe'),
        path.join(root, 'Chromium', 'Application', 'chrome.exe'),
      ]);
  }
  const folders = ['/usr/bin', '/usr/local/bin', ...(process.env.PATH ?? '').split(path.delimiter)];
  return NAMES.flatMap(name => folders.filter(Boolean).map(folder => path.join(folder, name)));
}

function playwrightCache() {
  const folder =
    process.env.PLAYWRIGHT_BROWSERS_PATH ??
    {
      darwin: path.join(os.homedir(), 'Library', 'Caches', 'ms-playwright'),
      win32: path.join(process.env.LOCALAPPDATA ?? os.homedir(), 'ms-playwright'),
    }[process.platform] ??
    path.join(os.homedir(), '.cache', 'ms-playwright');
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .filter(name => /^chromium-\d+$/.test(name))
    .sort((a, b) => Number(b.slice(9)) - Number(a.slice(9)))
    .flatMap(name => IN_PLAYWRIGHT_CACHE.map(file => path.join(folder, name, file)));
}
