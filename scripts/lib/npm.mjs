/** Runs npm from a script: the npm that started this process if there is one, else the one on PATH. */
import { run } from './command.mjs';

/** Settings that limit npm's output to errors. */
const QUIET = {
  npm_config_fund: 'false',
  npm_config_audit: 'false',
  npm_config_loglevel: 'error',
  npm_config_update_notifier: 'false',
};

/**
 * Runs npm and waits until it ends.
 * @param {string[]} args
 * @param {{ cwd: string, quiet?: boolean }} options `quiet` hides the standard output
 * @throws {Error} when npm is missing or fails
 */
export async function npm(args, { cwd, quiet = false }) {
  const own = process.env.npm_execpath?.endsWith('.js') ? process.env.npm_execpath : undefined;
  const [command, rest] = own ? [process.execPath, [own, ...args]] : ['npm', args];
  // On Windows npm is a .cmd file, which needs a shell.
  const shell = !own && process.platform === 'win32';
  const status = await run(command, rest, { cwd, quiet, shell, env: QUIET });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with status ${status}`);
}
