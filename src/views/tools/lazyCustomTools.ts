import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import { Emitter } from '../../agent/base/event.ts';
import type { CustomTools } from '../../agent/tools/custom/customTools.ts';
import type { LoadProblem } from '../../agent/tools/custom/loadProblem.ts';
import type { CustomToolFactory } from '../../agent/tools/custom/redline.d.ts';
import type { ToolPlace } from '../../agent/tools/custom/toolFiles.ts';
import { coalesce } from '../coalesce.ts';
import type { Settings } from '../host/settings.ts';
import type { CustomToolsParts } from './customToolsHost.ts';
import { toolPlaces } from './toolPlaces.ts';

/** How long changes on disk are gathered, in milliseconds. */
const QUIET_MS = 100;

export type LazyCustomToolsOptions = Omit<CustomToolsParts, 'places' | 'onDiskChange'> & {
  readonly settings: Settings;
};

/**
 * Custom tools, whose code is loaded once there is one: activation does not pay for it. Loads what lies there, and anew what
 * changes.
 */
export class LazyCustomTools implements vscode.Disposable {
  readonly #options: LazyCustomToolsOptions;
  readonly #owned = new DisposableStore();
  readonly #changed = new Emitter<void>();
  readonly #refreshSoon = coalesce(() => void this.refresh(), QUIET_MS);
  #watched = new DisposableStore();
  #loading: Promise<CustomTools> | undefined;
  #tools: CustomTools | undefined;

  /** Tools came or went, or what is wrong with them changed. */
  readonly onDidChange: vscode.Event<void> = this.#changed.event;

  constructor(options: LazyCustomToolsOptions) {
    this.#options = options;
    const look = (): void => {
      this.#watch();
      this.#refreshSoon();
    };
    this.#owned.add(vscode.workspace.onDidChangeWorkspaceFolders(look));
    this.#owned.add(vscode.workspace.onDidGrantWorkspaceTrust(look));
    this.#owned.add(options.settings.onDidChange(look));
    this.#owned.add({ dispose: () => this.#refreshSoon.cancel() });
    look();
  }

  /** What is wrong with files of tools. */
  get problems(): readonly LoadProblem[] {
    return this.#tools?.problems ?? [];
  }

  /** Files of tools that are not loaded, because the workspace is not trusted. */
  get withheld(): readonly string[] {
    return this.#tools?.withheld ?? [];
  }

  /** Settles when the registered tools are those on disk. Never rejects. */
  async refresh(): Promise<void> {
    if (!this.#loading && !this.#places().some(({ path }) => existsSync(path))) return;
    await (await this.#load())?.refresh();
  }

  /** Loads all of them anew. Never rejects. */
  async reload(): Promise<void> {
    await (await this.#load())?.reload();
  }

  /** Registers what a factory of another extension makes, until that is disposed of. */
  register(factory: CustomToolFactory): vscode.Disposable {
    const registered = new DisposableStore();
    const [cwd] = this.#folders();
    void this.#load().then(tools => tools && registered.add(tools.register(factory, cwd ?? homedir())));
    return registered;
  }

  dispose(): void {
    this.#watched.dispose();
    this.#owned.dispose();
    this.#changed.dispose();
    this.#tools?.dispose();
  }

  /** The tools, or `undefined` where their code cannot be loaded. */
  async #load(): Promise<CustomTools | undefined> {
    try {
      return await (this.#loading ??= this.#create());
    } catch (error) {
      this.#options.log.error(`Custom tools cannot be loaded: ${detailOf(error)}`);
      return undefined;
    }
  }

  async #create(): Promise<CustomTools> {
    const { createCustomTools } = await import('./customToolsHost.ts');
    const { tools, disposable } = createCustomTools({
      ...this.#options,
      places: () => this.#places(),
      onDiskChange: () => this.#refreshSoon(),
    });
    this.#owned.add(disposable);
    tools.onDidChange(() => this.#changed.fire());
    return (this.#tools = tools);
  }

  #folders(): string[] {
    const folders = vscode.workspace.workspaceFolders ?? [];
    return folders.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
  }

  #places(): readonly ToolPlace[] {
    return toolPlaces({
      folders: this.#folders(),
      isTrusted: vscode.workspace.isTrusted,
      home: homedir(),
      paths: this.#options.settings.customToolPaths,
    });
  }

  /** A place may be made later: what is not there yet is watched too. */
  #watch(): void {
    this.#watched.dispose();
    this.#watched = new DisposableStore();
    for (const { path } of this.#places()) {
      const pattern = new vscode.RelativePattern(vscode.Uri.file(path), '**');
      const watcher = this.#watched.add(vscode.workspace.createFileSystemWatcher(pattern));
      for (const event of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete])
        this.#watched.add(event(() => this.#refreshSoon()));
    }
  }
}
