/**
 * Runs in the extension host: calls of `ast_edit` and `edit_file` as a model makes them, in turn with the engine alone in a
 * process of its own. `bench/staging.bench.ts` starts it and reads the figures.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../src/views/api.ts';
import type { EngineAnswer, EngineRequest } from '../lib/engineProcess.ts';
import { shownRedline } from './shownRedline.ts';

/** Times in milliseconds, one for each round. */
export interface StagingFigures {
  readonly patterns: readonly {
    readonly pat: string;
    readonly label: string;
    /** The engine alone: a whole search, and the time until its first files. */
    readonly engine: number[];
    readonly engineFirst: number[];
    /** The ast-grep CLI, from its start to its end, where that is measured. */
    readonly cli: number[];
    /** From the call until the first files have arrived, and until the preview is staged; none where nothing matches. */
    readonly first: number[];
    readonly staged: number[];
    /** From the call until the result. */
    readonly result: number[];
    /** The processor time of the engine's process, and of the host from the call until the result. */
    readonly engineCpu: number[];
    readonly cpu: number[];
    /** From the call until the result while chat and tree are visible, where that is measured. */
    readonly shown: number[];
    /** The longest block of the host's thread. */
    readonly block: number[];
  }[];
  readonly editFile: number[];
  /** While many other previews are pending. */
  readonly editFileAmongMany: number[];
  /** The longest block of the host's thread during these calls. */
  readonly blockAmongMany: number;
}

/** Those with `shown` are also measured while chat and tree are visible, and beside those with `cli` the CLI is. */
const patterns: readonly { pat: string; out: string; shown?: boolean; cli?: boolean }[] = [
  { pat: 'export const $A = $B', out: 'export const $A = made($B)', cli: true },
  { pat: 'console.log($$$A)', out: 'logger.info($$$A)' },
  { pat: '$A.push($B)', out: '$A.add($B)', shown: true },
  { pat: '$A && $A()', out: '$A?.()' },
  { pat: 'if ($COND) { return $X }', out: 'if ($COND) return $X' },
];
/** How many calls of `edit_file` are measured. */
const EDITS = 50;
/** How many previews are pending at the end. */
const MANY = 1_000;
const FILE = 'edited-by-bench.ts';

/** VS Code's entry. */
export async function run(): Promise<void> {
  const api = await shownRedline();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (folder === undefined) throw new Error('No folder is open');
  const rounds = Number(process.env['REDLINE_BENCH_ROUNDS']);
  const engine = plainEngine(folder);
  const measured: StagingFigures['patterns'][number][] = [];
  for (const pattern of patterns) measured.push(await measurePattern(api, engine, pattern, rounds));
  engine.end();
  await shownRedline();
  const { times: editFile } = await measureEdits(api, folder, EDITS);
  // Those of the measurement are pending; the others are those of a long session.
  await measureEdits(api, folder, MANY - EDITS);
  const { times: editFileAmongMany, block: blockAmongMany } = await measureEdits(api, folder, EDITS);
  const figures: StagingFigures = { patterns: measured, editFile, editFileAmongMany, blockAmongMany };
  fs.writeFileSync(process.env['REDLINE_BENCH_FIGURES'] ?? '', JSON.stringify(figures));
}

async function measurePattern(
  api: RedlineApi,
  engine: PlainEngine,
  { pat, out, shown = false, cli = false }: (typeof patterns)[number],
  rounds: number,
): Promise<StagingFigures['patterns'][number]> {
  const figures = {
    pat,
    label: '',
    engine: [] as number[],
    engineFirst: [] as number[],
    cli: [] as number[],
    first: [] as number[],
    staged: [] as number[],
    result: [] as number[],
    engineCpu: [] as number[],
    cpu: [] as number[],
    shown: [] as number[],
    block: [] as number[],
  };
  // The first round is a warm-up: it loads and compiles everything that is loaded and compiled on first use.
  for (let round = -1; round < rounds; round++) {
    // The cache of the engine does not know a search with another rewrite.
    const fresh = out + ' '.repeat(2 * round + 2);
    await vscode.commands.executeCommand('workbench.action.closeSidebar');
    await idle();
    const alone = await engine.search(pat, fresh);
    await idle();
    if (cli) {
      const { total } = await engine.search(pat, fresh, true);
      if (round >= 0) figures.cli.push(total);
      await idle();
    }
    const call = await timedRewrite(api, pat, fresh);
    figures.label = call.label;
    if (shown && round >= 0) {
      await shownRedline();
      await idle();
      figures.shown.push((await timedRewrite(api, pat, `${fresh} `)).result);
    }
    if (round < 0) continue;
    figures.engine.push(alone.total);
    figures.result.push(call.result);
    figures.engineCpu.push(alone.cpu);
    figures.cpu.push(call.cpu);
    if (!Number.isNaN(call.staged)) {
      figures.engineFirst.push(alone.first ?? Number.NaN);
      figures.first.push(call.first);
      figures.staged.push(call.staged);
    }
    figures.block.push(call.block);
  }
  return figures;
}

/** Has `ast_edit` called as {@link timedCall} does, and discards what it staged. */
async function timedRewrite(api: RedlineApi, pat: string, out: string): Promise<TimedCall> {
  const call = await timedCall(api, 'ast_edit', { ops: [{ pat, out }], paths: ['**/*.{ts,tsx}'] });
  await idle();
  await discardAll(api);
  await idle();
  return call;
}

/** Stages edits of files of a few lines; none builds on another. @returns the time of each call, and the longest block */
async function measureEdits(
  api: RedlineApi,
  folder: string,
  count: number,
): Promise<{ times: number[]; block: number }> {
  const times: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  for (let i = 0; i < count; i++) {
    const file = `${i}-${Date.now()}-${FILE}`;
    fs.writeFileSync(`${folder}/${file}`, `${'export const value = compute();\n'.repeat(100)}done();\n`);
    const edits = [{ old: 'done();', new: 'finished();' }];
    times.push((await timedCall(api, 'edit_file', { path: file, edits })).result);
  }
  delay.disable();
  return { times, block: delay.max / 1e6 };
}

interface TimedCall {
  readonly label: string;
  readonly first: number;
  readonly staged: number;
  readonly result: number;
  /** The processor time of the host from the call to the result. */
  readonly cpu: number;
  readonly block: number;
}

/** Has the tool called without a model. Times count from the call to the events of the session. */
async function timedCall(api: RedlineApi, tool: string, args: object): Promise<TimedCall> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let began = Number.NaN;
  let label = '';
  let used = { user: 0, system: 0 };
  const at = { first: Number.NaN, staged: Number.NaN, result: Number.NaN };
  const following = api.session.onDidEmit(event => {
    const time = performance.now() - began;
    // The call of `resolve` that follows is not measured.
    if ('call' in event && event.call.name !== tool) return;
    switch (event.type) {
      case 'tool_start':
        delay.enable();
        used = process.cpuUsage();
        began = performance.now();
        break;
      case 'tool_update':
        if (Number.isNaN(at.first)) at.first = time;
        break;
      case 'preview_changed':
        if (Number.isNaN(at.staged)) at.staged = time;
        label = event.preview.label;
        break;
      case 'tool_end':
        at.result = time;
        used = process.cpuUsage(used);
        if (Number.isNaN(at.staged)) label = event.result.content;
        break;
      default:
    }
  });
  await api.session.prompt(`/call ${tool} ${JSON.stringify(args)}`);
  delay.disable();
  following.dispose();
  if (Number.isNaN(at.result)) throw new Error(`${tool} gave no result`);
  return { label, ...at, cpu: (used.user + used.system) / 1e3, block: delay.max / 1e6 };
}

async function discardAll(api: RedlineApi): Promise<void> {
  for (const { id } of api.previews.list())
    await api.previews.resolve({ id, action: 'discard', reason: 'measured' });
}

interface PlainEngine {
  search(pat: string, out: string, isCli?: boolean): Promise<EngineAnswer>;
  end(): void;
}

function plainEngine(folder: string): PlainEngine {
  const { REDLINE_BENCH_NODE: execPath = '', REDLINE_BENCH_ENGINE: script = '' } = process.env;
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  // What VS Code sets for its own processes is not meant for this one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:VSCODE|NODE_OPTIONS)/.test(name)),
  );
  const child = fork(script, { execPath, execArgv, env });
  return {
    async search(pat, out, isCli = false) {
      const answered = once(child, 'message');
      child.send({ folder, pat, out, isCli } satisfies EngineRequest);
      const [measured] = (await answered) as [EngineAnswer];
      return measured;
    },
    end: () => void child.disconnect(),
  };
}

/** Lets the views, and VS Code's window, end what they do. */
function idle(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 1_000));
}
