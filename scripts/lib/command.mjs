/** Runs other programs with their output shown as it comes. */
import { spawn } from 'node:child_process';
import { atExit } from './cleanup.mjs';
import { repoRoot } from './paths.mjs';

/**
 * Runs a program and waits for its end. It is ended with this process.
 * @param {string} command
 * @param {string[]} args
 * @param {object} [options]
 * @param {Record<string, string | undefined>} [options.env] added to our own
 * @param {string} [options.cwd] the checkout's top folder when omitted
 * @param {boolean} [options.shell] for programs that only a shell runs
 * @param {boolean} [options.quiet] does not show the standard output
 * @returns {Promise<number>} its exit status; 1 when it could not be started or was killed
 */
export function run(command, args, { env = {}, cwd = repoRoot, shell = false, quiet = false } = {}) {
  return new Promise(resolve => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', quiet ? 'ignore' : 'inherit', 'inherit'],
      shell,
    });
    const gone = new Promise(done => child.once('close', done));
    const forget = atExit(
      async () => {
        child.kill('SIGTERM');
        await gone;
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
      void forget();
      resolve(status);
    };
  });
}

/** Runs a script with the Node that runs us. */
export const runNode = (args, options) => run(process.execPath, args, options);
