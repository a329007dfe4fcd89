/** A headless Chromium, driven by Playwright, that shows the windows of a VS Code server. */
import { chromium } from 'playwright-core';
import { atExit } from './cleanup.mjs';
import { chromiumPath } from './chromium.mjs';

const VIEWPORT = { width: 1400, height: 900 };

const QUIET_ARGS = [
  ...['--no-first-run', '--disable-gpu', '--disable-quic', '--disable-dev-shm-usage'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/**
 * @typedef {object} Browser
 * @property {import('playwright-core').BrowserContext} context
 * @property {import('playwright-core').Page} page an empty page
 * @property {() => Promise<void>} close
 */

/**
 * Starts Chromium.
 * @param {{ profile?: string, viewport?: { width: number, height: number } }} [options] `profile` is a folder that
 *   keeps what windows store in the browser (workspace state, open editors); omitted, it is forgotten at the end
 * @returns {Promise<Browser>}
 */
export async function openBrowser({ profile = '', viewport = VIEWPORT } = {}) {
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath(),
    headless: true,
    viewport,
    // As root there is no sandbox; what is shown is our own server.
    chromiumSandbox: process.platform !== 'linux',
    // Signals are ours: see cleanup.mjs.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    permissions: ['clipboard-read', 'clipboard-write'],
    args: QUIET_ARGS,
  });
  const close = atExit(
    () => context.close(),
    () => {}, // Chromium ends by itself when the pipe to us closes.
  );
  const page = context.pages()[0] ?? (await context.newPage());
  return { context, page, close };
}
