/** The moving picture of the README: an agent in a terminal changes three files, and they are reviewed. */
import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { inRepo } from '../lib/paths.mjs';
import { copyTour } from '../lib/workspaceCopy.mjs';
import { Film } from './film.mjs';
import { onStage } from './stage.mjs';

const CART = 'src/cart.js';
/** The tree's name for the agent's proposal. */
const CHANGE_SET = 'cart.js, money.js';
const OLD = 'sum += item.price;';
const NEW = 'sum += item.price * item.quantity;';
const TASK = 'Charge for the quantity, show euros, and test the receipt.';
const REASON = 'Keep “Total”.';
const VIEWPORT = { width: 1040, height: 740 };
const SIDE_BAR = 330;
const TYPING_MS = 90;

/**
 * Takes the film. Linux x64 only, where a view for an agent terminal can be made.
 * @returns {Promise<Buffer>} a GIF
 * @throws {Error} when the window or a file is not as the story says
 */
export async function takeReviewFilm() {
  const workspace = copyTour();
  fs.rmSync(path.join(workspace, '.vscode'), { recursive: true });
  // Files that git ignores are in the view, and are no change: so is the agent.
  const agent = path.join(workspace, 'node_modules', '.bin', 'agent');
  fs.mkdirSync(path.dirname(agent), { recursive: true });
  fs.copyFileSync(inRepo('scripts', 'pictures', 'filmAgent.mjs'), `${agent}.mjs`);
  fs.writeFileSync(agent, `#!/bin/sh\nexec node "$0.mjs"\n`, { mode: 0o755 });
  const options = {
    settings: {
      'workbench.colorTheme': 'Dark 2026',
      'editor.unicodeHighlight.ambiguousCharacters': false,
      // Its text is then in the page, where it can be waited for.
      'terminal.integrated.gpuAcceleration': 'off',
      'terminal.integrated.fontSize': 13,
      'terminal.integrated.stickyScroll.enabled': false,
      'terminal.integrated.shellIntegration.enabled': false,
      'terminal.integrated.tabs.enabled': false,
      // The user's shell is the agent here, so commands name another.
      'terminal.integrated.automationProfile.linux': { path: '/bin/sh' },
      'redline.checks': [{ name: 'test', command: 'node --test' }],
    },
    // The program that an agent terminal offers beside the agents it knows.
    env: { SHELL: agent },
    workspace,
    viewport: VIEWPORT,
  };
  return onStage(options, workbench => play(workbench, new Film(workbench.page)));
}

/**
 * @param {import('../../test/ui/support/workbench.mjs').Workbench} workbench
 * @param {Film} film
 */
async function play(workbench, film) {
  const { page } = workbench;
  const chat = workbench.chatFrame();
  const card = workbench.chatCard('cart.js');
  const runChecks = card.getByRole('button', { name: 'Run Checks' });
  const passed = chat
    .getByRole('button', { name: /^The check test passed/ })
    .filter({ hasNotText: 'out of date' })
    .first();
  const terminal = page.locator('.xterm-rows');
  const check = async () => {
    await runChecks.click();
    await passed.waitFor();
    await workbench.toast('Running checks').waitFor({ state: 'hidden' });
    await workbench.runCommand('Notifications: Clear All Notifications');
  };
  /** Captions the story from now on, beside its line of the file as it is on disk. */
  const tell = (title, isNew = false) => {
    console.log(title);
    const code = workbench
      .readFile(CART)
      ?.split('\n')
      .find(line => line.includes('sum +='))
      ?.trim();
    film.lines = { title, file: CART, code: code ?? '(no such file)', isNew };
    return code;
  };

  await workbench.openFile(CART);
  await workbench.openRedlineChat();
  await workbench.resizeSideBar(SIDE_BAR);
  await workbench.runCommand('Redline: Open Agent Terminal…');
  await workbench.quickPick('A shell');
  await terminal.getByText('agent ›').first().waitFor();
  await page.locator('.terminal-outer-container').first().click();

  tell('1  You ask your agent, in a terminal of VS Code');
  await film.shoot(1000);
  for (const word of TASK.split(/(?<= )/)) {
    await page.keyboard.type(word);
    await terminal.getByText(word.trim()).first().waitFor();
    await film.shoot(TYPING_MS);
  }
  await film.shoot(500);
  await page.keyboard.press('Enter');
  await terminal.getByText('Done: 3 files').first().waitFor();
  tell('2  It changes three files in a copy. On disk nothing changes');
  await film.shoot(1200);
  await workbench.treeRow(CHANGE_SET).waitFor();
  await workbench.setTreeRow(CHANGE_SET, 'expanded');
  await workbench.treeRow(/^cart\.test\.js/).waitFor();
  await runChecks.waitFor();
  assert.equal(tell('3  Three files are pending: that is all that happened'), OLD);
  await film.shoot(1900);

  await film.showPointer({ x: VIEWPORT.width * 0.6, y: VIEWPORT.height * 0.5 });
  tell('4  Your tests run on what is proposed, before you decide');
  await film.pointAt(runChecks);
  await film.shoot(400);
  await check();
  await film.shoot(2000);
  await film.hidePointer();

  // A diff opens beside the open one, and there is no room for two.
  await workbench.runCommand('View: Close All Editors');
  await workbench.clickTreeRow(CHANGE_SET);
  await workbench.lens('Discard').first().waitFor();
  tell('5  You refuse one hunk, and say why');
  await film.shoot(1400);
  await workbench.runCommand('Redline: Next Hunk');
  await workbench.runCommand('Redline: Discard Hunk with Reason…');
  const input = page.locator('.quick-input-widget:visible input.input');
  await input.fill(REASON);
  await film.shoot(1800);
  await page.keyboard.press('Enter');
  await terminal.getByText('You refused a part').first().waitFor();
  // The diff is compared anew a moment later.
  const ofCart = page.locator('.multiDiffEntry').filter({ hasText: 'cart.js' });
  await ofCart.locator('.editor.modified .codelens-decoration').nth(1).waitFor({ state: 'hidden' });
  assert.equal(tell('6  The agent hears it, and answers. Still nothing is written'), OLD);
  await film.shoot(2300);

  await film.showPointer({ x: VIEWPORT.width * 0.5, y: VIEWPORT.height * 0.5 });
  tell('7  Your tests run again, on what is left');
  await film.pointAt(runChecks);
  await check();
  await film.shoot(1500);
  const apply = card.locator('[data-action="apply"]');
  await film.pointAt(apply);
  await film.shoot(600);
  await apply.click();
  await workbench.waitForFile(CART, text => text?.includes(NEW) === true);
  await film.hidePointer();
  await card.getByRole('button', { name: /^Undo/ }).waitFor();
  await workbench.openFile(CART);
  // VS Code draws the lenses that a file had before, until it has asked for new ones.
  const waiting = page.locator('.codelens-decoration').filter({ hasText: 'proposed change' });
  await waiting.first().waitFor({ state: 'hidden' });
  await workbench.runCommand('Notifications: Clear All Notifications');
  assert.match(workbench.readFile(CART), /`Total: /);
  assert.equal(tell('8  You apply the rest. Only now the disk changes', true), NEW);
  await film.shoot(3200);
  return film.develop();
}
