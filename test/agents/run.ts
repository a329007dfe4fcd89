/**
 * Runs agents of other programs against a scripted model on this machine, with Redline's core behind its MCP server, and with the
 * configuration that *Connect an Agent…* writes; on Linux then in a view, without it.
 *
 *   run.ts [--write] [--day] <redline-mcp.cjs> <agent>=<folder in which it is installed>…
 *
 * With `--day`, only the day of each agent is played. What is held is compared with the table of what holds; with `--write`, it is written into that table.
 */
import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import type { AgentHolds, ModeHolds } from '../../src/agent/clients/setUp/agentHolds.ts';
import { LIMIT_MS, runConnected } from './connectedRun.ts';
import { playDay } from './day.ts';
import { playHolds } from './holds.ts';
import { differences, written } from './holdsFile.ts';
import { playInView } from './inView.ts';
import { realAgents, type RealAgent } from './realAgents.ts';
import { failureOf, story, type Findings } from './story.ts';

/** How long the day of one agent may take, in milliseconds: a terminal and the next one. */
const DAY_LIMIT_MS = 2 * LIMIT_MS;
const STEPS = ['shell held', 'staged', 'disk unchanged', 'decided', 'edit survived', 'told'] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean' }, day: { type: 'boolean' } },
});
const [bridge = '', ...installations] = positionals;
const folders = new Map(
  installations.map(each => [each.split('=', 1)[0], each.slice(each.indexOf('=') + 1)]),
);
const faults: string[] = [];
const ran: AgentHolds[] = [];
for (const agent of realAgents.filter(({ id }) => folders.has(id))) {
  const installed = path.resolve(folders.get(agent.id) ?? '');
  const version = versionOf(path.join(installed, agent.program));
  console.log(`\n${agent.name} ${version} (${agent.package})`);
  const modes = values.day === true ? [] : await playAll(agent, installed);
  // Views are there on Linux only.
  if (process.platform === 'linux') await playedDay(agent, installed);
  if (values.day !== true)
    ran.push({ name: agent.name, version, date: new Date().toISOString().slice(0, 10), modes });
}
if (faults.length === 0 && values.write === true) written(ran);
else faults.push(...differences(ran));
if (faults.length > 0) console.log(`\n${faults.join('\n')}`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Plays every story of an agent, and tells how each went. @returns what was held in each of its modes */
async function playAll(agent: RealAgent, installed: string): Promise<readonly ModeHolds[]> {
  const modes: ModeHolds[] = [];
  const [free] = Object.keys(agent.modes);
  if (free !== undefined) {
    const findings: Findings = { found: new Set() };
    const run = { installed, bridge, mode: free, tool: 'propose_edit' };
    const why = await runConnected(
      agent,
      run,
      workspace => story(workspace, agent, findings),
      model => failureOf(findings, model),
    ).catch(String);
    report(agent, why, `proposes and is told: ${STEPS.filter(step => findings.found.has(step)).join(', ')}`);
  }
  for (const mode of Object.keys(agent.modes))
    take(await playHolds(agent, { installed, bridge, mode }).catch(String));
  if (process.platform === 'linux') take(await playInView(agent, installed, LIMIT_MS).catch(String));
  const inCopy = await playInView(agent, installed, LIMIT_MS, 'copy').catch(String);
  report(agent, typeof inCopy === 'string' ? inCopy : '', 'in an agent terminal on a copy: all held');
  return modes;

  function take(seen: ModeHolds | string): void {
    if (typeof seen === 'string') return report(agent, seen, '');
    modes.push(seen);
    report(agent, '', `${seen.mode}: edit tools ${seen.edits}, sed ${seen.sed}, script ${seen.script}`);
  }
}

/** Plays four hours in a terminal, and prints what was told. */
async function playedDay(agent: RealAgent, installed: string): Promise<void> {
  const { why, transcript } = await playDay(agent, installed, DAY_LIMIT_MS);
  report(agent, why, 'four hours in an agent terminal:');
  for (const line of transcript) console.log(`    ${line}`);
}

function report({ name }: RealAgent, why: string, found: string): void {
  if (why !== '') faults.push(`${name}: ${why}`);
  console.log(why === '' ? `  ${found}` : `  FAILED ${found} ${why.split('\n')[0]}`);
}

/** The version that the program tells, such as 1.2.3. */
function versionOf(program: string): string {
  const PATH = [path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter);
  const told = execFileSync(program, ['--version'], { encoding: 'utf8', env: { PATH, HOME: '/nowhere' } });
  return /\d+\.\d+\.\d+/.exec(told)?.[0] ?? '';
}
