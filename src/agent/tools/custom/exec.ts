import { spawn, type ChildProcess } from 'node:child_process';
import { messageOf } from '../../base/errors.ts';
import { withVariables } from '../../base/system/environment.ts';
import type { ExecOptions, ExecResult } from './redline.d.ts';

/** The most characters of output on each stream; a program that writes more is killed. */
const MAX_OUTPUT = 10_000_000;
/** The exit code that shells use for a command that cannot be started. */
const NOT_STARTED = 127;
/** How long a program may take to end by itself before it is killed for good, in milliseconds. */
const GRACE_MS = 2_000;

/**
 * Runs a program without a shell. Never rejects. When the program is to be killed, the promise settles even if processes
 * that the program started still run and hold its output open.
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
      env: withVariables(process.env, env ?? {}),
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
  } catch (error) {
    // An empty name, or one with a zero byte, throws at once.
    return Promise.resolve({ stdout: '', stderr: messageOf(error), code: NOT_STARTED, killed: false });
  }
  return new Promise(resolve => {
    const output = { stdout: '', stderr: '' };
    let killed = false;
    let grace: NodeJS.Timeout | undefined;
    /** Child processes may hold the output open for ever. */
    const closeOutput = (): void => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const end = (): void => {
      if (killed) return;
      killed = true;
      if (child.exitCode !== null || child.signalCode !== null) return closeOutput();
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
      // The stream is missing if the system has run out of file descriptors.
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
      if (killed) closeOutput();
    });
    child.on('close', settle);
  });
}
