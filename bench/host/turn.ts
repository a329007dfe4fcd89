/**
 * Runs in the extension host: a session whose model reads a small file again and again, in turn with a loop of nothing but
 * requests and files. `bench/turn-host.bench.ts` starts it and reads the figures.
 */
import * as fs from 'node:fs';
import * as vscode from 'vscode';
import { bareSession } from '../lib/bareSession.ts';
import { turnServerAt } from '../lib/turnClient.ts';
import { shownRedline } from './shownRedline.ts';

/** For one turn, in milliseconds, a median of each round. */
export interface TurnFigures {
  /** From the beginning of an answer to the arrival of the next request. */
  readonly ours: number[];
  readonly bare: number[];
  /** The processor time of the host. */
  readonly oursCpu: number[];
  readonly bareCpu: number[];
}

/** How many turns one round consists of, each in a conversation of its own: requests grow with it. */
const TURNS = 20;

/** VS Code's entry. */
export async function run(): Promise<void> {
  const { REDLINE_BENCH_SERVER: baseUrl = '', REDLINE_BENCH_FIGURES: file = '' } = process.env;
  const rounds = Number(process.env['REDLINE_BENCH_ROUNDS']);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (folder === undefined) throw new Error('No folder is open');
  const settings = vscode.workspace.getConfiguration('redline');
  const everywhere = vscode.ConfigurationTarget.Global;
  await settings.update('openai.baseUrl', baseUrl, everywhere);
  await settings.update('openai.model', 'm', everywhere);
  await settings.update('provider', 'openai', everywhere);
  const { session } = await shownRedline();
  await vscode.commands.executeCommand('workbench.action.closeSidebar');
  const server = turnServerAt(baseUrl);
  const sample = async (work: () => Promise<unknown>): Promise<{ time: number; cpu: number }> => {
    await server.expect(TURNS);
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    const turns = [...(await server.turns())].sort((a, b) => a - b);
    if (turns.length !== TURNS) throw new Error(`${turns.length} turns instead of ${TURNS}`);
    return { time: turns[TURNS / 2] ?? Number.NaN, cpu: (user + system) / 1e3 / TURNS };
  };
  const figures: TurnFigures = { ours: [], bare: [], oursCpu: [], bareCpu: [] };
  // The first round loads the code of both.
  for (let round = -1; round < rounds; round++) {
    const bare = await sample(() => bareSession(folder, baseUrl));
    await vscode.commands.executeCommand('redline.session.new');
    const ours = await sample(() => session.prompt('Read it.'));
    if (round < 0) continue;
    figures.bare.push(bare.time);
    figures.bareCpu.push(bare.cpu);
    figures.ours.push(ours.time);
    figures.oursCpu.push(ours.cpu);
  }
  fs.writeFileSync(file, JSON.stringify(figures));
}
