/** A day's review by keyboard alone: how fast it goes, and that nothing is decided that was not on the screen. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { limitMs } from '../../../scripts/lib/limits.mjs';
import { startScriptedServer, type Script } from '../../support/scriptedServer.ts';
import { drivenTest, type DrivenWorkbench } from '../support/drivenWorkbench.ts';

const PREVIEWS = 200;
const FILES = 5;
/** The prompts that the previews come from. */
const SETS = 30;
/** How many are decided, `DECISIONS=…`: on a busy machine all of them take an hour. */
const DECISIONS = Math.min(PREVIEWS, Number(process.env['DECISIONS'] ?? PREVIEWS));
/** How long one review may take, in milliseconds. */
const REVIEW_MS = limitMs(900_000);

/** A file of a preview that has the focus. */
interface Shown {
  readonly preview: number;
  readonly file: number;
}

/** The model proposes some parts for each prompt: a preview each, whose files have two hunks that fit into the window together. */
const script: Script = (_request, n) => {
  const prompt = Math.floor(n / 2);
  const parts = Array.from({ length: PREVIEWS }, (_, part) => part + 1).filter(
    part => Math.floor(((part - 1) * SETS) / PREVIEWS) === prompt,
  );
  if (n % 2 === 1) return { text: 'Please look at it.' };
  return {
    toolCalls: parts.map(part => ({
      name: 'ast_edit',
      arguments: {
        ops: [
          { pat: 'const value10 = 10;', out: 'const value10 = ten;' },
          { pat: 'const value25 = 25;', out: 'const value25 = many;' },
        ],
        paths: [`many/part${part}`],
      },
    })),
  };
};

/** Sends the prompts, one after the other. */
async function stage(driven: DrivenWorkbench, baseUrl: string): Promise<void> {
  const before = Array.from({ length: 60 }, (_, n) => `const value${n} = ${n};\n`).join('');
  for (let part = 1; part <= PREVIEWS; part++)
    for (let file = 1; file <= FILES; file++)
      driven.workbench.writeFile(`many/part${part}/file${file}.ts`, before);
  await driven.run(async ({ vscode }, url) => {
    const settings = vscode.workspace.getConfiguration('redline');
    await settings.update('openai.baseUrl', url, true);
    await settings.update('openai.model', 'scripted', true);
    await settings.update('resolve.modelAuthority', 'none', true);
    await settings.update('preview.open', 'onDemand', true);
  }, baseUrl);
  for (let prompt = 1; prompt <= SETS; prompt++)
    await driven.run(({ api }, n) => api.session.prompt(`Name the numbers of area ${n}.`), prompt);
  await driven.run(async ({ vscode }) => {
    await vscode.workspace.getConfiguration('redline').update('preview.open', undefined, true);
  });
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

/**
 * The file that has the focus after `last`, once both of its hunks are on the screen.
 * @throws when none comes
 */
async function shownAfter(page: Page, last: Shown | undefined): Promise<Shown> {
  const shown = await page.waitForFunction(`(last => {
    const editor = document.querySelector('.monaco-editor.focused[data-uri^="redline-preview://p"]');
    const [, preview, file] =
      /^redline-preview:\\/\\/p(\\d+)\\/.*\\/file(\\d+)\\.ts$/.exec(editor?.dataset.uri ?? '')?.map(Number) ?? [];
    if (preview === undefined || (preview === last?.preview && file === last.file)) return undefined;
    const area = editor.getBoundingClientRect();
    const lines = [...editor.querySelectorAll('.view-line')].filter(line => {
      const { top, bottom } = line.getBoundingClientRect();
      return top >= area.top && bottom <= area.bottom;
    });
    const isSeen = ['ten;', 'many;'].every(text => lines.some(line => line.textContent.includes(text)));
    return isSeen ? { preview, file } : undefined;
  })(${JSON.stringify(last ?? null)})`);
  return (await shown.jsonValue()) as Shown;
}

for (const withLenses of [true, false])
  drivenTest(
    `${PREVIEWS} previews over ${PREVIEWS * FILES} files from ${SETS} prompts are reviewed by keyboard alone, each hunk in sight, ${withLenses ? 'with' : 'without'} lenses`,
    { settings: { 'diffEditor.codeLens': withLenses, 'redline.resolve.order': 'oldestFirst' } },
    async driven => {
      const { workbench } = driven;
      const { page } = workbench;
      const { keyboard } = page;
      const server = await startScriptedServer(script);
      try {
        await stage(driven, server.baseUrl);
        assert.deepEqual(server.violations, []);
      } finally {
        await server.close();
      }
      await workbench.openRedlineChat();
      await workbench.statusBarItem(`${PREVIEWS} pending`).waitFor();
      await workbench.treeRow('Name the numbers of area 1.').waitFor();
      await measure(driven);
      const begun = performance.now();
      const seen = new Map<number, Set<number>>();
      let stops = 0;
      let last: Shown | undefined;
      await keyboard.press('Shift+Alt+PageDown');
      for (let decided = 0; decided < DECISIONS;) {
        last = await shownAfter(page, last);
        stops++;
        const files = seen.get(last.preview) ?? new Set();
        seen.set(last.preview, files.add(last.file));
        // Every hunk of every file was on the screen.
        if (files.size < FILES) await keyboard.press('Shift+Alt+PageDown');
        else {
          await keyboard.press(last.preview % 2 === 0 ? 'Control+Backspace' : 'Control+Enter');
          decided++;
        }
      }
      const left = PREVIEWS - DECISIONS;
      await workbench
        .statusBarItem(left > 0 ? `${left} pending` : 'Review done: 100 applied, 100 discarded')
        .waitFor();
      const minutes = (performance.now() - begun) / 60_000;
      assert.equal(stops, DECISIONS * FILES, 'each file is come by once');
      const blocks = await longestBlocks(driven);
      console.log(
        `${withLenses ? 'with' : 'without'} lenses: ${(DECISIONS / minutes).toFixed(0)} decisions and ${(stops / minutes).toFixed(0)} files a minute; ` +
          `the longest blocks of the extension host: ${blocks.join(', ')} ms`,
      );
      for (let p = 1; p <= DECISIONS; p++)
        for (let f = 1; f <= FILES; f++) {
          const text = workbench.readFile(`many/part${p}/file${f}.ts`) ?? '';
          assert.equal(
            text.includes('= ten;') && text.includes('= many;'),
            p % 2 === 1,
            `part ${p}, file ${f}`,
          );
        }
    },
    REVIEW_MS,
  );
