/**
 * What Redline costs a window in which it is not used, beside extensions that come with VS Code: the time of `activate()`, as VS
 * Code's own "Startup Performance" tells it, the bytes of code that are loaded for it, and the memory of the extension host, idle
 * and with thousands of previews. `npm run bench -- activation`
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { cleanUp } from '../scripts/lib/cleanup.mjs';
import { runNode } from '../scripts/lib/command.mjs';
import { eagerOutputs } from '../scripts/lib/eagerOutputs.mjs';
import { inRepo } from '../scripts/lib/paths.mjs';
import { DrivenWorkbench } from '../test/ui/support/driver.ts';
import type { Bench } from './lib/bench.ts';

const OURS = 'redline.redline';
/** TypeScript's is not in this VS Code, which comes as a package without it. */
const OTHERS = ['vscode.git', 'vscode.github', 'vscode.json-language-features'];
const PREVIEWS = 10_000;
const MB = 1024 * 1024;
/** The most that an extension host may hold for each pending preview, in KB: its texts are on disk as well. */
const PREVIEW_KB = 10;

export default async function run(bench: Bench): Promise<void> {
  if ((await runNode([inRepo('scripts', 'package.mjs')])) !== 0) throw new Error('Packaging failed.');
  try {
    const driven = await DrivenWorkbench.open();
    const windows: Activations[] = [];
    for (let round = 0; round < bench.rounds; round++) {
      if (round > 0) await driven.reload();
      windows.push(await activations(driven));
    }
    compare(bench, windows, 'loading its code', 'load');
    compare(bench, windows, 'activate() until it returns', 'call');
    compare(bench, windows, 'activate() until it is done', 'done');
    await bytes(bench, driven);
    await memory(bench, driven);
  } finally {
    await cleanUp();
  }
}

/** In milliseconds. */
interface Activation {
  readonly load: number;
  /** Until `activate()` returns. */
  readonly call: number;
  /** Until its promise is settled. */
  readonly done: number;
}

/** What VS Code's "Startup Performance" says of the extensions, by their ids. */
async function activations(driven: DrivenWorkbench): Promise<ReadonlyMap<string, Activation>> {
  const ids = [OURS, ...OTHERS];
  const text = await driven.until(
    'the times of activation',
    async ({ vscode }, wanted) => {
      for (const id of wanted) await vscode.extensions.getExtension(id)?.activate();
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await vscode.commands.executeCommand('perfview.show');
      const shown = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'perf')?.getText() ?? '';
      return wanted.every(id => shown.includes(`| ${id} `)) ? shown : undefined;
    },
    ids,
  );
  const rows = text.split('\n').map(line => line.split('|').map(cell => cell.trim()));
  const heading = rows.find(cells => cells.includes('Call Activate')) ?? [];
  const found = new Map<string, Activation>();
  for (const cells of rows.slice(rows.indexOf(heading))) {
    const cell = (name: string): string => cells[heading.indexOf(name)] ?? '';
    const id = cell('Extension');
    if (!ids.includes(id) || found.has(id)) continue;
    const call = Number(cell('Call Activate'));
    found.set(id, { load: Number(cell('Load Code')), call, done: call + Number(cell('Finish Activate')) });
  }
  return found;
}

type Activations = Awaited<ReturnType<typeof activations>>;

function compare(bench: Bench, windows: readonly Activations[], what: string, time: keyof Activation): void {
  // VS Code counts whole milliseconds.
  const timesOf = (id: string): number[] =>
    windows.map(each => Math.max(1, each.get(id)?.[time] ?? Number.NaN));
  const ours = timesOf(OURS);
  for (const id of OTHERS) bench.against(what, ours, { name: id, times: timesOf(id) });
}

/** The code that is loaded for `activate()`: of the others, which are one file each, that file. */
async function bytes(bench: Bench, driven: DrivenWorkbench): Promise<void> {
  const { outputs } = JSON.parse(fs.readFileSync(inRepo('out', 'meta.json'), 'utf8')) as {
    outputs: Record<string, { bytes: number; imports: { path: string; kind: string }[] }>;
  };
  const ours = eagerOutputs(outputs).reduce((sum, file) => sum + (outputs[file]?.bytes ?? 0), 0);
  const entries = await driven.run(
    ({ vscode }, ids) =>
      ids.map(id => {
        const extension = vscode.extensions.getExtension(id);
        const { main = '' } = (extension?.packageJSON ?? {}) as { main?: string };
        return { id, folder: extension?.extensionPath ?? '', main };
      }),
    OTHERS,
  );
  for (const { id, folder, main } of entries) {
    const file = path.join(folder, main);
    const { size } = fs.statSync(fs.existsSync(file) ? file : `${file}.js`);
    bench.row({
      what: 'code loaded for activate()',
      value: kilobytes(ours),
      baseline: `${id} ${kilobytes(size)}`,
      ratio: ours / size,
    });
  }
}

async function memory(bench: Bench, driven: DrivenWorkbench): Promise<void> {
  const idle = await memoryOf(driven);
  bench.row({ what: 'extension host, idle: heap', value: megabytes(idle.heapUsed) });
  bench.row({ what: 'extension host, idle: resident', value: megabytes(idle.rss) });
  for (let done = 0; done < PREVIEWS; done += 500)
    await driven.run(({ api }, from) => {
      for (let n = from; n < from + 500; n++) {
        const after = `const value = ${n};\n`.repeat(120);
        api.previews.push({
          label: `Create ${n}`,
          changes: [{ path: `made/file${n}.ts`, before: null, after }],
        });
      }
    }, done);
  const full = await memoryOf(driven);
  const each = (full.heapUsed - idle.heapUsed) / PREVIEWS / 1_000;
  bench.row({ what: `extension host, ${PREVIEWS} previews: heap`, value: megabytes(full.heapUsed) });
  bench.row({ what: `extension host, ${PREVIEWS} previews: resident`, value: megabytes(full.rss) });
  bench.row({
    what: 'extension host, heap for each preview of 2 KB',
    value: `${each.toFixed(1)} KB`,
    target: `≤ ${PREVIEW_KB} KB`,
    met: each <= PREVIEW_KB,
  });
}

/** The memory of the extension host after everything that can be freed is, in bytes. */
function memoryOf(driven: DrivenWorkbench): Promise<{ readonly heapUsed: number; readonly rss: number }> {
  return driven.run(() => {
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
    (process.getBuiltinModule('node:vm').runInNewContext('gc') as () => void)();
    return process.memoryUsage();
  });
}

function kilobytes(count: number): string {
  return `${Math.round(count / 1_000)} KB`;
}

function megabytes(count: number): string {
  return `${(count / MB).toFixed(0)} MB`;
}
