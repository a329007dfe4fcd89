import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { duplexPair } from 'node:stream';
import { polled } from '../../scripts/lib/limits.mjs';
import { messageOf } from '../../src/agent/base/errors.ts';
import { english } from '../../src/agent/base/localiser.ts';
import { McpHttpServer } from '../../src/agent/clients/mcp/httpServer.ts';
import { AgentViews } from '../../src/agent/clients/view/agentViews.ts';
import type { AgentViewsHost } from '../../src/agent/clients/view/viewsHost.ts';
import type { NotTaken, ViewPace } from '../../src/agent/clients/view/liveView.ts';
import { ownerOf } from '../../src/agent/clients/view/viewOwner.ts';
import { announceWindow, windowsFolder } from '../../src/agent/clients/windowFiles.ts';
import { mountFor } from '../../src/agent/sandbox/view/sandboxes.ts';
import { isBinary, isLink, type FileSide } from '../../src/agent/hold/preview/fileChange.ts';
import { UnstoredBlobs } from '../../src/agent/hold/preview/blobs.ts';
import { openPreviewLog, type PreviewLog } from '../../src/agent/hold/preview/log/openPreviewLog.ts';
import { UnstoredLog } from '../../src/agent/hold/preview/log/unstoredLog.ts';
import { Overlay } from '../../src/agent/hold/preview/overlay.ts';
import type { Preview } from '../../src/agent/hold/preview/preview.ts';
import { randomNumbers } from '../../src/agent/hold/preview/previewNumbers.ts';
import { PreviewStore } from '../../src/agent/hold/preview/previewStore.ts';
import { Rebaser } from '../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../src/agent/hold/preview/resolve/invoker.ts';
import { resolvePart } from '../../src/agent/hold/preview/resolve/resolvePart.ts';
import { builtInTools } from '../../src/agent/session/tools/builtIn.ts';
import { textIn } from './changes.ts';
import { DiskWorkspace } from './diskWorkspace.ts';
import { FREEZE_WORKER } from './freezeWorker.ts';
import { TempFolder } from './tempFolder.ts';

/** What goes wrong in the window is shown with the test. */
const logger = { debug: () => undefined, info: () => undefined, warn: console.error, error: console.error };

const MAIN = path.resolve(import.meta.dirname, '../../src/agent/clients/run/main.ts');

/** Looks at views when a test says so, on a clock of its own that goes on by what is waited for. */
export class Looks implements ViewPace {
  readonly restMs: number;
  readonly longestMs: number;
  #now = 0;
  readonly #waiting = new Set<() => void>();
  readonly #changed = new EventEmitter();

  /** By default, an agent rests once a look finds nothing new. */
  constructor(
    { restMs, longestMs }: Pick<ViewPace, 'restMs' | 'longestMs'> = { restMs: 0, longestMs: Infinity },
  ) {
    this.restMs = restMs;
    this.longestMs = longestMs;
  }

  now(): number {
    return this.#now;
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise(resolve => {
      const go = (): void => {
        this.#now += ms;
        this.#waiting.delete(go);
        signal.removeEventListener('abort', go);
        resolve();
      };
      signal.addEventListener('abort', go);
      this.#waiting.add(go);
      this.#changed.emit('waits');
    });
  }

  /** An agent has ended. */
  end(): void {
    this.#changed.emit('waits');
  }

  /** Lets all views be looked at once. Settles when that is done in as many as there are. */
  async look(views: () => number): Promise<void> {
    const all = async (): Promise<void> => {
      while (this.#waiting.size < views()) await once(this.#changed, 'waits');
    };
    await all();
    for (const go of [...this.#waiting]) go();
    await all();
  }
}

/** The core of Redline in a window on a repository, in which agents work in views. The window can be closed and opened again. */
export class ViewWorld {
  readonly temp: TempFolder;
  readonly root: string;
  readonly notTaken: NotTaken[] = [];
  readonly troubles: string[] = [];
  readonly #options: Partial<AgentViewsHost>;
  readonly #agents: ShellAgent[] = [];
  readonly #looks: Looks;
  /** The previews of a window that does not store them. */
  #unstored: { readonly log: UnstoredLog; readonly blobs: UnstoredBlobs } | undefined;
  store!: PreviewStore;
  #invoker!: Invoker;
  #rebaser!: Rebaser;
  #views!: AgentViews;
  #close: (() => Promise<void>) | undefined;
  /** Lets agents of other programs connect; a window that is opened does. */
  startServer!: () => Promise<void>;
  /** Lets them connect no longer. */
  stopServer!: () => Promise<void>;

  /** Part of the names of what only this window has; empty for the one that stores its previews. */
  readonly #own: string;

  private constructor(temp: TempFolder, options: Partial<AgentViewsHost>, own = '') {
    this.temp = temp;
    this.root = temp.at('work space');
    this.#options = options;
    this.#looks = options.pace instanceof Looks ? options.pace : new Looks();
    this.#own = own;
  }

  /** Opens a second window on the folder. It stores its previews for nobody, and takes nothing that others have left. */
  async second(): Promise<ViewWorld> {
    const world = new ViewWorld(this.temp, this.#options, '-2');
    await world.openWindow();
    return world;
  }

  /** @param files by path, committed to git */
  static async create(
    files: Readonly<Record<string, string>> = {},
    options: Partial<AgentViewsHost> = {},
  ): Promise<ViewWorld> {
    const world = new ViewWorld(await TempFolder.create(), options);
    fs.mkdirSync(world.root);
    fs.mkdirSync(world.temp.at('home'));
    world.write({ '.gitignore': 'node_modules/\nout/\n*.log\n', ...files });
    world.git('init', '-q', '-b', 'main');
    world.git('add', '.');
    world.git('commit', '-qm', 'first');
    await world.openWindow();
    return world;
  }

  readonly copies: AgentViewsHost['progress'] = (_, copy) =>
    copy(new AbortController().signal, () => undefined);

  get storage(): string {
    return this.#options.storage ?? this.temp.at('storage', 'views');
  }

  /** @returns whether agents are still at work in views of an earlier window */
  async openWindow(): Promise<boolean> {
    const workspace = new DiskWorkspace(this.root);
    const fail = (error: unknown): never => assert.fail(String(error));
    if (this.#own === '') {
      const log = this.#storedLog();
      this.store = new PreviewStore(log, fail);
      this.store.restore((await log.load()).entries);
    } else {
      this.#unstored = { log: new UnstoredLog(), blobs: new UnstoredBlobs() };
      const { log, blobs } = this.#unstored;
      this.store = new PreviewStore(log, fail, { blobs, numbers: randomNumbers() });
    }
    this.#invoker = new Invoker(this.store, workspace, () => 'recommend');
    this.#rebaser = new Rebaser({ store: this.store, workspace, logger });
    const host = {
      store: this.store,
      invoker: this.#invoker,
      workspace,
      overlay: new Overlay(this.store),
      l10n: english,
      logger,
    };
    const folders: AgentViewsHost['folders'] = () => [{ name: 'workspace', fsPath: this.root }];
    const views = new AgentViews({
      ...host,
      folders,
      storage: this.storage,
      limits: () => ({ bytes: 1e9, files: 100_000, worker: FREEZE_WORKER }),
      readable: () => [],
      mount: () => mountFor(folders(), this.storage, 'auto'),
      progress: this.copies,
      sentenceOf: ({ reason, detail }) => `${reason} ${detail ?? ''}`.trim(),
      onNotTaken: (_, what) => this.notTaken.push(what),
      onTrouble: (_, error) => this.troubles.push(messageOf(error)),
      pace: this.#looks,
      keepsPreviews: this.#own === '',
      ...this.#options,
    });
    this.#views = views;
    this.startServer = async () => {
      const server = await McpHttpServer.start(
        { ...host, tools: builtInTools({}), authority: () => 'recommend', isPlanning: () => false },
        '0',
        (socket, id) => void views.serve(socket, id),
      );
      const withdraw = await announceWindow(windowsFolder(this.temp.at('home')), {
        ...server.address,
        pid: process.pid,
        folders: [this.root],
        keepsPreviews: this.#own === '',
        startedAt: new Date().toISOString(),
      });
      this.stopServer = async () => {
        await withdraw();
        await server.close();
      };
    };
    let isAnyAtWork = false;
    if (this.#own === '') isAnyAtWork = await views.recover();
    else await views.goOn();
    await this.startServer();
    this.#close = async () => {
      await views.close();
      await this.stopServer();
      this.#rebaser.dispose();
      await this.store.close();
    };
    return isAnyAtWork;
  }

  #storedLog(): PreviewLog {
    return openPreviewLog(this.temp.at('previews.jsonl'));
  }

  /** Takes over the storage of the window that has closed: all previews are stored there now. */
  async takeOver(): Promise<void> {
    const { log, blobs } = this.#unstored ?? assert.fail('its previews are stored already');
    const left = this.#storedLog();
    await this.store.adopt((await left.load()).entries);
    if (left.contents) await blobs.moveTo(left.contents);
    log.moveTo(left);
    await log.flush();
    await this.#views.keepRecord();
  }

  async closeWindow(): Promise<void> {
    await this.#close?.();
    this.#close = undefined;
  }

  /** The program of a view asks this window to go on with it. @returns what the window says first; empty if it hangs up */
  async comeBack(id: string): Promise<string> {
    const [program, socket] = duplexPair();
    const owner = await ownerOf(path.join(this.storage, id));
    program.write(`${JSON.stringify({ kind: 'again', agent: 'sh', view: owner?.view })}\n`);
    void this.#views.serve(socket, id);
    for await (const said of program) return String(said);
    return '';
  }

  /** Takes what agents have left in views, as at the start of a window. */
  recover(): Promise<boolean> {
    return this.#views.recover();
  }

  git(...args: string[]): string {
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@b'];
    return execFileSync('git', [...who, ...args], { cwd: this.root, encoding: 'utf8' });
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(this.at(name)), { recursive: true });
      fs.writeFileSync(this.at(name), text);
    }
  }

  /** The user types into files and saves them. */
  async userWrites(files: Readonly<Record<string, string>>): Promise<void> {
    this.write(files);
    await this.#rebaser.filesChanged(Object.keys(files));
  }

  at(name: string): string {
    return path.join(this.root, name);
  }

  read(name: string): string | undefined {
    return fs.existsSync(this.at(name)) ? fs.readFileSync(this.at(name), 'utf8') : undefined;
  }

  /** Lets the terminals of the window in. @returns what `redline-run` is told */
  async terminal(): Promise<readonly string[]> {
    fs.mkdirSync(this.storage, { recursive: true });
    return ['--window', await this.#views.terminalFile()];
  }

  /** A program in a view; by default a shell, which a scripted agent uses. */
  start(
    program = '/bin/sh',
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
    terminal: readonly string[] = [],
  ): ShellAgent {
    const run = [process.execPath, '--disable-warning=ExperimentalWarning', MAIN, ...terminal, '--'];
    return this.#begin([...run, program, ...args], env);
  }

  /** A program in a view that runs JavaScript, as there is a shell for it on no Windows. */
  startNode(cwd = this.root): ShellAgent {
    const run = [process.execPath, '--disable-warning=ExperimentalWarning', MAIN, '--'];
    return this.#begin([...run, process.execPath, '-e', `(${runsLines.toString()})()`], {}, cwd, JAVASCRIPT);
  }

  /** Makes a shell under the name of an agent that says first what it is told at its start. */
  toldProgram(name = 'claude', argument = '$2'): string {
    const program = this.temp.at('bin', name);
    fs.mkdirSync(path.dirname(program), { recursive: true });
    fs.writeFileSync(program, `#!/bin/sh\nprintf 'told: %s\\n' "${argument}"\nexec /bin/sh\n`, {
      mode: 0o755,
    });
    return program;
  }

  /** A program in a view, at a terminal of its own. The terminal is closed by ending its input. */
  startAtTerminal(program: string): ShellAgent {
    const run = [process.execPath, '--disable-warning=ExperimentalWarning', MAIN, '--', program];
    const command = `exec ${run.map(each => `'${each}'`).join(' ')}`;
    return this.#begin(['script', '-qec', command, '/dev/null'], { SHELL: '/bin/sh' });
  }

  #begin(
    [file = '', ...args]: readonly string[],
    env: Readonly<Record<string, string>>,
    cwd = this.root,
    language = SHELL,
  ): ShellAgent {
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, HOME: this.temp.at('home'), USERPROFILE: this.temp.at('home'), ...env },
      stdio: 'pipe',
    });
    const agent = new ShellAgent(child, language);
    this.#agents.push(agent);
    void agent.ended.then(() => this.#looks.end());
    return agent;
  }

  /**
   * The agents that are at work rest: what they have written is taken, and they are told what was decided. Without a pace of the
   * test's own, that happens by itself.
   */
  async rest(): Promise<void> {
    if (this.#options.pace) return;
    // Once to see that something was written, and once more, that nothing was since.
    for (let looks = 0; looks < 2; looks++) await this.look();
  }

  /** Lets the views be looked at once. */
  look(): Promise<void> {
    return this.#looks.look(() => this.#agents.filter(({ isAtWork }) => isAtWork).length);
  }

  /** Settles when this many previews are there, with what each changes: `path: before => after`. */
  async previews(count: number): Promise<readonly string[]> {
    await this.rest();
    const all = await polled(`${count} previews`, () => {
      const now = this.store.all();
      return now.length >= count ? now : undefined;
    });
    return all.map(changesOf);
  }

  preview(id: string): Preview {
    return this.store.get(id) ?? assert.fail(`there is no preview ${id}`);
  }

  async vote(id: string, action: 'apply' | 'discard', reason = 'Because.'): Promise<void> {
    const { revision } = this.preview(id);
    await this.#invoker.resolve({ id, revision, action, reason, actor: 'human' });
    await this.#rebaser.refresh([]);
  }

  async voteOnHunk(
    id: string,
    action: 'apply' | 'discard',
    [at, hunk]: readonly [string, number],
    reason = 'Because.',
  ): Promise<void> {
    const { revision } = this.preview(id);
    const request = { id, revision, action, reason, actor: 'human' as const };
    await resolvePart({ store: this.store, invoker: this.#invoker }, request, { path: at, hunk });
    await this.#rebaser.refresh([]);
  }

  /** Decides on single files of a preview. */
  async votesOnFiles(
    id: string,
    files: Readonly<Record<'apply' | 'discard', readonly string[]>>,
  ): Promise<void> {
    for (const action of ['apply', 'discard'] as const)
      for (const path of files[action]) {
        const { revision } = this.preview(id);
        const request = { id, revision, action, reason: 'Because.', actor: 'human' as const };
        await resolvePart({ store: this.store, invoker: this.#invoker }, request, { path });
        await this.#rebaser.refresh([]);
      }
  }

  async remove(): Promise<void> {
    for (const agent of this.#agents) agent.kill();
    await Promise.all(this.#agents.map(agent => agent.ended));
    await this.closeWindow();
    if (process.platform !== 'win32') execFileSync('chmod', ['-R', 'u+rwx', this.temp.root]);
    await this.temp.remove();
  }
}

/** How a program is told to run a command and to write something once it has ended, and how to end. */
interface Language {
  readonly run: (command: string, end: string) => string;
  readonly exit: (code: number) => string;
}

const SHELL: Language = {
  run: (command, end) => `{ ${command}\n} 2>&1; echo "${end} $?"\n`,
  exit: code => `exit ${code}\n`,
};

const JAVASCRIPT: Language = {
  run: (command, end) => `${JSON.stringify([command, end])}\n`,
  exit: code => `${JSON.stringify([`process.exit(${code})`, ''])}\n`,
};

/** Runs each line as it comes, with the modules of Node.js as variables. It is a program of its own. */
async function runsLines(): Promise<void> {
  const { createInterface } = await import('node:readline');
  const { runInThisContext } = await import('node:vm');
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, end] = JSON.parse(line) as readonly [string, string];
    let written: unknown;
    try {
      written = await runInThisContext(command);
    } catch (error) {
      written = error;
    }
    console.log(written ?? '');
    console.log(end);
  }
}

/** A program in a view, and the shell that it is. */
export class ShellAgent {
  /** What `redline-run` and the program have written so far. */
  output = '';
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #language: Language;
  readonly #wrote = new EventEmitter();
  #count = 0;

  constructor(child: ChildProcessWithoutNullStreams, language: Language) {
    this.#child = child;
    this.#language = language;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        this.output += chunk;
        this.#wrote.emit('more');
      });
    child.stdin.on('error', () => undefined);
    this.ended = new Promise(resolve => child.once('close', resolve));
    void this.ended.then(() => this.#wrote.emit('more'));
  }

  get isAtWork(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What it has started itself. */
  get children(): readonly number[] {
    const { pid = 0 } = this.#child;
    return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  }

  /** Runs a command in the shell. @returns what it writes */
  async run(command: string): Promise<string> {
    const end = `@end${++this.#count}`;
    const from = this.output.length;
    this.#child.stdin.write(this.#language.run(command, end));
    while (!this.output.includes(end, from)) {
      if (!this.isAtWork) throw new Error(`It has ended: ${this.output}`);
      await once(this.#wrote, 'more');
    }
    return this.output
      .slice(from, this.output.indexOf(end, from))
      .replace(/^redline: .*\n/gm, '')
      .trim();
  }

  /** The file for decisions that `toldProgram` was told of. */
  async toldFile(): Promise<string> {
    await this.run('true');
    return /applies it\. (.*) lists/.exec(this.output)?.[1] ?? assert.fail(this.output);
  }

  /** Ends the shell. @returns the exit code of `redline-run` */
  async exit(code = 0): Promise<number | null> {
    this.#child.stdin.end(this.#language.exit(code));
    return this.ended;
  }

  /** Types something. */
  type(text: string): void {
    this.#child.stdin.write(text);
  }

  /** Settles once it has written this. */
  async wrote(text: string): Promise<void> {
    while (!this.output.includes(text)) {
      if (!this.isAtWork) throw new Error(`It has ended: ${this.output}`);
      await once(this.#wrote, 'more');
    }
  }

  /** Tells it that nothing more will be typed. */
  endInput(): void {
    this.#child.stdin.end();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  kill(): void {
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL');
  }
}

function changesOf({ changes, origin }: Preview): string {
  const text = (side: FileSide | null): string => {
    if (side && isLink(side)) return `link to ${side.link}`;
    return side && isBinary(side) ? `${side.size} bytes` : (textIn(side)?.trim() ?? '∅');
  };
  const each = (changes ?? []).map(change => {
    const from = change.kind === 'rename' ? `${change.from} → ` : '';
    return `${from}${change.path}: ${text(change.before)} => ${text(change.after)}`;
  });
  return `${origin?.agent?.name}: ${each.join('; ')}`;
}
