import * as vscode from 'vscode';
import { endOf } from '../../../agent/base/cutText.ts';
import {
  commandLabel,
  shownCommand,
  type CommandEnd,
  type CommandPlan,
} from '../../../agent/sandbox/commands/commandPlan.ts';
import type { CommandRun } from '../../../agent/sandbox/commands/commandRuns.ts';
import { runInShell } from '../../../agent/sandbox/commands/shellProcess.ts';

/** How often output is written to the terminal, in milliseconds, and how much each time, in characters. */
const WRITE_MS = 50;
const MAX_WRITE = 64_000;

/** Ends an unfinished escape sequence of the command, and its colours, before our own text. */
const TO_TEXT = '\x18\x1b[0m';

/** The terminal of the last command that has ended, which makes way for the next one. */
let finished: vscode.Terminal | undefined;

/**
 * Runs a command and shows its output in a new terminal, which passes nothing on but Ctrl+C: that ends the command, and so does
 * closing the terminal. It stays until the next command runs.
 * @throws ToolError if the shell cannot be started.
 */
export async function runInTerminal(plan: CommandPlan, run: CommandRun): Promise<CommandEnd> {
  finished?.dispose();
  finished = undefined;
  const written = new vscode.EventEmitter<string>();
  const screen = new Screen(text => written.fire(text));
  const terminal = vscode.window.createTerminal({
    name: `Redline: ${commandLabel(plan.command, 40)}`,
    iconPath: new vscode.ThemeIcon('terminal'),
    pty: {
      onDidWrite: written.event,
      open: () => screen.open(),
      close: () => run.stop(),
      handleInput: (data: string) => {
        if (data === '\x03') run.stop();
      },
    },
  });
  terminal.show(true);
  screen.write(`> ${shownCommand(plan.command)}\n`);
  try {
    return await runInShell(plan, {
      signal: run.signal,
      add: chunk => {
        run.add(chunk);
        screen.write(chunk);
      },
    });
  } finally {
    screen.write(`${TO_TEXT}\n${vscode.l10n.t('The command has ended.')}\n`);
    screen.flush();
    finished = terminal;
  }
}

/**
 * Shows output in a terminal: all of it while it comes slowly, else the latest. Output that arrives before the terminal opens is
 * kept.
 */
class Screen {
  readonly #show: (text: string) => void;
  #isOpen = false;
  #waiting = '';
  #isCut = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  open(): void {
    this.#isOpen = true;
    this.flush();
  }

  write(text: string): void {
    this.#waiting += text;
    if (this.#waiting.length > 2 * MAX_WRITE) {
      this.#waiting = endOf(this.#waiting, MAX_WRITE);
      this.#isCut = true;
    }
    this.#timer ??= setTimeout(() => this.flush(), WRITE_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isOpen || this.#waiting === '') return;
    const text = `${this.#isCut ? '[…]\n' : ''}${this.#waiting}`;
    this.#waiting = '';
    this.#isCut = false;
    this.#show(text.replace(/\r?\n/g, '\r\n'));
  }
}
