import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, ToolError } from '../../base/errors.ts';
import { withoutEditor, withVariables } from '../../base/system/environment.ts';
import { StartedProcesses } from '../../base/system/startedProcesses.ts';
import type { RunSink } from './commandRuns.ts';
import { assertNotStopped, type CommandEnd, type CommandPlan } from './commandPlan.ts';
import { prepareCall, type ShellCall } from './shellCall.ts';

/** How long the output may stay open after the shell has ended, in milliseconds. */
const DRAIN_MS = 500;

/**
 * Runs a command: exactly the given text, in a shell of its own that is not interactive, with closed input and the output as it
 * comes. When the signal fires, it is ended with all that it has started. Processes that it leaves in the background are ended too,
 * except those in a session of their own. Settles seconds after that, even if processes do not end.
 * @param environment all variables; by default those of VS Code, with its own removed and the plan's changes made
 * @throws ToolError if the shell cannot be started, or the command was stopped before.
 */
export async function runInShell(
  plan: CommandPlan,
  run: RunSink,
  environment = withVariables(withoutEditor(process.env), plan.environment),
): Promise<CommandEnd> {
  const call = await prepareCall(plan);
  try {
    assertNotStopped(run.signal);
    return await runCall(plan, call, run, environment);
  } finally {
    // Windows refuses while a running program holds the files.
    await call.remove().catch(() => undefined);
  }
}

async function runCall(
  { shell, folder }: CommandPlan,
  { args, isVerbatim }: ShellCall,
  { signal, add }: RunSink,
  environment: NodeJS.ProcessEnv,
): Promise<CommandEnd> {
  const processes = new StartedProcesses();
  const child = spawn(shell, args, {
    cwd: folder,
    env: { ...environment, ...processes.variables },
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    windowsVerbatimArguments: isVerbatim,
  });
  processes.own(child);
  // The streams are missing if the system has run out of file descriptors.
  const streams = [child.stdout, child.stderr].filter(Boolean);
  for (const stream of streams) stream.setEncoding('utf8').on('data', add);
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()));
  let drain: NodeJS.Timeout | undefined;
  const ended = new AbortController();
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(), { signal: ended.signal });
      void closed.then(resolve);
      child.once('exit', () => (drain = setTimeout(resolve, DRAIN_MS)));
      child.once('error', reject);
    });
  } catch (error) {
    throw new ToolError(`The shell ${shell} cannot be started: ${messageOf(error)}. Nothing was run.`);
  } finally {
    clearTimeout(drain);
    ended.abort();
  }
  const left = await processes.end(signal.aborted ? 'all' : 'attached');
  // A process that has left the session may hold the output open forever.
  await Promise.race([closed, delay(DRAIN_MS, undefined, { ref: false })]);
  for (const stream of streams) stream.destroy();
  // How a command that was stopped reports its end depends on which of its processes ended first.
  return { exitCode: signal.aborted ? undefined : (child.exitCode ?? undefined), ...left };
}
