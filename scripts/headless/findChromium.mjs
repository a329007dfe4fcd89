/** Finds a Chromium or Chrome on this machine, or installs Debian's, to draw windows that nobody sees. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { chromium } from 'playwright-core';
import { foundOrInstalled } from '../lib/apt.mjs';

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
const PACKAGES = ['chromium-headless-shell', 'chromium'].map(name => [name, 'fonts-dejavu-core']);

/**
 * Finds a Chromium or Chrome: the one that the variable `CHROMIUM` names, else one in the usual places of Linux or
 * in Playwright's cache, else one that it installs with apt-get if that needs no password. One process installs, others wait for it.
 * @returns {Promise<string>} its path
 * @throws {Error} that says what to install
 */
export async function chromiumPath() {
  const named = process.env.CHROMIUM;
  if (named) {
    if (!fs.existsSync(named)) throw new Error(`CHROMIUM names ${named}, but there is no such file.`);
    return named;
  }
  const found = await foundOrInstalled('Chromium', findChromium, PACKAGES);
  if (found) return found;
  throw new Error(
    'No Chromium or Chrome was found. Please install one (Debian: apt-get install chromium; Ubuntu: Google Chrome, or ' +
      '"npx playwright-core install chromium"), or name one in the variable CHROMIUM.',
  );
}

function findChromium() {
  const folders = ['/usr/bin', '/usr/local/bin', ...(process.env.PATH ?? '').split(path.delimiter)];
  const usual = NAMES.flatMap(name => folders.filter(Boolean).map(folder => path.join(folder, name)));
  return [...usual, chromium.executablePath()].find(file => fs.existsSync(file));
}
