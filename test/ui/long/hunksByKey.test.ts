/** Hunk after hunk is decided by keys alone, as fast as a person presses them who does not wait for what comes next. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { limitMs } from '../../../scripts/lib/limits.mjs';
import { startScriptedServer, type Reply } from '../../support/scriptedServer.ts';
import { exactLens } from '../support/diffPage.ts';
import { drivenTest, type DrivenWorkbench } from '../support/drivenWorkbench.ts';

const PROMPTS = 8;
/** Of each prompt: a preview each, or all of them one preview. */
const FILES = 5;
/** The lines of a file that change, each a hunk of its own. */
const LINES = [10, 20, 30, 40, 50];
const HUNKS = PROMPTS * FILES * LINES.length;
/** The time between two keys, in milliseconds. */
const PRESS_MS = 150;
/** For how long the extension host may be blocked, in milliseconds. */
const MAX_BLOCK_MS = 50;
/** How long the review may go on after the last key, in milliseconds. */
const LAST_MS = limitMs(120_000);
const TEST_MS = limitMs(400_000);

const pathOf = (prompt: number, file: number): string => `many/area${prompt}/file${file}.ts`;
const numbered = [...Array(FILES).keys()];

/** The file with names in place of these numbers. */
function text(isNamed: (line: number) => boolean): string {
  return Array.from({ length: 60 }, (_, n) => `const value${n} = ${isNamed(n) ? 'named' : n};\n`).join('');
}

/** Every second prompt has a preview for each file. */
function proposal(prompt: number): Reply {
  if (prompt % 2 === 0)
    return {
      toolCalls: numbered.map(file => ({
        name: 'edit_file',
        arguments: {
          path: pathOf(prompt, file),
          edits: LINES.map(n => ({ old: `const value${n} = ${n};`, new: `const value${n} = named;` })),
        },
      })),
    };
  const ops = LINES.map(n => ({ pat: `const value${n} = ${n};`, out: `const value${n} = named;` }));
  return { toolCalls: [{ name: 'ast_edit', arguments: { ops, paths: [`many/area${prompt}`] } }] };
}

async function stage(driven: DrivenWorkbench): Promise<void> {
  for (let prompt = 0; prompt < PROMPTS; prompt++)
    for (const file of numbered)
      driven.workbench.writeFile(
        pathOf(prompt, file),
        text(() => false),
      );
  const server = await startScriptedServer((_request, n) =>
    n % 2 === 0 ? proposal(n / 2) : { text: 'Please look at it.' },
  );
  try {
    await driven.run(async ({ vscode }, url) => {
      const settings = vscode.workspace.getConfiguration('redline');
      await settings.update('openai.baseUrl', url, true);
      await settings.update('openai.model', 'scripted', true);
      await settings.update('resolve.modelAuthority', 'none', true);
      await settings.update('preview.open', 'onDemand', true);
    }, server.baseUrl);
    for (let prompt = 0; prompt < PROMPTS; prompt++)
      await driven.run(({ api }, n) => api.session.prompt(`Name the numbers of area ${n}.`), prompt);
    await driven.run(async ({ vscode }) => {
      await vscode.workspace.getConfiguration('redline').update('preview.open', undefined, true);
    });
    assert.deepEqual(server.violations, []);
  } finally {
    await server.close();
  }
}

/** Begins to measure for how long the extension host is blocked. */
function measure(driven: DrivenWorkbench): Promise<void> {
  return driven.run(({ kept }) => {
    const cpu = (): number => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1_000;
    };
    let [last, used] = [performance.now(), cpu()];
    const blocks: { wall: number; cpu: number }[] = [];
    const timer = setInterval(() => {
      const [now, usedNow] = [performance.now(), cpu()];
      blocks.push({ wall: now - last, cpu: usedNow - used });
      [last, used] = [now, usedNow];
    }, 2);
    kept['stopMeasuring'] = () => {
      clearInterval(timer);
      return blocks;
    };
  });
}

/**
 * The longest blocks, in milliseconds, the longest first. A block counts as what its thread computed meanwhile: on a
 * busy machine the rest of it was waiting for a processor.
 */
async function longestBlocks(driven: DrivenWorkbench): Promise<readonly number[]> {
  const blocks = await driven.run(({ kept }) =>
    (kept['stopMeasuring'] as () => readonly { wall: number; cpu: number }[])(),
  );
  return blocks
    .map(({ wall, cpu }) => Math.round(Math.min(wall, cpu)))
    .sort((one, other) => other - one)
    .slice(0, 5);
}

drivenTest(
  `${HUNKS} hunks are decided by ${HUNKS} keys, ${PRESS_MS} ms apart, and none is refused`,
  { settings: { 'redline.resolve.order': 'oldestFirst' } },
  async driven => {
    const { workbench } = driven;
    const { page } = workbench;
    await stage(driven);
    await workbench.openRedlineChat();
    await workbench.statusBarItem('pending').click();
    await page
      .locator('.monaco-editor.focused[data-uri^="redline-preview:"][data-uri*="area0/file0"]')
      .waitFor();
    await exactLens(workbench, 'Apply').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');

    await measure(driven);
    const begun = performance.now();
    for (let key = 0; key < HUNKS; key++)
      await Promise.all([delay(PRESS_MS), page.keyboard.press(key % 2 === 0 ? 'Control+Y' : 'Control+N')]);
    const pressed = performance.now();
    const done = workbench.statusBarItem(`Review done: ${HUNKS / 2} applied, ${HUNKS / 2} discarded`);
    const isDone = await done.waitFor({ timeout: LAST_MS }).then(
      () => true,
      () => false,
    );
    const decided = performance.now();
    const blocks = await longestBlocks(driven);
    const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
    console.log(
      `${HUNKS} keys in ${seconds(pressed - begun)} s, the last is decided ${seconds(decided - pressed)} s later; ` +
        `the longest blocks of the extension host: ${blocks.join(', ')} ms`,
    );

    // A key that is not for a hunk opens an empty file, and a refused one says why.
    assert.deepEqual(await page.locator('.tab').allInnerTexts(), []);
    await workbench.runCommand('Notifications: Show Notifications');
    await page.locator('.notifications-center').waitFor();
    assert.deepEqual(await page.locator('.notification-list-item-message').allInnerTexts(), []);
    // The keys go from hunk to hunk: every second one in the order of the files is applied.
    const wrong = [...Array(PROMPTS * FILES).keys()].filter(n => {
      const isApplied = (line: number): boolean => (n * LINES.length + LINES.indexOf(line)) % 2 === 0;
      const expected = text(line => LINES.includes(line) && isApplied(line));
      return workbench.readFile(pathOf(Math.floor(n / FILES), n % FILES)) !== expected;
    });
    assert.deepEqual(wrong, [], 'the files that are not as decided');
    assert.ok(isDone, 'the review is done');
    assert.ok((blocks[0] ?? 0) <= MAX_BLOCK_MS, `no block of more than ${MAX_BLOCK_MS} ms`);
  },
  TEST_MS,
);
