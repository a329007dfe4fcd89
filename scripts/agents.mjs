/**
 * `npm run test:agents`: runs agents of other programs, pinned, against a scripted model on this machine, with Redline's core
 * behind `redline-mcp` and the configuration that *Connect an Agent…* writes: what they propose is held back, their shell writes
 * nothing, and their model is told what was decided. Then what their edit tools and their shell can write is seen in each of
 * their modes, and compared with the table of what holds. On Linux each then works in a view, without that configuration.
 *
 *   npm run test:agents -- --only=claude,codex   only these: opencode, claude, codex
 *   npm run test:agents -- --only=day,codex      only four hours of an agent in its terminal, on a simulated clock
 *   npm run test:agents -- --write               what is seen becomes the table (then: npm run docs)
 *
 * Installs the agents from npm into `.vscode-test/agents`, once for each version.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { runNode } = await import('./lib/command.mjs');
const { cleanUp } = await import('./lib/cleanup.mjs');
const { downloads, inRepo } = await import('./lib/paths.mjs');
const { installPackage } = await import('./lib/installPackage.mjs');
const { realAgents } = await import('../test/agents/realAgents.ts');

const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean' } } });
const { true: day, false: named = [] } = Object.groupBy(
  values.only?.split(',') ?? [],
  each => each === 'day',
);
const ids = named.length > 0 ? named : realAgents.map(({ id }) => id);
const unknown = ids.filter(id => !realAgents.some(agent => agent.id === id));
if (unknown.length > 0) {
  console.error(
    `There is no agent ${unknown.join(', ')}; there are ${realAgents.map(({ id }) => id).join(', ')}.`,
  );
  process.exit(1);
}

const bridge = inRepo('dist', 'redline-mcp.cjs');
let status = await runNode([inRepo('esbuild.mjs')], { quiet: true });
const installed = [];
for (const agent of realAgents.filter(({ id }) => status === 0 && ids.includes(id))) {
  const folder = path.join(downloads, 'agents', agent.package.replaceAll('/', '+'));
  try {
    await installPackage(agent.package, folder);
    installed.push(`${agent.id}=${folder}`);
  } catch (error) {
    console.error(`${agent.name} is not run: ${error.message}`);
    status = 1;
  }
}
if (installed.length > 0 && fs.existsSync(bridge)) {
  const ended = await runNode([
    '--disable-warning=ExperimentalWarning',
    'test/agents/run.ts',
    ...(values.write ? ['--write'] : []),
    ...(day ? ['--day'] : []),
    bridge,
    ...installed,
  ]);
  status ||= ended;
}
await cleanUp();
process.exitCode = status;
