/**
 * `redline-gate`: the hook that agents run before each of their tools. It runs in plain Node, asks no window, and exits with 2
 * unless the tool may run: agents take that for a refusal even if they do not read the rest.
 *
 *     node redline-gate.cjs [tool that is allowed, too]…
 *
 * Hooks that users once put into their home folder have `--connected-only` before these.
 */
import { readFileSync } from 'node:fs';
import { CONNECTED_ONLY, isConnected, refusalOf, refusalText } from './gate.ts';

process.exitCode = 2;
const input = readFileSync(0, 'utf8');
const allowed = process.argv.slice(2);
const holds = allowed[0] !== CONNECTED_ONLY || isConnected(input);
const reason = holds ? refusalOf(input, allowed) : undefined;
if (reason === undefined) process.exitCode = 0;
else {
  process.stdout.write(refusalText(reason));
  process.stderr.write(`${reason}\n`);
}
process.on('uncaughtException', () => process.exit(2));
