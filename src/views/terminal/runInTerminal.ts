import * as vscode from 'vscode';
import type { CommandRun } from '../../agent/tools/command/commandRuns.ts';
import { assertNotStopped, type CommandEnd, type CommandPlan } from '../../agent/tools/command/runCommand.ts';
import { commandLabel, shownCommand } from '../../agent/tools/command/shownCommand.ts';
import { endProcessTree } from './processTree.ts';
import { startShellProcess } from './shellProcess.ts';

/** How long a new terminal may take to get its shell integration, in milliseconds, unless VS Code is told how long. */
const INTEGRATION_MS = 3_000;
/** How long a command may take to end after Ctrl+C, in milliseconds. */
const INTERRUPT_MS = 2_000;
/** How long the last output may take after the command has ended, in milliseconds. */
const DRAIN_MS = 1_000;
/** How often output is written to a terminal of ours, in milliseconds, and how much each time, in characters. */
const WRITE_MS = 50;
const MAX_WRITE = 64_000;

type Run = Pick<CommandRun, 'signal' | 'add'>;

/** The terminal of the last command that has ended, which makes way for the next one. */
let finished: vscode.Terminal | undefined;

/**
 * Runs a command in a new terminal: in the user's interactive shell if VS Code is integrated with it, else in a shell process
 * whose output the terminal shows. The terminal stays until the next command runs.
 * @throws ToolError if it is stopped while the terminal opens: then nothing is run.
 */
export async function runInTerminal(plan: CommandPlan, run: Run): Promise<CommandEnd> {
  finished?.dispose();
  finished = undefined;
  const integrated = isPlain(plan.command) ? await openShell(plan, run.signal) : undefined;
  assertNotStopped(run.signal);
  return integrated ? runInShell(integrated, plan, run) : runBesideShell(plan, run);
}

/**
 * Whether an interactive shell runs exactly this text: its line editor acts on control characters, and it expands history and may
 * not know comments.
 */
function isPlain(command: string): boolean {
  return shownCommand(command) === command && !/[\t\n!#]|^\s|^\^/.test(command);
}

interface Shell {
  readonly terminal: vscode.Terminal;
  readonly integration: vscode.TerminalShellIntegration;
}

/** A terminal with shell integration; `undefined` if it does not come in time. */
async function openShell(
  { command, folder, environment }: CommandPlan,
  signal: AbortSignal,
): Promise<Shell | undefined> {
  const settings = vscode.workspace.getConfiguration('terminal.integrated.shellIntegration');
  if (settings.get<unknown>('enabled') === false) return undefined;
  const wanted = settings.get<unknown>('timeout');
  const terminal = vscode.window.createTerminal({
    ...optionsFor(command),
    cwd: folder,
    env: environment,
    isTransient: true,
  });
  terminal.show(true);
  const integration = await firstOf<vscode.TerminalShellIntegration | undefined>(
    typeof wanted === 'number' && wanted > 0 ? wanted : INTEGRATION_MS,
    undefined,
    signal,
    done => [
      vscode.window.onDidChangeTerminalShellIntegration(event => {
        if (event.terminal === terminal) done(event.shellIntegration);
      }),
      vscode.window.onDidCloseTerminal(closed => closed === terminal && done(undefined)),
    ],
    terminal.shellIntegration,
  );
  if (integration && !signal.aborted) return { terminal, integration };
  terminal.dispose();
  return undefined;
}

async function runInShell(
  { terminal, integration }: Shell,
  plan: CommandPlan,
  run: Run,
): Promise<CommandEnd> {
  const { promise: ended, resolve } = Promise.withResolvers<CommandEnd>();
  const execution = integration.executeCommand(plan.command);
  const subscriptions = [
    vscode.window.onDidEndTerminalShellExecution(event => {
      if (event.execution === execution) resolve({ exitCode: event.exitCode });
    }),
    vscode.window.onDidCloseTerminal(closed => closed === terminal && resolve({ exitCode: undefined })),
  ];
  const reading = (async () => {
    for await (const data of execution.read()) run.add(data);
  })().catch(() => undefined);
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => {
    terminal.sendText('\x03', false);
    grace = setTimeout(() => {
      void terminal.processId.then(pid => {
        if (pid !== undefined) endProcessTree(pid);
        terminal.dispose();
        resolve({ exitCode: undefined });
      });
    }, INTERRUPT_MS);
  };
  run.signal.addEventListener('abort', stop, { once: true });
  if (run.signal.aborted) stop();
  const end = await ended;
  clearTimeout(grace);
  run.signal.removeEventListener('abort', stop);
  for (const subscription of subscriptions) subscription.dispose();
  await firstOf(DRAIN_MS, undefined, undefined, done => {
    void reading.then(() => done(undefined));
    return [];
  });
  finished = terminal;
  return end;
}

/** Runs the command in a shell process, and shows its output in a terminal that passes on what is typed. */
async function runBesideShell(plan: CommandPlan, run: Run): Promise<CommandEnd> {
  const written = new vscode.EventEmitter<string>();
  const closed = new vscode.EventEmitter<void>();
  const stopping = new AbortController();
  const signal = AbortSignal.any([run.signal, stopping.signal]);
  const screen = new Screen(text => written.fire(text));
  const opened = Promise.withResolvers<void>();
  let type: (text: string) => void = () => undefined;
  const terminal = vscode.window.createTerminal({
    ...optionsFor(plan.command),
    pty: {
      onDidWrite: written.event,
      onDidClose: closed.event,
      open: () => opened.resolve(),
      close: () => stopping.abort(),
      handleInput: (data: string) => {
        if (data === '\x03') return stopping.abort();
        const text = data.replaceAll('\r', '\n');
        screen.write(text);
        type(text);
      },
    },
  });
  terminal.show(true);
  await firstOf(INTEGRATION_MS, undefined, signal, done => {
    void opened.promise.then(() => done(undefined));
    return [];
  });
  if (signal.aborted) terminal.dispose();
  assertNotStopped(signal);
  screen.write(`> ${shownCommand(plan.command)}\n`);
  try {
    const { ended, write } = startShellProcess(plan, signal, chunk => {
      run.add(chunk);
      screen.write(chunk);
    });
    type = write;
    return await ended;
  } finally {
    type = () => undefined;
    screen.write(`\n${vscode.l10n.t('The command has ended.')}\n`);
    screen.flush();
    finished = terminal;
  }
}

/** What is shown of an output in a terminal: all of it while it comes slowly, else the latest. */
class Screen {
  readonly #show: (text: string) => void;
  #waiting = '';
  #isCut = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  write(text: string): void {
    this.#waiting += text;
    if (this.#waiting.length > 2 * MAX_WRITE) {
      this.#waiting = this.#waiting.slice(-MAX_WRITE);
      this.#isCut = true;
    }
    this.#timer ??= setTimeout(() => this.flush(), WRITE_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = `${this.#isCut ? '[…]\n' : ''}${this.#waiting}`;
    this.#waiting = '';
    this.#isCut = false;
    this.#show(text.replace(/\r?\n/g, '\r\n'));
  }
}

function optionsFor(command: string): { name: string; iconPath: vscode.ThemeIcon } {
  return { name: `Redline: ${commandLabel(command, 40)}`, iconPath: new vscode.ThemeIcon('terminal') };
}

/** The first value that a subscription brings, or `fallback` when the time is over or the signal fires. */
function firstOf<T>(
  milliseconds: number,
  fallback: T,
  signal: AbortSignal | undefined,
  subscribe: (done: (value: T) => void) => readonly vscode.Disposable[],
  known?: T,
): Promise<T> {
  if (known !== undefined) return Promise.resolve(known);
  return new Promise(resolve => {
    const { promise, resolve: done } = Promise.withResolvers<T>();
    const giveUp = (): void => done(fallback);
    const timer = setTimeout(giveUp, milliseconds);
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted) giveUp();
    const subscriptions = subscribe(done);
    void promise.then(value => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      for (const subscription of subscriptions) subscription.dispose();
      resolve(value);
    });
  });
}
