/**
 * `redline-run`: runs a program, such as an agent, in a view of the workspace. Its changes there become previews in VS Code. It
 * runs in plain Node, on Linux.
 *
 *     node redline-run.cjs [--window <file>] -- <command> [argument…]
 *
 * The file is one that a window has left for its own terminals; by default the window is found by the current folder.
 */
import { homedir } from 'node:os';
import { escapeLine } from '../../base/foreignText.ts';
import { messageOf } from '../../base/errors.ts';
import { windowsFolder } from '../windowFiles.ts';
import { runInView } from './runInView.ts';

// A terminal that was closed cannot be written to or measured. The program may still be at work, and has to be waited for.
process.stderr.on('error', () => undefined);

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const file = args[0] === '--window' ? args.splice(0, 2)[1] : undefined;
  if (args.shift() !== '--' || args.length === 0) {
    process.stderr.write('Usage: redline-run [--window <file>] -- <command> [argument…]\n');
    return 64;
  }
  return runInView(args, {
    home: homedir(),
    windows: windowsFolder(homedir()),
    say: line => process.stderr.write(`${escapeLine(line)}\n`),
    file,
  });
}

main().then(
  code => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`redline-run: ${escapeLine(messageOf(error))}. Nothing was started.\n`);
    process.exitCode = 125;
  },
);
