import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../../scripts/headless/browser.mjs';
import { TIMEOUT_MS, VscodeWindow } from './support/vscodeWindow.mjs';

/** Longer than a click is waited for. */
const BUSY_MS = TIMEOUT_MS / 8;

/** A palette with one entry, which is gone once it is chosen, and whose command lets the page answer nothing for a while. */
const PALETTE = `
  <div class="quick-input-widget">
    <input class="input">
    <div class="quick-input-list"><div class="monaco-list-row"><span class="label-name">View: Move</span></div></div>
  </div>
  <script>
    let chosen = 0;
    const row = document.querySelector('.monaco-list-row');
    row.addEventListener('click', () => {
      chosen++;
      row.remove();
      for (const end = performance.now() + ${BUSY_MS}; performance.now() < end; );
    });
  </script>`;

test('a command that keeps the window from answering its click was run, and is not looked for again', async () => {
  const { page, close } = await openBrowser();
  try {
    await page.setContent(PALETTE);
    const window = new VscodeWindow();
    window.show(page);
    await window.runCommand('View: Move');
    assert.equal(await page.evaluate('chosen'), 1);
  } finally {
    await close();
  }
});
