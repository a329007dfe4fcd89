/** How to call npm from a script: the very npm that started us where there is one, else the one on PATH. */
import { run } from './command.mjs';

/** Settings that keep npm's output to what matters in a log. */
const QUIET = {
  npm_config_fund: 'false',
  npm_config_audit: 'false',
  npm_config_loglevel: 'error',
  npm_config_update_notifier: 'false',
};

/**
 * Runs npm to its end.
 * @param {string[]} args
 * @param {{ cwd: string, quiet?: boolean }} options with `quiet` the standard output is not shown
 * @throws {Error} when npm is missing or ends with another status than 0
 */
export async function npm(args, { cwd, quiet = false }) {
  const own = process.env.npm_execpath?.endsWith('.js') ? process.env.npm_execpath : undefined;
  const [command, rest] = own ? [process.execPath, [own, ...args]] : ['npm', args];
  // On Windows npm is a .cmd file, which only a shell runs.
  const shell = !own && process.platform === 'win32';
  const status = await run(command, rest, { cwd, quiet, shell, env: QUIET });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with status ${status}`);
}
