/** A headless Chromium, driven by Playwright, for the windows of VS Code's server. */
import { chromium } from 'playwright-core';
import { atExit } from '../lib/cleanup.mjs';
import { limitMs } from '../lib/limits.mjs';
import { chromiumPath } from './findChromium.mjs';

/** The size of a window, unless another is asked for. */
export const VIEWPORT = { width: 1400, height: 900 };

/** For a Chromium that nobody looks at, which does nothing by itself. */
export const QUIET_ARGS = [
  ...['--no-first-run', '--disable-gpu', '--disable-quic', '--disable-dev-shm-usage'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  // Windows of a server share a process, and with it VS Code's compiled code.
  '--process-per-site',
];

/**
 * @typedef {object} Browser
 * @property {import('playwright-core').BrowserContext} context
 * @property {import('playwright-core').Page} page an empty page
 * @property {() => Promise<void>} close
 */

/**
 * Starts Chromium.
 * @param {{ profile?: string, viewport?: { width: number, height: number }, scale?: number }} [options] `profile` is a
 *   folder for the windows' state in the browser (workspace state, open editors); it is temporary when omitted. `scale` is
 *   how many pixels of a screen a pixel of a page has
 * @returns {Promise<Browser>}
 */
export async function openBrowser({ profile = '', viewport = VIEWPORT, scale = 1 } = {}) {
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: await chromiumPath(),
    headless: true,
    viewport,
    deviceScaleFactor: scale,
    // Root cannot have a sandbox on Linux, and only pages of our own server are shown.
    chromiumSandbox: process.platform !== 'linux',
    // cleanup.mjs handles signals.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    permissions: ['clipboard-read', 'clipboard-write'],
    args: QUIET_ARGS,
  });
  context.setDefaultTimeout(limitMs(60_000));
  const close = atExit(
    () => context.close(),
    () => {}, // Chromium exits by itself when its pipe to us closes.
  );
  const page = context.pages()[0] ?? (await context.newPage());
  return { context, page, close };
}
