import { execFileSync, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { connectedText } from '../../src/agent/clients/setUp/connectedText.ts';
import { jsonWith } from '../../src/agent/clients/setUp/jsonConfig.ts';
import { knownAgents } from '../../src/agent/clients/setUp/knownAgents.ts';
import { ModelServer, type Script } from './modelServer.ts';
import type { Launch, Mode, RealAgent } from './realAgents.ts';
import { ReviewedWorkspace } from './reviewedWorkspace.ts';

/** How long one agent may take, in milliseconds. */
export const LIMIT_MS = 120_000;
const PROMPT = 'Change the files as the plan says. Use the tools of the server redline.';

export interface ConnectedRun {
  /** The folder in which the agent is installed. */
  readonly installed: string;
  /** The path of `redline-mcp`. */
  readonly bridge: string;
  /** One of the modes of the agent. */
  readonly mode: string;
  /** A tool that every request of the script offers. */
  readonly tool: string;
}

/**
 * Runs an agent once in a folder with the files that *Connect an Agent…* writes, with Redline's core behind `redline-mcp`.
 * @param makeScript puts the files of the story into the workspace, and tells what the model says then; it is given what makes a
 *   path of the workspace of the name of a file where the agent is started
 * @param check returns why the run was not right; empty if it was
 * @returns that, with what explains it
 */
export async function runConnected(
  agent: RealAgent,
  { installed, bridge, mode: name, tool }: ConnectedRun,
  makeScript: (workspace: ReviewedWorkspace, inPlace: (name: string) => string) => Script,
  check: (model: ModelServer) => string,
): Promise<string> {
  const mode = agent.modes[name] ?? agent.free;
  const root = await realpath(await mkdtemp(path.join(tmpdir(), `redline-${agent.id}-`)));
  const home = path.join(root, 'home');
  for (const folder of [home, path.join(root, 'tmp')]) mkdirSync(folder);
  const workspace = await ReviewedWorkspace.open(root, home);
  for (const file of knownAgents.find(({ id }) => id === agent.id)?.files ?? []) {
    const at = file.names.at(-1) ?? '';
    workspace.put(at, await connectedText(file, at, null, path.resolve(bridge)));
  }
  if (mode.adds) {
    const { file, entries } = mode.adds;
    workspace.put(file, await jsonWith(file, workspace.text(file), entries));
  }
  const cwd = await placed(workspace.folder, mode);
  const inPlace = (file: string): string => path.relative(workspace.folder, path.join(cwd, file));
  const log = path.join('out', 'agents', `${agent.id} ${name}.log`);
  const played = async (
    script: Script,
    args: readonly string[],
  ): Promise<[end: string, model: ModelServer]> => {
    const model = await ModelServer.start(tool, agent.pause, script);
    try {
      const launch = agent.launch({
        // Programs ask for trust in the repository; without one, in the current folder.
        installed,
        home,
        folder: mode.place === 'subfolder' ? cwd : workspace.folder,
        model: model.url,
        prompt: PROMPT,
        mode: { ...mode, args },
      });
      return [await start(launch, { cwd, home, log }), model];
    } finally {
      model.close();
    }
  };
  try {
    if (mode.isResumed) await played(async () => ({ text: 'Hello.' }), []);
    const [end, model] = await played(makeScript(workspace, inPlace), mode.args);
    const why = check(model);
    return why === '' ? '' : `${name}: ${why.split('\n')[0]} (${end}; see ${log})\n${model.log.join('\n')}`;
  } finally {
    await workspace.close();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Makes the place where an agent is started, of what is in the folder. @returns it */
async function placed(folder: string, { place }: Mode): Promise<string> {
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], {
      cwd: folder,
      stdio: 'ignore',
    });
  if (place !== undefined && place !== 'subfolder') {
    git('init', '-b', 'main');
    git('commit', '--allow-empty', '-m', 'First');
  }
  const cwd = {
    subfolder: 'src',
    'subfolder of a repository': 'src',
    repository: '.',
    worktree: '../worktree',
  }[place ?? 'repository'];
  if (place === 'worktree') git('worktree', 'add', cwd);
  else mkdirSync(path.join(folder, cwd), { recursive: true });
  return path.join(folder, cwd);
}

/**
 * Runs it until it ends, or ends it.
 * @returns how it ended.
 */
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
    // Codex runs no sandbox of its own if its home is in the folder of temporary files.
    TMPDIR: path.join(path.dirname(home), 'tmp'),
    TERM: 'dumb',
    CI: '1',
  };
  const child = spawn(command, args, {
    cwd,
    env: { ...base, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  child.stdout?.pipe(output, { end: false });
  child.stderr?.pipe(output, { end: false });
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  return new Promise(resolve => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      kill();
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
