import { spawn } from 'node:child_process';
import { ToolError } from '../../agent/base/errors.ts';
import { withVariables } from '../../agent/base/system/environment.ts';
import type { CommandEnd, CommandPlan } from '../../agent/tools/command/runCommand.ts';
import { endProcessTree, hasGroup, leftoversOf } from './processTree.ts';

/** How long the output may stay open after the shell has ended, in milliseconds. */
const DRAIN_MS = 500;
/** How long it may stay open after everything was killed. */
const LAST_MS = 3_000;

export interface ShellProcess {
  /** Settles when it has ended. @rejects ToolError if it cannot be started. */
  readonly ended: Promise<CommandEnd>;
  /** Writes to its standard input. */
  write(text: string): void;
}

/**
 * Runs a command in a shell of its own, without a terminal: exactly the given text, with the output as it comes. When the signal
 * fires, it is ended with all that it has started; so is what it leaves in the background.
 */
export function startShellProcess(
  { command, shell, folder, environment }: Omit<CommandPlan, 'timeLimit'>,
  signal: AbortSignal,
  onOutput: (chunk: string) => void,
): ShellProcess {
  const child = spawn(command, {
    shell,
    cwd: folder,
    env: withVariables(process.env, environment),
    // A group of its own, which can be ended as a whole.
    detached: process.platform !== 'win32',
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const { stdin, stdout, stderr } = child;
  // It may end without reading its input.
  stdin.on('error', () => undefined);
  for (const stream of [stdout, stderr]) stream.setEncoding('utf8').on('data', onOutput);
  const ended = new Promise<CommandEnd>((resolve, reject) => {
    let hasLeft = false;
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      if (child.pid !== undefined) endProcessTree(child.pid);
      clearTimeout(timer);
      timer = setTimeout(() => {
        stdout.destroy();
        stderr.destroy();
      }, LAST_MS);
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    child.on('exit', () => {
      if (signal.aborted) return;
      timer = setTimeout(() => {
        hasLeft = true;
        end();
      }, DRAIN_MS);
    });
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    };
    child.on('error', error => {
      settle();
      reject(new ToolError(`The shell ${shell} cannot be started: ${error.message}. Nothing was run.`));
    });
    child.on('close', code => {
      settle();
      if (!signal.aborted && child.pid !== undefined && hasGroup(child.pid)) {
        hasLeft = true;
        endProcessTree(child.pid);
      }
      resolve({ exitCode: code ?? undefined, ...(hasLeft && { leftovers: leftoversOf(process.platform) }) });
    });
  });
  return { ended, write: text => void stdin.write(text) };
}
