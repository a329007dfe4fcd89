/**
 * Runs in the extension host: `/replace` over all files of the workspace and Apply, as a user does them. Measures the time
 * of each and how long they block the host's thread. `bench/ast-edit-host.bench.ts` starts it and reads the figures.
 */
import * as fs from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import * as vscode from 'vscode';
import type { PreviewInfo, RedlineApi } from '../../src/views/api.ts';
import { shownRedline } from './shownRedline.ts';

/** In milliseconds, one for each round. */
export interface HostFigures {
  readonly label: string;
  /** From the prompt until the preview is shown and can be resolved. */
  readonly preview: number[];
  /** From the click on Apply until the preview is applied. */
  readonly apply: number[];
  /** The longest block of the host's thread from the prompt until it is idle again. */
  readonly previewBlock: number[];
  readonly applyBlock: number[];
  /** The longest block while the host is idle. */
  readonly idleBlock: number[];
}

const figures = {
  label: '',
  preview: [] as number[],
  apply: [] as number[],
  previewBlock: [] as number[],
  applyBlock: [] as number[],
  idleBlock: [] as number[],
};

/** VS Code's entry. */
export async function run(): Promise<void> {
  const api = await shownRedline();
  // The first round is a warm-up: it loads and compiles everything that is loaded and compiled on first use.
  for (let round = -1; round < Number(process.env['REDLINE_BENCH_ROUNDS']); round++) {
    const idle = await watched(() => Promise.resolve());
    const [from, to] = round % 2 === 0 ? ['logger.info', 'console.log'] : ['console.log', 'logger.info'];
    let staged: PreviewInfo | undefined;
    const preview = await watched(async () => {
      const seen = once(api, info => info.state === 'pending');
      const prompted = api.session.prompt(`/replace ${from}($$$A) => ${to}($$$A) in **/*.ts`);
      staged = await seen;
      return () => prompted;
    });
    if (!staged) throw new Error('Nothing was staged');
    const { id, label } = staged;
    const apply = await watched(async () => {
      const seen = once(api, info => info.id === id && info.state === 'applied');
      // The model may have had its say meanwhile: a click is on the revision that is shown.
      const revision = api.previews.get(id)?.revision;
      const clicked = vscode.commands.executeCommand('redline.preview.apply', id, undefined, revision);
      await seen;
      return () => clicked;
    });
    figures.label = label;
    if (round < 0) continue;
    figures.preview.push(preview.time);
    figures.previewBlock.push(preview.block);
    figures.apply.push(apply.time);
    figures.applyBlock.push(apply.block);
    figures.idleBlock.push(idle.block);
  }
  fs.writeFileSync(process.env['REDLINE_BENCH_FIGURES'] ?? '', JSON.stringify(figures satisfies HostFigures));
}

/** The next preview that is accepted, as soon as it changes. */
function once(api: RedlineApi, accepts: (info: PreviewInfo) => boolean): Promise<PreviewInfo> {
  return new Promise(resolve => {
    const subscription = api.previews.onDidChange(info => {
      if (!accepts(info)) return;
      subscription.dispose();
      resolve(info);
    });
  });
}

/** Times `work`, and measures the longest block until the rest that it returns is done and the host is idle again. */
async function watched(
  work: () => Promise<(() => PromiseLike<unknown>) | undefined | void>,
): Promise<{ time: number; block: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begun = performance.now();
  const rest = await work();
  const time = performance.now() - begun;
  await rest?.();
  await pause(1_500);
  delay.disable();
  return { time, block: delay.max / 1e6 };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}
