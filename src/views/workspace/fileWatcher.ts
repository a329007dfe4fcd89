import * as vscode from 'vscode';
import { Owner } from '../../agent/base/disposable.ts';
import { realPlaceSync } from '../../agent/base/system/realPath.ts';
import { stepsOf } from '../../agent/hold/preview/fileSteps.ts';
import type { Agent } from '../agent.ts';
import type { FileUris } from './previewUri.ts';

/** Milliseconds without a further change after which the watcher checks the previews. */
const DEBOUNCE_MS = 100;
/** Longest delay of a check while changes keep coming, such as typing, in milliseconds. */
const MAX_WAIT_MS = 500;

/**
 * Tells the rebaser and the risk marks which files changed: on disk, in an editor, or while no window was open. While previews are
 * being applied it waits: Redline's own writes are checked once the commit has succeeded or was rolled back.
 */
export class FileWatcher extends Owner {
  readonly #agent: Agent;
  /** URIs of files and folders that changed. */
  readonly #changed = new Set<string>();
  /**
   * The URIs of the files of open previews, by workspace path, as written and with links followed: making them for thousands of
   * files takes long.
   */
  #uris: ReadonlyMap<string, readonly string[]> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #since = 0;

  constructor(agent: Agent) {
    super();
    this.#agent = agent;
    const { store, invoker, rebaser } = agent;
    const watcher = this.own(vscode.workspace.createFileSystemWatcher('**/*'));
    const note = (uri: vscode.Uri): void => this.#note(uri);
    this.own(watcher.onDidChange(note));
    this.own(watcher.onDidCreate(note));
    this.own(watcher.onDidDelete(note));
    this.own(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === 'file') note(document.uri);
      }),
    );
    // Notebooks and custom editors report unsaved changes only by their tabs.
    this.own(
      vscode.window.tabGroups.onDidChangeTabs(({ changed, closed }) => {
        for (const { input } of [...changed, ...closed]) {
          if (input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputNotebook)
            note(input.uri);
        }
      }),
    );
    const refreshAll = (): void => void rebaser.refresh(store.list('oldestFirst').map(preview => preview.id));
    this.own(
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.#uris = new Map();
        refreshAll();
      }),
    );
    this.own(
      store.onDidResolve(() => {
        if (this.#changed.size > 0) this.#schedule();
      }),
    );
    this.own(invoker.onDidFailApply(({ id, dependsOn }) => void rebaser.refresh([id, ...dependsOn])));
    refreshAll();
  }

  override dispose(): void {
    clearTimeout(this.#timer);
    super.dispose();
  }

  #note(uri: vscode.Uri): void {
    if (!this.#agent.store.hasPending) return;
    if (this.#changed.size === 0) this.#since = Date.now();
    this.#changed.add(uri.toString());
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const left = Math.max(0, this.#since + MAX_WAIT_MS - Date.now());
    this.#timer = setTimeout(() => this.#report(), Math.min(DEBOUNCE_MS, left));
  }

  #report(): void {
    const { store, rebaser, files, risks } = this.#agent;
    const open = store.list('oldestFirst');
    if (open.some(({ state, changes }) => state.kind === 'applying' && changes)) return; // scheduled again when it is resolved
    const changes = open.flatMap(preview => preview.changes ?? []);
    const paths = new Set(changes.flatMap(stepsOf).map(step => step.path));
    const importers = new Set(risks.importers());
    const watched = [...new Set([...paths, ...importers])];
    this.#uris = new Map(watched.map(path => [path, this.#uris.get(path) ?? urisOf(files, path)]));
    const touched = watched.filter(path => this.#uris.get(path)?.some(uri => this.#isTouched(uri)));
    this.#changed.clear();
    const [proposed, importing] = [paths, importers].map(set => touched.filter(path => set.has(path)));
    if (proposed && proposed.length > 0) void rebaser.filesChanged(proposed);
    if (importing && importing.length > 0) risks.filesChanged(importing);
  }

  /** Also true if a folder above it changed: creating or deleting a folder is one event for everything in it. */
  #isTouched(uri: string): boolean {
    for (let end = uri.length; end > 0; end = uri.lastIndexOf('/', end - 1))
      if (this.#changed.has(uri.slice(0, end))) return true;
    return false;
  }
}

/** The URIs of a file, as written and with links followed; none if its workspace folder was closed. */
function urisOf(files: FileUris, path: string): readonly string[] {
  try {
    const uri = files(path);
    const real = vscode.Uri.file(realPlaceSync(uri.fsPath));
    return [...new Set([uri.toString(), real.toString()])];
  } catch {
    return [];
  }
}
