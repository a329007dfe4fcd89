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
export function run(
  command,
  args,
  { env = {}, cwd = repoRoot, shell = false, quiet = false, onOutput } = {},
) {
  return new Promise(resolve => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: onOutput ? ['ignore', 'pipe', 'pipe'] : ['ignore', quiet ? 'ignore' : 'inherit', 'inherit'],
      shell,
    });
    if (onOutput) for (const stream of [child.stdout, child.stderr]) stream.on('data', onOutput);
    const closed = new Promise(resolveClosed => child.once('close', resolveClosed));
    const unregister = atExit(
      async () => {
        child.kill('SIGTERM');
        await closed;
      },
      () => child.kill('SIGKILL'),
    );
    let status = 1;
    child.once('error', error => {
      console.error(`${command} could not be started: ${error.message}`);
      done();
    });
    child.once('close', code => {
      status = code ?? 1;
      done();
    });
    const done = () => {
      void unregister();
      resolve(status);
    };
  });
}

/** Runs a script with the Node that runs this process. */
export const runNode = (args, options) => run(process.execPath, args, options);
