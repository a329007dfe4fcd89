import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import { detailOf, isAbortError, ToolError } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { textOf } from '../../agent/preview/fileChange.ts';
import type { PendingContents } from '../../agent/preview/overlay.ts';
import { globMatcher } from '../../agent/tools/ast/scope/glob.ts';
import type { TextQuery, TextSearch } from '../../agent/tools/files/searchText.ts';
import type { TextMatch, TextMatches } from '../../agent/tools/files/textReport.ts';
import { areAnyHardLinked, dirtyDocuments } from '../workspace/dirtyDocument.ts';
import type { VsCodeWorkspace } from '../workspace/workspace.ts';
import { locate, workspacePathOf } from '../workspace/workspacePaths.ts';
import { LineSearch } from './lineSearch.ts';
import { findRipgrep, searchWithRipgrep } from './ripgrep.ts';
import { expandGlob, scanText } from './scanText.ts';

/** Time limit for one search, in milliseconds. */
const TIME_LIMIT_MS = 20_000;
/** Time limit for all unsaved and proposed contents together, in milliseconds. */
const MEMORY_LIMIT_MS = 5_000;

/** How many files are listed at most to find other names of a file that an editor has not saved. */
const MAX_LISTED = 100_000;
/** After this many files, others have their turn. */
const LOOKED_AT_ONCE = 500;

/** The matches in one text; `undefined` if the pattern takes too long on it. */
type MemoryMatches = readonly TextMatch[] | undefined;

/**
 * Searches with the ripgrep that ships with VS Code, or in-process where there is none. Unsaved changes and pending previews are
 * searched instead of the files on disk.
 */
export class WorkspaceTextSearch implements TextSearch {
  readonly #workspace: VsCodeWorkspace;
  readonly #logger: Logger;
  readonly #lineWorker: string;
  readonly #appRoot: string;
  #ripgrep: Promise<string | undefined> | undefined;

  /** @param lineWorker the bundle of `lineWorker.ts` */
  constructor(workspace: VsCodeWorkspace, logger: Logger, lineWorker: string, appRoot = vscode.env.appRoot) {
    this.#workspace = workspace;
    this.#logger = logger;
    this.#lineWorker = lineWorker;
    this.#appRoot = appRoot;
  }

  async search(
    query: TextQuery,
    limit: number,
    signal: AbortSignal,
    pending: PendingContents,
  ): Promise<TextMatches> {
    const globs = expandGlob(query.glob);
    // One more than the limit, to know whether there are more after some were replaced.
    const found = await this.#searchDisk(query, globs, limit + 1, signal);
    const onDisk = new Set(found.matches.map(({ path }) => path));
    const inMemory = await this.#searchMemory(query, pending, { globs, onDisk, limit: limit + 1 }, signal);
    const all = [
      ...found.matches.filter(match => !inMemory.has(match.path)),
      ...[...inMemory.values()].flatMap(matches => matches ?? []),
    ].sort((a, b) => compare(a.path, b.path) || a.line - b.line);
    const cutBy = all.length > limit ? 'limit' : found.cutBy;
    const skipped = [
      ...(found.skipped?.filter(path => !inMemory.has(path)) ?? []),
      ...[...inMemory.keys()].filter(path => !inMemory.get(path)),
    ];
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
        if (error instanceof ToolError || isAbortError(error)) throw error;
        this.#logger.warn(`${ripgrep} could not be run; searching in-process instead: ${detailOf(error)}`);
        this.#ripgrep = Promise.resolve(undefined);
      }
    }
    const options = { file: this.#lineWorker, limit, timeLimitMs: TIME_LIMIT_MS, signal };
    return scanText(this.#workspace, query, options);
  }

  async #withRipgrep(
    ripgrep: string,
    { query, isRegex, glob, ignored = false }: TextQuery,
    globs: readonly string[],
    limit: number,
    signal: AbortSignal,
  ): Promise<TextMatches> {
    const folders = this.#workspace.folders();
    const results = await Promise.all(
      folders.map(async folder => {
        const include = glob === undefined ? [] : globs;
        const exclude = ['**/.git', ...(ignored ? [] : folder.exclude)];
        const options = { query, isRegex, ignored, include, exclude, limit, timeLimitMs: TIME_LIMIT_MS };
        const { matches, cutBy } = await searchWithRipgrep(
          ripgrep,
          { ...options, folder: folder.fsPath },
          signal,
        );
        const named = matches.map(({ path, ...match }) => ({
          ...match,
          path: workspacePathOf({ folder, relative: path }, folders),
        }));
        return { matches: named, cutBy };
      }),
    );
    const cutBy = results.find(result => result.cutBy)?.cutBy;
    return { matches: results.flatMap(result => result.matches), ...(cutBy ? { cutBy } : {}) };
  }

  /**
   * The matches in unsaved and proposed contents, by path; an empty list for a path whose matches on disk no longer count.
   * @param onDisk the paths with matches on disk: they may be other names of files that an editor has not saved.
   */
  async #searchMemory(
    query: TextQuery,
    pending: PendingContents,
    {
      globs,
      onDisk,
      limit,
    }: { readonly globs: readonly string[]; readonly onDisk: ReadonlySet<string>; readonly limit: number },
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, MemoryMatches>> {
    const contents = await this.#unsavedContents(query, globs, onDisk, signal);
    for (const path of pending.paths()) contents.set(path, textOf(pending.at(path)?.side));
    const found = new Map<string, MemoryMatches>();
    const lines = contents.size === 0 ? undefined : this.#lineSearchFor(query, signal);
    if (!lines) return found;
    try {
      for (const [path, text] of contents) {
        const matches = await lines.find(text, limit);
        found.set(
          path,
          matches?.map(line => ({ path, ...line })),
        );
      }
    } finally {
      lines.dispose();
    }
    const withMatches = [...found.keys()].filter(path => found.get(path)?.length !== 0);
    const searchable = new Set(await this.#searchable(withMatches, globs, query.ignored));
    for (const path of withMatches) if (!searchable.has(path)) found.set(path, []);
    return found;
  }

  /** The unsaved texts of files, by each path under which a search may find the file. */
  async #unsavedContents(
    { ignored }: TextQuery,
    globs: readonly string[],
    onDisk: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Map<string, string>> {
    const contents = new Map<string, string>();
    const unsavedAt = dirtyDocuments();
    const paths = new Set([...this.#workspace.unsaved(), ...onDisk]);
    if (areAnyHardLinked())
      for (const glob of globs) {
        const listing = await this.#workspace.listForSearch(glob, MAX_LISTED, signal, ignored);
        for (const path of listing.paths) paths.add(path);
      }
    let looked = 0;
    for (const path of paths) {
      if (++looked % LOOKED_AT_ONCE === 0) await setImmediate();
      const document = unsavedAt(this.#workspace.uriOf(path));
      if (document) contents.set(path, document.getText());
    }
    return contents;
  }

  /** `undefined` for a pattern that only ripgrep understands: then only the files on disk are searched. */
  #lineSearchFor({ query, isRegex }: TextQuery, signal: AbortSignal): LineSearch | undefined {
    const options = { file: this.#lineWorker, timeLimitMs: MEMORY_LIMIT_MS, signal };
    try {
      return new LineSearch({ query, isRegex }, options);
    } catch (error) {
      if (error instanceof ToolError) return undefined;
      throw error;
    }
  }

  /** The given paths without those that a search with these globs would skip. The files need not exist. */
  async #searchable(
    paths: readonly string[],
    globs: readonly string[],
    ignored = false,
  ): Promise<readonly string[]> {
    if (paths.length === 0) return [];
    const matchesGlob = await globMatcher(globs);
    const folders = this.#workspace.folders();
    const matching = paths.filter(path => matchesGlob(locate(path, folders).relative));
    return ignored ? matching : this.#workspace.visibleToSearch(matching);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
