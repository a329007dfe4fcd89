/** Stage "check": compilers and linters. Each counts as one check. */
import * as os from 'node:os';
import { runNode } from '../lib/command.mjs';
import { inRepo } from '../lib/paths.mjs';

const tool = (...parts) => inRepo('node_modules', ...parts);

const TOOLS = [
  ['tsc', [tool('typescript', 'bin', 'tsc'), '-p', 'tsconfig.json']],
  ['tsc of the chat webview', [tool('typescript', 'bin', 'tsc'), '-p', 'src/views/chat/webview']],
  ['eslint', [tool('eslint', 'bin', 'eslint.js'), '.']],
  ['prettier', [tool('prettier', 'bin', 'prettier.cjs'), '--check', '--log-level=warn', '.']],
  ['knip', [tool('knip', 'bin', 'knip.js')]],
];

export async function check() {
  // It runs beside the UI tests, whose windows are not to wait for it. The tools inherit it.
  os.setPriority(os.constants.priority.PRIORITY_LOW);
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, args] of TOOLS) {
    const good = (await runNode(args)) === 0;
    counts[good ? 'passed' : 'failed']++;
    console.log(`${good ? '✔' : '✖'} ${name}`);
  }
  return counts;
}
