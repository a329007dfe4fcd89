/**
 * `redline-mcp`: the program that agents start to reach Redline. It runs in plain Node.
 *
 *     node redline-mcp.cjs [folder]
 *
 * The folder is the one that the agent works in; by default the current one.
 */
import { homedir } from 'node:os';
import { messageOf } from '../../base/errors.ts';
import { realPathOf, windowsFolder } from '../windowFiles.ts';
import { runBridge } from './bridge.ts';

/** The version of Redline, in the built program. */
declare const REDLINE_VERSION: string | undefined;

async function main(): Promise<void> {
  const [folder = process.cwd()] = process.argv.slice(2);
  await runBridge({
    cwd: await realPathOf(folder),
    windows: windowsFolder(homedir()),
    version: typeof REDLINE_VERSION === 'string' ? REDLINE_VERSION : 'development',
  });
}

main().then(
  // Once the agent has gone, this program ends, even if a window does not answer or a pipe stays open.
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`redline-mcp: ${messageOf(error)}\n`);
    process.exitCode = 1;
  },
);
