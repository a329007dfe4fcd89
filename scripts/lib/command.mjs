/** Runs other programs, and shows their output or hands it on. */
import { spawn } from 'node:child_process';
import { atExit } from './cleanup.mjs';
import { repoRoot } from './paths.mjs';

/**
 * Runs a program and waits until it ends. If this process ends first, it ends the program.
 * @param {string} command
 * @param {string[]} args
 * @param {object} [options]
 * @param {Record<string, string | undefined>} [options.env] added to our own
 * @param {string} [options.cwd] the repository's root when omitted
 * @param {boolean} [options.shell] runs it in a shell
 * @param {boolean} [options.quiet] hides the standard output
 * @param {(chunk: Buffer) => void} [options.onOutput] is given standard output and errors as they come, in place of ours
 * @returns {Promise<number>} its exit status, or 1 when it could not be started or was killed
 */
export async function run(
  command,
  args,
  { env = {}, cwd = repoRoot, shell = false, quiet = false, onOutput } = {},
) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: onOutput ? ['ignore', 'pipe', 'pipe'] : ['ignore', quiet ? 'ignore' : 'inherit', 'inherit'],
    shell,
  });
  if (onOutput) for (const stream of [child.stdout, child.stderr]) stream.on('data', onOutput);
  const failure = await endOf(child);
  if (child.pid !== undefined) return child.exitCode ?? 1;
  console.error(`${command} could not be started: ${failure}`);
  return 1;
}

/**
 * Waits until a program has ended. If this process ends first, it ends the program.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<string | undefined>} how it failed, if it did: a signal, a status, or why it could not be started
 */
export async function endOf(child) {
  const closed = new Promise(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('close', (status, signal) =>
      resolve(signal ?? (status === 0 ? undefined : `status ${status}`)),
    );
  });
  const unregister = atExit(
    async () => {
      child.kill('SIGTERM');
      await closed;
    },
    () => child.kill('SIGKILL'),
  );
  const failure = await closed;
  void unregister();
  return failure;
}

/** Runs a script with the Node that runs this process. */
export const runNode = (args, options) => run(process.execPath, args, options);
