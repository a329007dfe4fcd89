import assert from 'node:assert/strict';
import { drivenTest, type DrivenWorkbench } from '../support/drivenWorkbench.ts';

const PREVIEWS = 200;
const FILES = 5;
/** Of every so many previews, all files are looked at, not only the first one. */
const LOOKED_THROUGH = 10;
/** How long one review may take, in milliseconds. */
const REVIEW_MS = 600_000;

/** Stages the previews: every file has two hunks. */
function stage(driven: DrivenWorkbench): Promise<void> {
  return driven.run(
    ({ api, vscode, fs }, { previews, files }) => {
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      if (!folder) throw new Error('No folder is open');
      const lines = Array.from({ length: 60 }, (_, n) => `const value${n} = ${n};`);
      const before = `${lines.join('\n')}\n`;
      const after = before.replace('= 10;', '= ten;').replace('= 50;', '= fifty;');
      for (let p = 1; p <= previews; p++) {
        const paths = Array.from({ length: files }, (_, f) => `many/part${p}/file${f + 1}.ts`);
        fs.mkdirSync(`${folder.uri.fsPath}/many/part${p}`, { recursive: true });
        for (const path of paths) fs.writeFileSync(`${folder.uri.fsPath}/${path}`, before);
        api.previews.push({
          label: `Change part ${p}`,
          sourceToolName: 'test',
          changes: paths.map(path => ({ path, before, after })),
        });
      }
    },
    { previews: PREVIEWS, files: FILES },
  );
}

/** Begins to measure for how long the extension host is blocked. */
function measure(driven: DrivenWorkbench): Promise<void> {
  return driven.run(({ kept }) => {
    const cpu = (): number => {
      const { user, system } = process.cpuUsage();
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
 * The longest blocks, in milliseconds, the longest first. A block counts as what the process computed meanwhile: on a busy
 * machine the rest of it was waiting for a processor.
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

for (const withLenses of [true, false])
  drivenTest(
    `${PREVIEWS} previews over ${PREVIEWS * FILES} files are reviewed by keyboard alone, ${withLenses ? 'with' : 'without'} lenses`,
    { settings: { 'diffEditor.codeLens': withLenses, 'redline.resolve.order': 'oldestFirst' } },
    async driven => {
      const { workbench } = driven;
      const { page } = workbench;
      const { keyboard } = page;
      await stage(driven);
      await workbench.openRedlineChat();
      await workbench.statusBarItem(`${PREVIEWS} pending`).waitFor();
      await workbench.treeRow('Change part 1').waitFor();
      /** The diff of a file has the focus. */
      const atFile = (preview: number, file: number): Promise<void> =>
        page
          .locator(
            `.monaco-editor.focused[data-uri^="redline-preview://p${preview}/"][data-uri$="/file${file}.ts"]`,
          )
          .first()
          .waitFor();
      await measure(driven);
      const begun = performance.now();
      await keyboard.press('Shift+Alt+PageDown');
      for (let p = 1; p <= PREVIEWS; p++) {
        await atFile(p, 1);
        for (let f = 2; p % LOOKED_THROUGH === 0 && f <= FILES; f++) {
          await keyboard.press('Shift+Alt+PageDown');
          await atFile(p, f);
        }
        await keyboard.press(p % 2 === 0 ? 'Control+Backspace' : 'Control+Enter');
      }
      await workbench.statusBarItem('Review done: 100 applied, 100 discarded').waitFor();
      const minutes = (performance.now() - begun) / 60_000;
      const blocks = await longestBlocks(driven);
      console.log(
        `${withLenses ? 'with' : 'without'} lenses: ${(PREVIEWS / minutes).toFixed(0)} decisions a minute; ` +
          `the longest blocks of the extension host: ${blocks.join(', ')} ms`,
      );
      for (let p = 1; p <= PREVIEWS; p++)
        for (let f = 1; f <= FILES; f++) {
          const text = workbench.readFile(`many/part${p}/file${f}.ts`) ?? '';
          assert.equal(
            text.includes('= ten;') && text.includes('= fifty;'),
            p % 2 === 1,
            `part ${p}, file ${f}`,
          );
        }
    },
    REVIEW_MS,
  );
