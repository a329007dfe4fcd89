/**
 * Runs agents of other programs against a scripted model on this machine, with Redline's core behind its MCP server, and with the
 * configuration that *Connect an Agent…* writes.
 *
 *   run.ts <redline-mcp.cjs> <agent>=<folder in which it is installed>…
 */
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { connectedText } from '../../src/agent/clients/setUp/connectedText.ts';
import { knownAgents } from '../../src/agent/clients/setUp/knownAgents.ts';
import { playInView } from './inView.ts';
import { ModelServer } from './modelServer.ts';
import { realAgents, type Launch, type RealAgent } from './realAgents.ts';
import { ReviewedWorkspace } from './reviewedWorkspace.ts';
import { failureOf, story, type Findings } from './story.ts';

/** How long one agent may take, in milliseconds. */
const LIMIT_MS = 120_000;
const PROMPT = 'Change the three files as the plan says. Use the tools of the server redline.';
const STEPS = ['shell held', 'staged', 'disk unchanged', 'decided', 'edit survived', 'told'] as const;

const [bridge = '', ...given] = process.argv.slice(2);
const folders = new Map(given.map(each => [each.split('=', 1)[0], each.slice(each.indexOf('=') + 1)]));
const rows: string[][] = [];
let failed = 0;
for (const agent of realAgents.filter(({ id }) => folders.has(id))) {
  const findings: Findings = { found: new Set() };
  const isConnected = knownAgents.some(({ id }) => id === agent.id);
  const why = isConnected ? await play(agent, findings).catch((error: unknown) => String(error)) : '';
  // Views are there on Linux only.
  const inView =
    process.platform === 'linux'
      ? await playInView(agent, path.resolve(folders.get(agent.id) ?? ''), LIMIT_MS).catch(String)
      : undefined;
  if (why !== '' || (inView ?? '') !== '') failed++;
  rows.push([
    ...[agent.name, agent.package, agent.mode],
    ...STEPS.map(step => (findings.found.has(step) ? 'yes' : '-')),
    inView === '' ? 'yes' : '-',
    [why, inView ?? ''].filter(each => each !== '').join('\n') || 'ok',
  ]);
}
printTable([['agent', 'package', 'mode', ...STEPS, 'held in a view', 'result'], ...rows]);
process.exitCode = failed === 0 ? 0 : 1;

/** @returns why the run was not right; empty if it was. */
async function play(agent: RealAgent, findings: Findings): Promise<string> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), `redline-${agent.id}-`)));
  const home = path.join(root, 'home');
  mkdirSync(home);
  const workspace = await ReviewedWorkspace.open(root, home);
  for (const file of knownAgents.find(({ id }) => id === agent.id)?.files ?? []) {
    const name = file.names.at(-1) ?? '';
    workspace.put(name, await connectedText(file, name, null, path.resolve(bridge)));
  }
  const model = await ModelServer.start('propose_edit', agent.pause, story(workspace, agent, findings));
  const log = path.join('out', 'agents', `${agent.id}.log`);
  try {
    const installed = folders.get(agent.id) ?? '';
    const run = {
      installed,
      home,
      folder: workspace.folder,
      model: model.url,
      prompt: PROMPT,
    };
    const launch = agent.launch(run);
    const place = { cwd: workspace.folder, home, log };
    if (launch.before) await start({ ...launch, args: launch.before }, place);
    const end = await start(launch, place);
    const why = failureOf(findings, model);
    return why === '' ? '' : `${why.split('\n')[0]} (${end}; see ${log})\n${model.log.join('\n')}`;
  } finally {
    model.close();
    await workspace.close();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Runs it until it ends, or ends it. @returns how it ended. */
function start(
  { command, args, env }: Launch,
  { cwd, home, log }: { cwd: string; home: string; log: string },
): Promise<string> {
  mkdirSync(path.dirname(log), { recursive: true });
  const output = createWriteStream(log);
  // Nothing of the environment but what a program needs: other tools' keys and settings stay out.
  const base = {
    // The configuration starts `node`.
    PATH: [path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter),
    HOME: home,
    USERPROFILE: home,
    TMPDIR: tmpdir(),
    TERM: 'dumb',
    CI: '1',
  };
  const child = spawn(command, args, {
    cwd,
    env: { ...base, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  return new Promise(resolve => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, LIMIT_MS);
    const done = (how: string): void => {
      clearTimeout(timer);
      output.end();
      resolve(isLate ? `ended after ${LIMIT_MS / 1000} s` : how);
    };
    child.once('error', error => done(`could not be started: ${error.message}`));
    child.once('close', code => done(`exit status ${code}`));
  });
}

function printTable(table: readonly (readonly string[])[]): void {
  const details: string[] = [];
  const short = table.map(row =>
    row.map(cell => {
      const [first = '', ...rest] = cell.split('\n');
      if (rest.length > 0) details.push(`${row[0]}:`, ...rest.map(line => `  ${line}`));
      return first;
    }),
  );
  const widths = short[0]?.map((_, column) => Math.max(...short.map(row => row[column]?.length ?? 0))) ?? [];
  for (const row of short)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  if (details.length > 0) console.log(`\n${details.join('\n')}`);
}
