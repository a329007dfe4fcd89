/**
 * What people feel, in the window of a real VS Code with the packaged extension: from a prompt to the first word of the answer,
 * from a staged edit to its lens, from a click on Apply to the bytes on disk and the next diff, and a long chat. Compared with
 * what VS Code itself needs to show a diff with a lens. `npm run bench -- feel`
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ElementHandle, Frame } from 'playwright-core';
import type { Uri } from 'vscode';
import { cleanUp } from '../scripts/lib/cleanup.mjs';
import { runNode } from '../scripts/lib/command.mjs';
import { inRepo } from '../scripts/lib/paths.mjs';
import { startScriptedServer, type Reply, type ScriptedServer } from '../test/support/scriptedServer.ts';
import { DrivenWorkbench, type HostTools } from '../test/ui/support/driver.ts';
import type { Bench } from './lib/bench.ts';
import { firstPaint, lastEvent, noteEvents, now, scrollThrough, whenShown } from './lib/watch.ts';

/** How many previews are staged for a review, one file each. */
const REVIEWED = 9;
/** The messages of the long chat: half of them prompts, half answers. */
const MESSAGES = 2_000;
/** Frames of the way through the long chat. */
const FRAMES = 120;

const LENS = '.editor.modified .codelens-decoration a';
const TAB = '.tabs-container .tab.active';
const fileOf = (n: number): string => `felt${n}.ts`;
const textOf = (n: number, word: string): string =>
  `${'const value = 1;\n'.repeat(20)}// ${word} ${n}\n${'const value = 2;\n'.repeat(20)}`;

export default async function run(bench: Bench): Promise<void> {
  if ((await runNode([inRepo('scripts', 'package.mjs')])) !== 0) throw new Error('Packaging failed.');
  const server = await startScriptedServer(({ body }) => replyTo(body.messages.at(-1)?.content));
  try {
    const driven = await DrivenWorkbench.open({
      settings: {
        'redline.openai.baseUrl': server.baseUrl,
        'redline.openai.model': 'scripted',
        'redline.resolve.modelAuthority': 'none',
      },
    });
    await firstWord(bench, driven);
    await lens(bench, driven);
    await review(bench, driven);
    await longChat(bench, driven, server);
  } finally {
    await server.close();
    await cleanUp();
  }
}

/** The model: a prompt of one word is answered by it; `edit <n>` edits that file, and `edit all` those of a review. */
function replyTo(prompt: unknown): Reply {
  if (typeof prompt !== 'string') throw new Error('The last message is no text');
  const [, which] = /^edit (\w+)$/.exec(prompt) ?? [];
  if (which === undefined) return { text: `Heard ${prompt}` };
  const files = which === 'all' ? Array.from({ length: REVIEWED }, (_, n) => n) : [Number(which)];
  return {
    toolCalls: files.map(n => ({
      name: 'edit_file',
      arguments: { path: fileOf(n), edits: [{ old: `// old ${n}`, new: `// new ${n}` }] },
    })),
  };
}

/** The chat's own document. */
async function chatOf({ workbench }: DrivenWorkbench, timeout = 20_000): Promise<Frame> {
  const inner = async (handle: ElementHandle | null): Promise<Frame> => {
    const frame = await handle?.contentFrame();
    if (!frame) throw new Error('The chat has no frame');
    return frame;
  };
  const outer = await inner(await workbench.page.waitForSelector('iframe.webview.ready', { timeout }));
  return inner(await outer.waitForSelector('iframe#active-frame'));
}

async function firstWord(bench: Bench, driven: DrivenWorkbench): Promise<void> {
  const { workbench } = driven;
  await workbench.openRedlineChat();
  const chat = await chatOf(driven);
  await noteEvents(chat, ['keydown']);
  const samples: number[] = [];
  for (let round = -2; round < bench.rounds * 3; round++) {
    const shown = whenShown(chat, [{ selector: '.item.assistant', text: `Heard word${round + 2}x` }]);
    await workbench.sendChat(`word${round + 2}x`);
    const at = await shown;
    if (round >= 0) samples.push(at - (await lastEvent(chat, 'keydown')));
    // Until it is idle again a prompt would wait in the queue.
    await driven.until('the end of the turn', ({ api }) => api.session.state === 'idle' || undefined);
  }
  bench.within('from Enter to the first word of the answer', samples, 100);
}

/** From the staging of an edit until its lens can be clicked, beside the least that VS Code needs for a diff with a lens. */
async function lens(bench: Bench, driven: DrivenWorkbench): Promise<void> {
  const { workbench } = driven;
  await driven.run(({ api, kept }) => {
    api.previews.onDidChange(({ state }) => {
      if (state === 'pending') kept['staged'] ??= performance.timeOrigin + performance.now();
    });
  });
  await registerBareLens(driven);
  const ours = async (round: number): Promise<number> => {
    const n = 100 + round;
    workbench.writeFile(fileOf(n), textOf(n, 'old'));
    await driven.run(({ kept }) => void (kept['staged'] = undefined));
    const shown = whenShown(workbench.page, [
      { selector: TAB, text: fileOf(n) },
      { selector: LENS, text: 'Apply' },
    ]);
    await workbench.sendChat(`edit ${n}`);
    const at = await shown;
    const staged = Number(await driven.run(({ kept }) => kept['staged']));
    await driven.run(async ({ api, vscode }) => {
      for (const { id } of api.previews.list())
        await api.previews.resolve({ id, action: 'discard', reason: 'measured' });
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    });
    await driven.until('the end of the turn', ({ api }) => api.session.state === 'idle' || undefined);
    return at - staged;
  };
  const bare = async (round: number): Promise<number> => {
    const shown = whenShown(workbench.page, [
      { selector: TAB, text: `bare${round}` },
      { selector: LENS, text: 'Bare lens' },
    ]);
    const begun = await driven.run(openBareDiff, round);
    const at = await shown;
    await driven.run(({ vscode }) => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
    return at - begun;
  };
  await bare(-1);
  await ours(-1);
  const samples = await bench.interleaved({ ours, bare }, bench.rounds * 2);
  const diff = { name: 'bare diff and lens', times: samples.bare };
  bench.against('from staged to the lens', samples.ours, diff, 1.5);
}

/** A diff with a lens in the simplest way that an extension can have them. */
async function registerBareLens(driven: DrivenWorkbench): Promise<void> {
  await driven.run(({ vscode }) => {
    vscode.workspace.registerTextDocumentContentProvider('bare', {
      provideTextDocumentContent: ({ query }) =>
        `${'const value = 1;\n'.repeat(20)}// ${query}\n${'const value = 2;\n'.repeat(20)}`,
    });
    vscode.languages.registerCodeLensProvider(
      { scheme: 'bare' },
      {
        provideCodeLenses: () => [
          new vscode.CodeLens(new vscode.Range(20, 0, 20, 0), { title: 'Bare lens', command: 'noop' }),
        ],
      },
    );
  });
}

function openBareDiff({ vscode }: HostTools, round: number): number {
  const uri = (query: string): Uri => vscode.Uri.from({ scheme: 'bare', path: `/bare${round}.ts`, query });
  const begun = performance.timeOrigin + performance.now();
  void vscode.commands.executeCommand('vscode.diff', uri('old'), uri('new'), `bare${round}`);
  return begun;
}

/** A review by clicks: each Apply writes the file, and the next diff takes the tab. */
async function review(bench: Bench, driven: DrivenWorkbench): Promise<void> {
  const { workbench } = driven;
  const { page } = workbench;
  for (let n = 0; n < REVIEWED; n++) workbench.writeFile(fileOf(n), textOf(n, 'old'));
  await workbench.sendChat('edit all');
  await driven.until(
    'all previews',
    ({ api }, count) => api.previews.list().length === count || undefined,
    REVIEWED,
  );
  await driven.until('the end of the turn', ({ api }) => api.session.state !== 'running' || undefined);
  let shownName = await driven.run(async ({ api, vscode }) => {
    const head = api.previews.peek();
    await vscode.commands.executeCommand('redline.preview.open', head?.id);
    return head?.files[0]?.path ?? '';
  });
  await noteEvents(page, ['mousedown']);
  const [onDisk, next]: [number[], number[]] = [[], []];
  for (let done = 1; done <= REVIEWED; done++) {
    await whenShown(page, [
      { selector: TAB, text: shownName },
      { selector: LENS, text: 'Apply' },
    ]);
    const written = whenWritten(path.join(workbench.workspace, shownName), '// new');
    await workbench.lens('Apply').click();
    const at = await written;
    const clicked = await lastEvent(page, 'mousedown');
    onDisk.push(at - clicked);
    if (done === REVIEWED) break;
    const left = await driven.run(({ api }) => api.previews.list().map(({ files }) => files[0]?.path ?? ''));
    const shown = await Promise.any(
      left.map(async name => ({
        name,
        at: await whenShown(page, [
          { selector: TAB, text: name },
          { selector: LENS, text: 'Apply' },
        ]),
      })),
    );
    next.push(shown.at - clicked);
    shownName = shown.name;
  }
  bench.within('from the click on Apply to the bytes on disk', onDisk.slice(1), 100);
  bench.within('from the click on Apply to the next diff with its lens', next.slice(1), 1_000);
}

/** When a file contains the text. It is read again and again, so that nothing but the disk is waited for. */
async function whenWritten(file: string, text: string): Promise<number> {
  for (const begun = now(); now() - begun < 30_000; await setImmediate())
    if (fs.existsSync(file) && fs.readFileSync(file, 'utf8').includes(text)) return now();
  throw new Error(`${file} was not written`);
}

/** Shows another view in the chat's place. */
async function hideChat(driven: DrivenWorkbench): Promise<void> {
  const { page } = driven.workbench;
  await driven.run(({ vscode }) => vscode.commands.executeCommand('workbench.view.explorer'));
  await page.locator('.activitybar .action-item.checked a[aria-label^="Explorer"]').waitFor();
  await page.locator('.explorer-folders-view').first().waitFor();
  await page.locator('iframe.webview.ready').first().waitFor({ state: 'hidden' });
}

/**
 * Opens the chat by a click, which `noteEvents` notes. VS Code sometimes marks a view as opened, but goes on to show the one
 * before, if that was opened just now; then this was no opening of a chat, and is done again.
 */
async function openChat(driven: DrivenWorkbench): Promise<Frame> {
  const { workbench } = driven;
  for (let tries = 3; ; tries--) {
    await hideChat(driven);
    await noteEvents(workbench.page, ['mousedown']);
    await workbench.activityBarItem('Redline').click();
    try {
      return await chatOf(driven, 5_000);
    } catch (error) {
      if (tries === 0) throw error;
    }
  }
}

async function longChat(bench: Bench, driven: DrivenWorkbench, server: ScriptedServer): Promise<void> {
  const { workbench } = driven;
  // Not from the palette: here the command has ended, and nothing focuses the chat any more.
  await driven.run(({ vscode }) => vscode.commands.executeCommand('redline.session.new'));
  const opened = async (last: string): Promise<number> => {
    const chat = await openChat(driven);
    await whenShown(chat, [{ selector: '.item', text: last }]);
    return (await firstPaint(chat)) - (await lastEvent(workbench.page, 'mousedown'));
  };
  await workbench.sendChat('short');
  await whenShown(await chatOf(driven), [{ selector: '.item.assistant', text: 'Heard short' }]);
  const [short, long]: [number[], number[]] = [[], []];
  for (let round = -1; round < bench.rounds; round++) {
    const time = await opened('Heard short');
    if (round >= 0) short.push(time);
  }
  await hideChat(driven);
  const prompts = MESSAGES / 2 - 1;
  for (let done = 0; done < prompts; done += 50) {
    const some = { from: done, to: Math.min(prompts, done + 50) };
    await driven.run(async ({ api }, { from, to }) => {
      for (let n = from; n < to; n++) await api.session.prompt(`message${n}`);
    }, some);
  }
  if (server.violations.length > 0) throw new Error(server.violations.join('\n'));
  for (let round = -1; round < bench.rounds; round++) {
    const time = await opened(`Heard message${prompts - 1}`);
    if (round >= 0) long.push(time);
  }
  const what = `from the click to a chat of ${MESSAGES} messages`;
  bench.within(what, long, 200);
  bench.against(what, long, { name: 'chat of 2 messages', times: short });
  const chat = await chatOf(driven);
  const frames = await scrollThrough(chat, '.scroller', FRAMES);
  bench.within(`longest frame while scrolling through ${MESSAGES} messages`, [Math.max(...frames)], 50);
}
