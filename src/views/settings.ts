import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { stringsIn } from '../agent/base/json.ts';
import type { Forcing, ModelAuthority, ResolveOrder } from '../agent/hold/preview/resolveSettings.ts';

/** The provider that answers. `auto` means `openai` if a model is set, else `offline`; never `vscode-lm`, which must be chosen. */
export type ProviderSetting = 'auto' | 'openai' | 'vscode-lm' | 'offline';
export type SandboxSetting = 'auto' | 'overlay' | 'copy' | 'off';
export type OpenSetting = 'auto' | 'onDemand' | 'never';

const SECTION = 'redline';
/** The smallest context window that can be set, in tokens: the prompt of Redline and its tools need most of it. */
const MIN_CONTEXT_WINDOW = 4_096;
/** Copying takes time for each file, too. */
const FILES_PER_GIGABYTE = 100_000;

/** Redline's settings: typed getters that always read the current value. */
export class Settings {
  /** Section cached until VS Code reports a change: it copies a section on each read, and a turn reads dozens of values. */
  #read: vscode.WorkspaceConfiguration | undefined;
  /** Cached inspection of `checks`, which every turn reads. */
  #foundChecks: { readonly globalValue?: unknown; readonly workspaceValue?: unknown } | undefined;

  /** Cached result of {@link broughtShell}. */
  #foundShell: string | undefined;

  /** @param subscriptions end with the extension. */
  constructor(subscriptions: vscode.Disposable[]) {
    const forget = (): void => {
      this.#read = undefined;
      this.#foundShell = undefined;
      this.#foundChecks = undefined;
    };
    subscriptions.push(vscode.workspace.onDidChangeConfiguration(forget));
  }

  readonly onDidChange: vscode.Event<void> = (listener, thisArgs, disposables) =>
    vscode.workspace.onDidChangeConfiguration(
      event => event.affectsConfiguration(SECTION) && (listener.call(thisArgs, undefined) as unknown),
      undefined,
      disposables,
    );

  get provider(): ProviderSetting {
    return this.#oneOf('provider', ['auto', 'openai', 'vscode-lm', 'offline']);
  }

  get baseUrl(): string {
    return this.#get<string>('openai.baseUrl')
      .trim()
      .replace(/(?<!\/)\/+$/, '');
  }

  get model(): string {
    return this.#get<string>('openai.model').trim();
  }

  /** The size of the model's context window in tokens; 0 if the server reports it. */
  get contextWindow(): number {
    const tokens = this.#get<unknown>('openai.contextWindow');
    return typeof tokens === 'number' && tokens > 0 ? Math.max(MIN_CONTEXT_WINDOW, Math.floor(tokens)) : 0;
  }

  /** Selects a model of the server at the current base URL. */
  async useModel(model: string): Promise<void> {
    await this.#update('openai.model', model);
    if (this.provider === 'offline' || this.provider === 'vscode-lm') await this.#update('provider', 'auto');
  }

  /** The language model of VS Code to use, as `vendor/id`; empty if none was chosen. */
  get languageModel(): string {
    return this.#get<string>('vscodeLm.model').trim();
  }

  /** Selects a model that VS Code offers, as `vendor/id`. */
  async useLanguageModel(name: string): Promise<void> {
    await this.#update('vscodeLm.model', name);
    await this.#update('provider', 'vscode-lm');
  }

  async useOffline(): Promise<void> {
    await this.#update('provider', 'offline');
  }

  /** Selects a server by its base URL. */
  async useServer(baseUrl: string): Promise<void> {
    await this.#update('openai.baseUrl', baseUrl);
  }

  get modelAuthority(): ModelAuthority {
    return this.#oneOf('resolve.modelAuthority', ['recommend', 'apply', 'none', 'checked']);
  }

  /** Takes effect at the model's next tool call. */
  async setModelAuthority(authority: ModelAuthority): Promise<void> {
    await this.#update('resolve.modelAuthority', authority);
  }

  /** Globs of files whose changes only the user may apply, in addition to the built-in places. */
  get alwaysAsk(): readonly string[] {
    return stringsIn(this.#get<unknown>('resolve.alwaysAsk'));
  }

  /** Globs of the files that VS Code's own settings mark as read-only, and of those that they except. */
  get readOnlyFiles(): { readonly include: readonly string[]; readonly exclude: readonly string[] } {
    const globs = (key: string): readonly string[] =>
      Object.entries(vscode.workspace.getConfiguration('files').get<Record<string, unknown>>(key, {}))
        .filter(([, on]) => on === true)
        .map(([glob]) => glob);
    return { include: globs('readonlyInclude'), exclude: globs('readonlyExclude') };
  }

  /** Whether agents of other programs may connect to this window. */
  get agentsEnabled(): boolean {
    return this.#get<unknown>('agents.enabled') === true;
  }

  async setAgentsEnabled(enabled: boolean): Promise<void> {
    await this.#configuration.update('agents.enabled', enabled, vscode.ConfigurationTarget.Global);
  }

  get forcing(): Forcing {
    return this.#oneOf('resolve.forcing', ['auto', 'forced', 'always', 'off']);
  }

  get order(): ResolveOrder {
    return this.#oneOf('resolve.order', ['newestFirst', 'oldestFirst']);
  }

  get open(): OpenSetting {
    return this.#oneOf('preview.open', ['auto', 'onDemand', 'never']);
  }

  get continueAfterReview(): boolean {
    return this.#get<boolean>('session.continueAfterReview');
  }

  /** Whether the model may revert the conversation. */
  get revertEnabled(): boolean {
    return this.#get<unknown>('revert.enabled') === true;
  }

  /** Places that custom tools are loaded from, in addition to those that are always searched. */
  get customToolPaths(): readonly string[] {
    return stringsIn(this.#get<unknown>('customTools.paths'));
  }

  /** Names or globs of the tools of VS Code that the session may call. */
  get toolsFromVsCode(): readonly string[] {
    const tools = this.#get<unknown>('tools.fromVsCode');
    return Array.isArray(tools) ? stringsIn(tools) : namesIn(tools, 'ask', 'readOnly');
  }

  /** Tools that the user has declared read-only (names or globs). */
  get readOnlyTools(): readonly string[] {
    const tools = this.#get<unknown>('tools.fromVsCode');
    if (Array.isArray(tools)) return stringsIn(this.#former('tools.readOnly'));
    return namesIn(tools, 'readOnly');
  }

  /** Hosts, with their ports if these are not the usual ones, that `fetch_url` reads without asking. */
  get fetchHosts(): readonly string[] {
    return stringsIn(this.#get<unknown>('fetch.hosts'));
  }

  /** Time limit, in seconds, for a command or a VS Code tool call that the agent proposed. */
  get commandTimeLimit(): number {
    const seconds = this.#get<unknown>('runCommand.timeLimit');
    return typeof seconds === 'number' && seconds >= 1 ? Math.min(seconds, 3_600) : 120;
  }

  /** The engine that makes the sandbox. */
  get sandboxEngine(): SandboxSetting {
    return this.#oneOf('sandbox.engine', ['auto', 'overlay', 'copy', 'off']);
  }

  /** The most that the engine `copy` copies, in bytes and files. */
  get copyLimits(): { readonly bytes: number; readonly files: number } {
    const gigabytes = this.#get<unknown>('sandbox.maxCopySize');
    const most = typeof gigabytes === 'number' && gigabytes >= 0 ? gigabytes : 2;
    return { bytes: most * 1024 ** 3, files: most * FILES_PER_GIGABYTE };
  }

  /** Variables that sandboxed commands get although their names look like secrets. */
  get sandboxVariables(): readonly string[] {
    const named = stringsIn(this.#get<unknown>('sandbox.readable')).filter(each => each.startsWith('$'));
    return [...named.map(each => each.slice(1)), ...stringsIn(this.#former('sandbox.variables'))];
  }

  /** Absolute paths that commands in the isolated sandbox may read, in addition to the user's tools. */
  get sandboxReadable(): readonly string[] {
    return pathsIn(this.#get<unknown>('sandbox.readable'));
  }

  /** Absolute paths in the home folder that agents in terminals may read, in addition to their own settings. */
  get agentsReadable(): readonly string[] {
    return pathsIn(this.#get<unknown>('agents.readable'));
  }

  /** Whether the agent runs commands in an isolated sandbox on its own. */
  get runsInSandbox(): boolean {
    return this.#oneOf('commands.inSandbox', ['ask', 'run']) === 'run';
  }

  /** Whether no check runs at the end of a turn, by a setting of earlier versions. */
  get isCheckedOnDemand(): boolean {
    return this.#former('runChecks') === 'onDemand';
  }

  /** The checks of the user's own settings, and those that the workspace brings; settings.json may hold anything. */
  get checks(): { readonly own: readonly unknown[]; readonly brought: readonly unknown[] } {
    const found = (this.#foundChecks ??= this.#configuration.inspect<unknown>('checks'));
    return { own: listIn(found?.globalValue), brought: listIn(found?.workspaceValue) };
  }

  /** Workspace settings for the shell and the variables of commands, as text; empty if there are none. */
  get broughtShell(): string {
    return (this.#foundShell ??= textOfBroughtShell());
  }

  async setWorkspaceChecks(checks: readonly unknown[]): Promise<void> {
    await this.#configuration.update('checks', checks, vscode.ConfigurationTarget.Workspace);
  }

  /** How many days resolved previews can be undone and reopened. */
  get retentionDays(): number {
    const days = this.#get<unknown>('history.retentionDays');
    return typeof days === 'number' && days >= 0 ? days : 30;
  }

  get #configuration(): vscode.WorkspaceConfiguration {
    return (this.#read ??= vscode.workspace.getConfiguration(SECTION));
  }

  async #update(key: string, value: string): Promise<void> {
    await this.#configuration.update(key, value, vscode.ConfigurationTarget.Global);
  }

  #get<T>(key: string): T {
    // Never undefined: every key has a default in package.json, which a test checks.
    return this.#configuration.get(key) as T;
  }

  /**
   * The user's value for a setting of an earlier version, which is still read. A workspace's value never counts: VS Code enforces
   * the scope of contributed settings only.
   */
  #former(key: string): unknown {
    return this.#configuration.inspect(key)?.globalValue;
  }

  /** The value, or the first allowed one if settings.json holds anything else. */
  #oneOf<T extends string>(key: string, allowed: readonly [T, ...T[]]): T {
    const value = this.#get<unknown>(key);
    return allowed.find(candidate => candidate === value) ?? allowed[0];
  }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The names in an object whose values are among these. */
function namesIn(value: unknown, ...values: readonly unknown[]): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => (values.includes(each) ? [name] : []));
}

/** The absolute paths in a list; `~` is the home folder. */
function pathsIn(value: unknown): readonly string[] {
  return stringsIn(value)
    .map(each => each.replace(/^~(?=\/)/, homedir()))
    .filter(each => path.isAbsolute(each));
}

/** The mode (Ask Me, Auto if Checks Pass, Auto or Manual), for views that show and switch it. */
export interface ModeSwitch {
  get(): ModelAuthority;
  set(mode: ModelAuthority): Promise<void>;
  readonly onDidChange: vscode.Event<void>;
}

export function modeSwitch(settings: Settings): ModeSwitch {
  return {
    get: () => settings.modelAuthority,
    set: mode => settings.setModelAuthority(mode),
    onDidChange: settings.onDidChange,
  };
}

function textOfBroughtShell(): string {
  const terminals = vscode.workspace.getConfiguration('terminal.integrated');
  const { platform } = process;
  const os = platform === 'win32' ? 'windows' : platform === 'darwin' ? 'osx' : 'linux';
  const brought = ['env', 'defaultProfile'].flatMap(name => {
    const value = terminals.inspect<unknown>(`${name}.${os}`)?.workspaceValue;
    return value === undefined ? [] : [[name, value] as const];
  });
  return brought.length === 0 ? '' : JSON.stringify(Object.fromEntries(brought));
}
