import { randomUUID } from 'node:crypto';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withoutEditor, withVariables } from '../../base/system/environment.ts';
import { isInside } from '../../base/system/realPath.ts';
import { programOnPath } from '../../base/system/searchPath.ts';
import { homeTools } from '../../sandbox/view/homeTools.ts';
import type { NamespaceOptions } from '../../sandbox/view/bubblewrap.ts';
import { Namespace } from '../../sandbox/view/namespace.ts';
import { proveWindow, type ProvenWindow } from '../mcp/proof.ts';
import { terminalAgents, type TerminalAgent } from '../view/terminalAgents.ts';
import { socketIn } from '../view/terminalFiles.ts';
import { connectToViews } from '../view/viewSocket.ts';
import { Lines, windowSchema, type ProgramMessage, type WindowMessage } from '../view/viewLines.ts';
import { openWindows, realPathOf, windowsFor } from '../windowFiles.ts';
import { CopyProgram } from './copyProgram.ts';
import { configuration, programFolders } from './homeFolders.ts';
import { hiddenPrograms, textOfFile } from './ownPrograms.ts';
import { SharedFile } from './sharedFile.ts';
import { told } from './toldAgent.ts';

/** Exit codes: nothing was started; there is no such program. */
const FAILED = 125;
const NOT_FOUND = 127;
/** How often to look for a window that has gone, and for how long after the program's end, in milliseconds. */
const RETRY_MS = 500;
const LAST_RETRIES_MS = 5_000;

/** The most files that are named. */
const MAX_NAMED = 10;

/** Milliseconds until the terminal says that the view is being made. */
const SLOW_MS = 2_000;

/** Variables that lead to programs outside of the view. */
const OUTSIDE = [
  ...['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR'],
  ...['SSH_AUTH_SOCK', 'GPG_AGENT_INFO', 'TMUX', 'GIT_ASKPASS', 'SSH_ASKPASS'],
];

/** The surroundings in which `redline-run` was started. */
export interface StartPlace {
  readonly home: string;
  /** See `windowsFolder`. */
  readonly windows: string;
  /** Names the socket of the window, if it is not to be found by the folder. */
  readonly file?: string;
  /** Tells the person at the terminal. */
  readonly say: (line: string) => void;
}

type Connection = Lines<WindowMessage, ProgramMessage>;

/**
 * Runs a program in a view of the workspace that the current folder is in, at this terminal. If no window makes and watches the
 * view, nothing is started. If the window goes away later, the program goes on, and the window that comes back takes its changes.
 * @returns the exit code of the program
 */
export async function runInView(command: readonly string[], options: StartPlace): Promise<number> {
  const { home, say } = options;
  const [name = '', ...args] = command;
  const found = /[/\\]/.test(name)
    ? await programOnPath(path.basename(name), path.resolve(path.dirname(name)))
    : await programOnPath(name);
  if (found === undefined) {
    say(`redline-run: there is no program ${name}. Nothing was started.`);
    return NOT_FOUND;
  }
  // The folder is resolved: a view has no links to it. The name is not: a program may act by the name that it was started by.
  const program = path.join(await realPathOf(path.dirname(found)), path.basename(found));
  const base = path.basename(name).replace(/\.(cmd|bat|exe|ps1)$/i, '');
  const known = terminalAgents.find(each => each.program === base);
  const agent = known?.name ?? base;
  const id = randomUUID();
  const cwd = await realPathOf(process.cwd());
  const fail = (reason: string): number => {
    say(`redline-run: ${reason} Nothing was started.`);
    return FAILED;
  };
  const lines = await connect(id, cwd, options);
  if (!lines)
    return fail(
      `no window of VS Code with Redline has ${cwd} open, or agents may not connect to it: run "Redline: Connect an Agent…" there.`,
    );
  lines.send({ kind: 'open', agent, cwd });
  const slow = setTimeout(() => say('redline: The view is being made…'), SLOW_MS);
  const made = await lines.next();
  clearTimeout(slow);
  if (made?.kind !== 'mounts') return fail(made?.kind === 'refused' ? made.reason : 'the window has gone.');
  for (const line of made.lines) say(`redline: ${line}`);
  const settings = textOfFile(
    path.join(process.env['CODEX_HOME'] ?? path.join(home, '.codex'), 'config.toml'),
  );
  const status = made.status.replace(/^~(?=\/)/, () => home);
  const start = told(base, { args, env: process.env }, settings, status, made.copies);
  const started = { program: [program, ...start.args], environment: withoutEditor(start.env), cwd };
  // In a copy, it has the home folder itself.
  const own = made.copies.length > 0 ? undefined : configuration(home, known);
  const viewHome = path.join(made.storage, 'home');
  const shared = await Promise.all((own?.files ?? []).map(file => SharedFile.start(file, viewHome)));
  const running = own
    ? mounted(made, { ...started, writable: own.folders }, known, options)
    : new CopyProgram({ ...made, ...started });
  // The terminal signals the program, too, which may go on after Ctrl+C.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) process.on(signal, () => undefined);
  for (const signal of ['SIGHUP', 'SIGTERM'] as const) process.on(signal, () => void running.pass(signal));
  const view = await running.entered;
  if (view === undefined) {
    lines.close();
    await running.release();
    return fail('The view could not be mounted.');
  }
  const processes = running instanceof CopyProgram ? await running.known() : undefined;
  lines.send({ kind: 'entered', view, processes });
  const answer = await lines.next();
  if (answer?.kind !== 'watching') {
    running.stop();
    await running.release();
    say(
      `redline-run: ${answer?.kind === 'refused' ? answer.reason : 'the window has gone.'} The program was ended.`,
    );
    return FAILED;
  }
  const ended = running.ended.then(async end => {
    await Promise.all(shared.map(file => file.stop()));
    return end;
  });
  const last = await followed({ id, agent, view, cwd }, lines, ended, options);
  await running.release();
  last.lines?.close();
  return last.end.exitCode ?? 1;
}

/** Starts a program in a mounted view, and names files that its settings ask for and the view lacks. */
function mounted(
  made: Extract<WindowMessage, { kind: 'mounts' }>,
  {
    program,
    environment,
    cwd,
    writable,
  }: Pick<NamespaceOptions, 'program' | 'environment' | 'cwd'> & { readonly writable: readonly string[] },
  agent: TerminalAgent | undefined,
  { home, say }: StartPlace,
): Namespace {
  const [file = ''] = program;
  const { storage, folders, links, searchPath, shown } = made;
  const readable = made.readable.filter(each => !isInside(home, each));
  const programs = programFolders(file, home, searchPath);
  const tools = homeTools(searchPath, home).binds.map(([, at]) => at);
  const own = [...writable, ...readable, ...programs, ...tools, ...folders.map(({ root }) => root)];
  const hidden = hiddenPrograms(agent?.program ?? '', home, own, cwd);
  if (hidden.length > 0)
    say(
      `redline: Your settings of ${agent?.name} name what is not there in this terminal, so it does not run: ${hidden.slice(0, MAX_NAMED).join(', ')}. The setting redline.agents.readable can show it.`,
    );
  return new Namespace({
    storage,
    folders,
    links: new Map(links),
    deleted: [],
    cwd,
    program,
    searchPath,
    environment: withVariables(environment, Object.fromEntries(OUTSIDE.map(each => [each, null]))),
    terminal: { writable, programs, readable, shown },
  });
}

/** A program that runs in a view, as windows know it. */
interface Running {
  readonly id: string;
  readonly agent: string;
  readonly view: string;
  readonly cwd: string;
}

/**
 * Stays connected to whichever window watches the view until the program has ended, and reports the fate of its changes.
 * @returns its end, and the connection if a window has taken the changes; close it once the view is released.
 */
async function followed<End>(
  running: Running,
  first: Connection,
  ended: Promise<End>,
  options: StartPlace,
): Promise<{ readonly end: End; readonly lines: Connection | undefined }> {
  let lines: Connection | undefined = first;
  let end: { readonly value: End } | undefined;
  const hasEnded = ended.then(value => (end = { value }));
  for (;;) {
    await Promise.race([hasEnded, lines?.closed ?? delay(RETRY_MS)]);
    if (end) break;
    lines = await comeBack(running, options);
  }
  const until = Date.now() + LAST_RETRIES_MS;
  let taken: WindowMessage | undefined;
  do {
    lines ??= await comeBack(running, options);
    lines?.send({ kind: 'ended' });
    taken = await lines?.next();
    if (taken?.kind !== 'taken') {
      lines?.close();
      lines = undefined;
      if (taken === undefined) await delay(RETRY_MS);
    }
  } while (taken === undefined && Date.now() < until);
  const later = 'Changes become previews once it has this folder open again.';
  const words =
    taken?.kind === 'taken'
      ? taken.lines
      : [`VS Code ${taken?.kind === 'refused' ? `failed: ${taken.reason}` : 'is closed'}. ${later}`];
  for (const line of words) options.say(`redline: ${line}`);
  return { end: end.value, lines };
}

/** Connects again to the window that looks at the view; `undefined` if there is none. */
async function comeBack(
  { id, agent, view, cwd }: Running,
  options: StartPlace,
): Promise<Connection | undefined> {
  const lines = await connect(id, cwd, options);
  lines?.send({ kind: 'again', agent, view });
  const answer = await lines?.next();
  if (answer?.kind === 'watching') return lines;
  lines?.close();
  return undefined;
}

async function connect(
  id: string,
  cwd: string,
  { file, windows }: StartPlace,
): Promise<Connection | undefined> {
  if (file !== undefined) {
    const at = await socketIn(file);
    const socket = at === undefined ? undefined : await connectToViews(at, id);
    return socket && new Lines(socket, windowSchema);
  }
  for (const address of windowsFor(cwd, await openWindows(windows))) {
    const window: ProvenWindow | undefined = await proveWindow(address, 'redline-view').catch(
      () => undefined,
    );
    if (window) return new Lines(window.greet({ id }), windowSchema);
  }
  return undefined;
}
