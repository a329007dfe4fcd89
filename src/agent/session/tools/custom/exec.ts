import { spawn, type ChildProcess } from 'node:child_process';
import { messageOf } from '../../../base/errors.ts';
import { withoutEditor, withVariables } from '../../../base/system/environment.ts';
import { programCall } from '../../../base/system/programCall.ts';
import { StartedProcesses } from '../../../base/system/startedProcesses.ts';
import type { ExecOptions, ExecResult } from '../../../../../examples/tools/redline.d.ts';

/** The most bytes of output on each stream; a program that writes more is killed. */
const MAX_OUTPUT = 10_000_000;
/** The exit code that shells use for a command that cannot be started. */
const NOT_STARTED = 127;

/**
 * Runs a program without a shell, and without the variables of VS Code itself. Never rejects. When it must be killed, all that it
 * has started is ended too, and the promise settles within seconds.
 */
export async function exec(
  command: string,
  args: readonly string[],
  cwd: string,
  { cwd: at, signal, timeout, env }: ExecOptions,
): Promise<ExecResult> {
  const processes = new StartedProcesses();
  const folder = at ?? cwd;
  const environment = withVariables(withoutEditor(process.env), {
    // The extension host's program runs as Node only with this variable.
    ...(command === process.execPath && { ELECTRON_RUN_AS_NODE: process.env['ELECTRON_RUN_AS_NODE'] }),
    ...env,
    ...processes.variables,
  });
  let child: ChildProcess;
  try {
    const { program, isVerbatim, ...call } = programCall(command, args, folder, environment);
    child = spawn(program, call.args, {
      cwd: folder,
      env: environment,
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      windowsVerbatimArguments: isVerbatim,
    });
  } catch (error) {
    // An empty name, or one with a zero byte, throws at once.
    return { stdout: '', stderr: messageOf(error), code: NOT_STARTED, killed: false };
  }
  processes.own(child);
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let killed = false;
  const code = await new Promise<number | null>(resolve => {
    const end = (): void => {
      if (killed) return;
      killed = true;
      void processes.end('all').then(() => {
        // A process that could not be ended may hold the output open for ever.
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve(child.exitCode);
      });
    };
    const timer = timeout === undefined ? undefined : setTimeout(end, timeout);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
    for (const stream of ['stdout', 'stderr'] as const) {
      let size = 0;
      // The stream is missing if the system has run out of file descriptors.
      child[stream]?.on('data', (chunk: Buffer) => {
        if (size > MAX_OUTPUT) return;
        output[stream].push(chunk);
        size += chunk.length;
        if (size > MAX_OUTPUT) end();
      });
    }
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    };
    child.on('error', error => {
      settle();
      output.stderr.push(Buffer.from(error.message));
      resolve(NOT_STARTED);
    });
    child.on('close', ended => {
      settle();
      if (!killed) resolve(ended);
    });
  });
  const textOf = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8');
  return { stdout: textOf(output.stdout), stderr: textOf(output.stderr), code, killed };
}
