import { spawn, type ChildProcess } from 'node:child_process';
import { messageOf } from '../../base/errors.ts';
import type { ExecOptions, ExecResult } from './redline.d.ts';

/** The most characters of a program's output, after which it is ended. */
const MAX_OUTPUT = 10_000_000;
/** What shells answer for a command that they cannot start. */
const NOT_STARTED = 127;
/** How long a program that is to end may tidy up, in milliseconds. */
const GRACE_MS = 2_000;

/**
 * Runs a program without a shell. Never rejects. What is ended settles although programs that it began run on and hold its
 * output, also where it has come to its own end before.
 */
export function exec(
  command: string,
  args: readonly string[],
  cwd: string,
  { cwd: at, signal, timeout, env }: ExecOptions,
): Promise<ExecResult> {
  let child: ChildProcess;
  try {
    child = spawn(command, args, {
      cwd: at ?? cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
  } catch (error) {
    // No name, or one with a zero byte: such are not even tried.
    return Promise.resolve({ stdout: '', stderr: messageOf(error), code: NOT_STARTED, killed: false });
  }
  return new Promise(resolve => {
    const output = { stdout: '', stderr: '' };
    let killed = false;
    let grace: NodeJS.Timeout | undefined;
    /** Others may hold its output for ever. */
    const letGo = (): void => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const end = (): void => {
      if (killed) return;
      killed = true;
      if (child.exitCode !== null || child.signalCode !== null) return letGo();
      child.kill();
      grace = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
    };
    const timer = timeout === undefined ? undefined : setTimeout(end, timeout);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
    const settle = (code: number | null): void => {
      clearTimeout(timer);
      clearTimeout(grace);
      signal?.removeEventListener('abort', end);
      resolve({ ...output, code, killed });
    };
    for (const stream of ['stdout', 'stderr'] as const)
      // There is none where the system has no file left to open.
      child[stream]?.setEncoding('utf8').on('data', (text: string) => {
        if (output[stream].length > MAX_OUTPUT) return;
        output[stream] += text;
        if (output[stream].length > MAX_OUTPUT) end();
      });
    child.on('error', error => {
      output.stderr += error.message;
      settle(NOT_STARTED);
    });
    child.on('exit', () => {
      if (killed) letGo();
    });
    child.on('close', settle);
  });
}
