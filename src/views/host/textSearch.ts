import * as vscode from 'vscode';
import { detailOf, isAbortError, ToolError } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import type { TextMatch, TextMatches, TextQuery, TextSearch } from '../../agent/tools/searchText.ts';
import { withoutIgnored } from './gitIgnore.ts';
import { LineMatcher } from './lineMatcher.ts';
import { findRipgrep, runRipgrep } from './ripgrep.ts';
import { listGlobs, scanText } from './scanText.ts';
import type { VsCodeWorkspace } from './workspace.ts';
import { workspacePathOf, type FolderRoot } from './workspacePaths.ts';

/** How long one search may take, in milliseconds. */
const TIME_LIMIT_MS = 20_000;

/** Searches with the ripgrep that comes with VS Code, and without one by reading the files here. */
export class WorkspaceTextSearch implements TextSearch {
  readonly #workspace: VsCodeWorkspace;
  readonly #logger: Logger;
  readonly #appRoot: string;
  #ripgrep: Promise<string | undefined> | undefined;

  constructor(workspace: VsCodeWorkspace, logger: Logger, appRoot = vscode.env.appRoot) {
    this.#workspace = workspace;
    this.#logger = logger;
    this.#appRoot = appRoot;
  }

  async search(query: TextQuery, limit: number, signal: AbortSignal): Promise<TextMatches> {
    const globs = listGlobs(query.glob);
    const ripgrep = await (this.#ripgrep ??= findRipgrep(this.#appRoot));
    if (ripgrep !== undefined) {
      try {
        return await this.#withRipgrep(ripgrep, query, globs, limit, signal);
      } catch (error) {
        if (error instanceof ToolError || isAbortError(error)) throw error;
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
    const unsaved = await this.#unsaved({ query, isRegex }, globs, folders, limit);
    const all = [
      ...answers.flatMap(answer => answer.matches).filter(match => !unsaved.has(match.path)),
      ...[...unsaved.values()].flat(),
    ].sort((a, b) => compare(a.path, b.path) || a.line - b.line);
    const cutBy = all.length > limit ? 'limit' : answers.find(answer => answer.cutBy)?.cutBy;
    return { matches: all.slice(0, limit), ...(cutBy ? { cutBy } : {}) };
  }

  /** The matches in documents with unsaved changes, which take the place of what their files hold. */
  async #unsaved(
    { query, isRegex }: TextQuery,
    globs: readonly string[],
    folders: readonly OpenFolder[],
    limit: number,
  ): Promise<ReadonlyMap<string, readonly TextMatch[]>> {
    const matches = new Map<string, readonly TextMatch[]>();
    const dirty = vscode.workspace.textDocuments.filter(
      document => document.isDirty && document.uri.scheme === 'file',
    );
    for (const document of dirty) {
      const folder = folders.find(({ uri }) => document.uri.path.startsWith(`${uri.path}/`));
      if (!folder || !globs.some(glob => isMatch(document, folder, glob))) continue;
      const relative = document.uri.path.slice(folder.uri.path.length + 1);
      if ((await withoutIgnored(folder.fsPath, [relative])).length === 0) continue;
      const path = workspacePathOf({ folder, relative }, folders);
      const found = matcherFor(query, isRegex)?.find(document.getText(), limit + 1);
      if (found)
        matches.set(
          path,
          found.map(line => ({ path, ...line })),
        );
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

function isMatch(document: vscode.TextDocument, folder: OpenFolder, glob: string): boolean {
  return vscode.languages.match({ pattern: new vscode.RelativePattern(folder.uri, glob) }, document) > 0;
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
