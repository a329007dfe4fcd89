import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { coalesce } from '../../agent/base/async.ts';
import { DisposableStore, Owner } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import { Emitter } from '../../agent/base/event.ts';
import type { CustomTools } from '../../agent/session/tools/custom/customTools.ts';
import type { LoadProblem } from '../../agent/session/tools/custom/loading/loadProblem.ts';
import type { ToolPlace } from '../../agent/session/tools/custom/loading/toolFiles.ts';
import type { CustomToolFactory } from '../../../examples/tools/redline.d.ts';
import type { Settings } from '../settings.ts';
import type { CustomToolsParts } from './customToolsHost.ts';
import { toolPlaces } from './toolFolders.ts';

/** Delay after the first of several changes on disk, in milliseconds. */
const DEBOUNCE_MS = 100;

type Parts = Omit<CustomToolsParts, 'places' | 'onDiskChange'>;

/**
 * Watches the places of custom tools and keeps the registered tools up to date. Most workspaces have no tools, so the code that
 * runs them is loaded only when there is a place with files, or another extension registers a tool.
 */
export class CustomToolsWatcher extends Owner {
  readonly #parts: Parts;
  readonly #settings: Settings;
  readonly #changed = new Emitter<void>();
  readonly #refreshSoon = coalesce(() => void this.refresh(), DEBOUNCE_MS);
  #watched = new DisposableStore();
  #loading: Promise<CustomTools> | undefined;
  #tools: CustomTools | undefined;

  /** Fires when tools or their problems changed. */
  readonly onDidChange: vscode.Event<void> = this.#changed.event;

  constructor(parts: Parts, settings: Settings) {
    super();
    this.#parts = parts;
    this.#settings = settings;
    const update = (): void => {
      this.#watch();
      this.#refreshSoon();
    };
    this.own(vscode.workspace.onDidChangeWorkspaceFolders(update));
    this.own(vscode.workspace.onDidGrantWorkspaceTrust(update));
    this.own(settings.onDidChange(update));
    this.own({ dispose: () => this.#refreshSoon.cancel() });
    update();
  }

  /** Problems in the files of custom tools. */
  get problems(): readonly LoadProblem[] {
    return this.#tools?.problems ?? [];
  }

  /** Files that are not loaded because the workspace is not trusted. */
  get withheld(): readonly string[] {
    return this.#tools?.withheld ?? [];
  }

  /** Loads tools that changed on disk. Settles when the registered tools are up to date; never rejects. */
  async refresh(): Promise<void> {
    if (!this.#loading && !this.#places().some(({ path }) => existsSync(path))) return;
    await (await this.#load())?.refresh();
  }

  /** Loads all tools again. Never rejects. */
  async reload(): Promise<void> {
    await (await this.#load())?.reload();
  }

  /** Registers the tools of another extension's factory until the result is disposed of. */
  register(factory: CustomToolFactory): vscode.Disposable {
    const registered = new DisposableStore();
    const [cwd] = foldersOnDisk();
    void this.#load().then(tools => tools && registered.add(tools.register(factory, cwd ?? homedir())));
    return registered;
  }

  override dispose(): void {
    this.#watched.dispose();
    super.dispose();
    this.#changed.dispose();
    this.#tools?.dispose();
  }

  /** The custom tools; `undefined` if the code that runs them cannot be loaded. */
  async #load(): Promise<CustomTools | undefined> {
    try {
      return await (this.#loading ??= this.#create());
    } catch (error) {
      this.#parts.logger.error(`Custom tools cannot be loaded: ${detailOf(error)}`);
      return undefined;
    }
  }

  async #create(): Promise<CustomTools> {
    const { createCustomTools } = await import('./customToolsHost.ts');
    const { tools, disposable } = createCustomTools({
      ...this.#parts,
      places: () => this.#places(),
      onDiskChange: () => this.#refreshSoon(),
    });
    this.own(disposable);
    tools.onDidChange(() => this.#changed.fire());
    return (this.#tools = tools);
  }

  #places(): readonly ToolPlace[] {
    return currentToolPlaces(this.#settings);
  }

  /** Also watches places that do not exist yet, because they may be created later. */
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

/** Places that custom tools are loaded from, by the current settings and open folders. */
export function currentToolPlaces({ customToolPaths: paths }: Settings): readonly ToolPlace[] {
  return toolPlaces({
    folders: foldersOnDisk(),
    isTrusted: vscode.workspace.isTrusted,
    home: homedir(),
    paths,
  });
}

function foldersOnDisk(): string[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
}
