import { spawn } from 'node:child_process';
import type { ExecOptions, ExecResult } from './redline.d.ts';

/** The most characters of a program's output, after which it is ended. */
const MAX_OUTPUT = 10_000_000;
/** What shells answer for a command that they cannot start. */
const NOT_STARTED = 127;

/** Runs a program without a shell. Never rejects. */
export function exec(
  command: string,
  args: readonly string[],
  cwd: string,
  { cwd: at, signal, timeout, env }: ExecOptions,
): Promise<ExecResult> {
  return new Promise(resolve => {
    let stdout = '';
    let stderr = '';
    let killed = false;
    const child = spawn(command, args, {
      cwd: at ?? cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const end = (): void => {
      killed = true;
      child.kill();
    };
    const timer = timeout === undefined ? undefined : setTimeout(end, timeout);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
    const settle = (code: number | null): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve({ stdout, stderr, code, killed });
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout.length > MAX_OUTPUT) end();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      if (stderr.length > MAX_OUTPUT) end();
    });
    child.on('error', error => {
      stderr += error.message;
      settle(NOT_STARTED);
    });
    child.on('close', code => settle(code));
  });
}
