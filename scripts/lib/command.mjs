/** Runs other programs with their output shown as it comes. */
import { spawn } from 'node:child_process';
import { atExit } from './cleanup.mjs';
import { repoRoot } from './paths.mjs';

/**
 * Runs a program in the checkout's top folder and waits for its end. It is ended with this process.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string | undefined>, shell?: boolean }} [options] `env` is added to our own
 * @returns {Promise<number>} its exit status; 1 when it could not be started or was killed
 */
export function run(command, args, { env = {}, shell = false } = {}) {
  return new Promise(resolve => {
    const child = spawn(command, args, {
      cwd: repoRoot,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
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
