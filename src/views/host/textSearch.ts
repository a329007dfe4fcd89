import * as vscode from 'vscode';
import { detailOf, isAbortError, isToolError } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import type { TextMatch, TextMatches, TextQuery, TextSearch } from '../../agent/tools/searchText.ts';
import { withoutIgnored } from './gitIgnore.ts';
import { LineMatcher } from './lineMatcher.ts';
import { findRipgrep, runRipgrep } from './ripgrep.ts';
import { listGlobs, scanText } from './scanText.ts';
import type { VsCodeWorkspace } from './workspace.ts';
import { locate, workspacePathOf, type FolderRoot } from './workspacePaths.ts';

/** How long one search may take, in milliseconds. */
const TIME_LIMIT_MS = 20_000;

/** What takes the place of files on the disk: the contents of previews that are pending. */
export interface PendingContents {
  paths(): readonly string[];
  at(path: string): { readonly side: { readonly text: string } | null } | undefined;
}

/**
 * Searches with the ripgrep that comes with VS Code, and without one by reading the files here. Unsaved changes and
 * pending previews take the place of what is on the disk.
 */
export class WorkspaceTextSearch implements TextSearch {
  readonly #workspace: VsCodeWorkspace;
  readonly #pending: PendingContents;
  readonly #logger: Logger;
  readonly #appRoot: string;
  #ripgrep: Promise<string | undefined> | undefined;

  constructor(
    workspace: VsCodeWorkspace,
    pending: PendingContents,
    logger: Logger,
    appRoot = vscode.env.appRoot,
  ) {
    this.#workspace = workspace;
    this.#pending = pending;
    this.#logger = logger;
    this.#appRoot = appRoot;
  }

  async search(query: TextQuery, limit: number, signal: AbortSignal): Promise<TextMatches> {
    const globs = listGlobs(query.glob);
    // One more than asked for tells whether there are more once some are exchanged.
    const found = await this.#searchDisk(query, globs, limit + 1, signal);
    const replaced = await this.#replaced(query, globs, limit + 1);
    const all = [
      ...found.matches.filter(match => !replaced.has(match.path)),
      ...[...replaced.values()].flat(),
    ].sort((a, b) => compare(a.path, b.path) || a.line - b.line);
    const cutBy = all.length > limit ? 'limit' : found.cutBy;
    const skipped = found.skipped?.filter(path => !replaced.has(path)) ?? [];
    return {
      matches: all.slice(0, limit),
      ...(cutBy === undefined ? {} : { cutBy }),
      ...(skipped.length > 0 ? { skipped } : {}),
    };
  }

  async #searchDisk(
    query: TextQuery,
    globs: readonly string[],
    limit: number,
    signal: AbortSignal,
  ): Promise<TextMatches> {
    const ripgrep = await (this.#ripgrep ??= findRipgrep(this.#appRoot));
    if (ripgrep !== undefined) {
      try {
        return await this.#withRipgrep(ripgrep, query, globs, limit, signal);
      } catch (error) {
        if (isToolError(error) || isAbortError(error)) throw error;
        this.#logger.warn(`${ripgrep} could not be used, searching without it: ${detailOf(error)}`);
        this.#ripgrep = Promise.resolve(undefined);
      }
    }
    return scanText(this.#workspace, query, { limit, timeLimitMs: TIME_LIMIT_MS, signal });
  }

  async #withRipgrep(
    ripgrep: string,
    { query, isRegex, glob }: TextQuery,
    globs: readonly string[],
    limit: number,
    signal: AbortSignal,
  ): Promise<TextMatches> {
    const folders = openFolders();
    const answers = await Promise.all(
      folders.map(async folder => {
        const include = glob === undefined ? [] : globs;
        const exclude = ['**/.git', ...hiddenFiles(folder.uri)];
        const options = { query, isRegex, include, exclude, limit, timeLimitMs: TIME_LIMIT_MS };
        const { matches, cutBy } = await runRipgrep(ripgrep, { ...options, folder: folder.fsPath }, signal);
        const named = matches.map(({ path, ...match }) => ({
          ...match,
          path: workspacePathOf({ folder, relative: path }, folders),
        }));
        return { matches: named, cutBy };
      }),
    );
    const cutBy = answers.find(answer => answer.cutBy)?.cutBy;
    return { matches: answers.flatMap(answer => answer.matches), ...(cutBy ? { cutBy } : {}) };
  }

  /** The matches in what takes the place of files, by path; none for a file that would be gone. */
  async #replaced(
    { query, isRegex }: TextQuery,
    globs: readonly string[],
    limit: number,
  ): Promise<ReadonlyMap<string, readonly TextMatch[]>> {
    const contents = new Map<string, string>();
    for (const document of vscode.workspace.textDocuments) {
      const path = document.isDirty ? pathOf(document.uri) : undefined;
      if (path !== undefined) contents.set(path, document.getText());
    }
    for (const path of this.#pending.paths()) contents.set(path, this.#pending.at(path)?.side?.text ?? '');
    const matches = new Map<string, readonly TextMatch[]>();
    if (contents.size === 0) return matches;
    const matcher = matcherFor(query, isRegex);
    const isSearched = searchedBy(globs);
    for (const [path, text] of contents) {
      const found = matcher?.find(text, limit);
      if (!found) continue;
      const counts = found.length > 0 && (await isSearched(path));
      matches.set(path, counts ? found.map(line => ({ path, ...line })) : []);
    }
    return matches;
  }
}

interface OpenFolder extends FolderRoot {
  readonly uri: vscode.Uri;
}

function openFolders(): OpenFolder[] {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter(folder => folder.uri.scheme === 'file')
    .map(({ name, uri }) => ({ name, uri, fsPath: uri.fsPath }));
}

/** The globs of `files.exclude` that always hold. */
function hiddenFiles(folder: vscode.Uri): string[] {
  const exclude = vscode.workspace.getConfiguration('files', folder).get<Record<string, unknown>>('exclude');
  return Object.entries(exclude ?? {}).flatMap(([glob, on]) => (on === true ? [glob] : []));
}

/** The workspace path of a file in an open folder. */
function pathOf(uri: vscode.Uri): string | undefined {
  const folders = openFolders();
  const folder = folders.find(
    candidate => uri.scheme === 'file' && uri.path.startsWith(`${candidate.uri.path}/`),
  );
  return folder && workspacePathOf({ folder, relative: uri.path.slice(folder.uri.path.length + 1) }, folders);
}

/** Whether a search with these globs looks at a path, which need not be on the disk. */
function searchedBy(globs: readonly string[]): (path: string) => Promise<boolean> {
  const folders = openFolders();
  return async path => {
    const { folder, relative } = locate(path, folders);
    const uri = vscode.Uri.joinPath(folder.uri, relative);
    const matches = (glob: string): boolean => {
      const filter = { pattern: new vscode.RelativePattern(folder.uri, glob) };
      // Only the address is looked at, and a document cannot be made for what is nowhere yet.
      return vscode.languages.match(filter, { uri, languageId: '' } as vscode.TextDocument) > 0;
    };
    if (!globs.some(matches) || hiddenFiles(folder.uri).some(matches)) return false;
    return (await withoutIgnored(folder.fsPath, [relative])).length > 0;
  };
}

/** None for a pattern that only ripgrep understands: what is on the disk then stands for what is in the editor. */
function matcherFor(query: string, isRegex: boolean): LineMatcher | undefined {
  try {
    return new LineMatcher(query, isRegex);
  } catch {
    return undefined;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
