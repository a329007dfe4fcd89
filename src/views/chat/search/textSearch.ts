import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import { abortErrorOf, forEachLimited } from '../../../agent/base/async.ts';
import { detailOf, isAbortError, ToolError } from '../../../agent/base/errors.ts';
import { inWorker } from '../../../agent/base/inWorker.ts';
import type { Logger } from '../../../agent/base/logger.ts';
import { isUsableName } from '../../../agent/base/safeName.ts';
import { textOf } from '../../../agent/hold/preview/fileChange.ts';
import type { PendingContents } from '../../../agent/hold/preview/overlay.ts';
import { globMatcher } from '../../../agent/hold/text/glob.ts';
import type { TextEncoding } from '../../../agent/hold/text/encodings.ts';
import type {
  TextMatch,
  TextMatches,
  TextQuery,
  TextSearch,
} from '../../../agent/hold/preview/textSearch.ts';
import { areAnyHardLinked, dirtyDocuments } from '../../workspace/dirtyDocument.ts';
import type { VsCodeWorkspace } from '../../workspace/workspace.ts';
import { locate, workspacePathOf } from '../../workspace/workspacePaths.ts';
import { encodingIn } from '../../workspace/fileEncoding.ts';
import { regexOf, type LineQuery } from './lineMatcher.ts';
import { findRipgrep, ripgrepLabel, searchTextsWithRipgrep, searchWithRipgrep } from './ripgrep.ts';
import { expandGlob, listAll, searchableText } from './searchedFiles.ts';

/** Time limit for one search, in milliseconds. */
const TIME_LIMIT_MS = 20_000;
/** Time limit for all unsaved and proposed contents together, in milliseconds. */
const MEMORY_LIMIT_MS = 5_000;

/** How many files are listed at most to find other names of a file that an editor has not saved. */
const MAX_LISTED = 100_000;
/** How many files are read at the same time. */
const READ_AT_ONCE = 8;
/** How many characters are searched at a time when files are read. */
const PART_CHARS = 4_000_000;
/** After this many files, the search yields to other work. */
const LOOKED_AT_ONCE = 500;

type SearchFiles = (globs: readonly string[], limit: number) => Promise<TextMatches>;
type SearchTexts = (texts: ReadonlyMap<string, string>, limit: number) => Promise<TextMatches>;

/** A search of the workspace's files, and one of texts by their paths; both interpret a pattern alike. */
interface Engine {
  readonly files: SearchFiles;
  readonly texts: SearchTexts;
}

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
    const ripgrep = await (this.#ripgrep ??= findRipgrep(this.#appRoot));
    const encodings = await this.#encodings();
    if (ripgrep !== undefined) {
      try {
        const texts = this.#textsByRipgrep(ripgrep, query, signal);
        const files = encodings
          ? this.#filesByRipgrep(ripgrep, query, encodings, texts, signal)
          : this.#filesRead(query, texts, signal);
        return await this.#searchWith({ files, texts }, query, limit, signal, pending);
      } catch (error) {
        if (error instanceof ToolError || isAbortError(error)) throw error;
        this.#logger.warn(`${ripgrep} could not be run; searching in-process instead: ${detailOf(error)}`);
        this.#ripgrep = Promise.resolve(undefined);
      }
    }
    const texts = this.#textsInProcess(query, signal);
    const files = this.#filesRead(query, texts, signal);
    return this.#searchWith({ files, texts }, query, limit, signal, pending);
  }

  async #searchWith(
    engine: Engine,
    query: TextQuery,
    limit: number,
    signal: AbortSignal,
    pending: PendingContents,
  ): Promise<TextMatches> {
    const globs = expandGlob(query.glob);
    // One more than the limit, to detect further matches after some were replaced.
    const onDisk = await engine.files(globs, limit + 1);
    const found = new Set(onDisk.matches.map(({ path }) => path));
    const texts = await this.#unsavedContents(query, globs, found, signal);
    for (const path of pending.paths()) texts.set(path, textOf(pending.at(path)?.side));
    const searchable = new Set(await this.#searchable([...texts.keys()], globs, query.ignored));
    const wanted = new Map([...texts].filter(([path]) => searchable.has(path)));
    const inMemory: TextMatches = wanted.size === 0 ? { matches: [] } : await engine.texts(wanted, limit + 1);
    const all = [...onDisk.matches.filter(({ path }) => !texts.has(path)), ...inMemory.matches].sort(
      (a, b) => compare(a.path, b.path) || a.line - b.line,
    );
    const cutBy = all.length > limit ? 'limit' : (onDisk.cutBy ?? inMemory.cutBy);
    return { matches: all.slice(0, limit), ...(cutBy === undefined ? {} : { cutBy }) };
  }

  /** Ripgrep's name for the encoding of each folder, by the folder's name; `undefined` if it cannot read one of them. */
  async #encodings(): Promise<ReadonlyMap<string, string | undefined> | undefined> {
    const labels = new Map<string, string | undefined>();
    for (const folder of this.#workspace.folderRoots()) {
      const { name } = await encodingIn(folder);
      // Without a label, ripgrep takes files for UTF-8; with or without one, it recognizes UTF-16.
      const label = name === 'utf8' ? undefined : ripgrepLabel(name);
      if (name !== 'utf8' && label === undefined) return undefined;
      labels.set(folder.name, label);
    }
    return labels;
  }

  #textsByRipgrep(ripgrep: string, { query, isRegex }: TextQuery, signal: AbortSignal): SearchTexts {
    return (texts, limit) =>
      searchTextsWithRipgrep(ripgrep, { query, isRegex, limit, timeLimitMs: MEMORY_LIMIT_MS }, texts, signal);
  }

  #filesByRipgrep(
    ripgrep: string,
    { query, isRegex, glob, ignored = false }: TextQuery,
    encodings: ReadonlyMap<string, string | undefined>,
    texts: SearchTexts,
    signal: AbortSignal,
  ): SearchFiles {
    const folders = this.#workspace.folders();
    return async (globs, limit) => {
      const results = await Promise.all(
        folders.map(async folder => {
          // An open folder may be missing.
          if (!existsSync(folder.fsPath)) return { matches: [] };
          const include = glob === undefined ? [] : globs;
          const exclude = ['**/.git', ...(ignored ? [] : folder.exclude)];
          const options = { query, isRegex, ignored, include, exclude, limit, timeLimitMs: TIME_LIMIT_MS };
          const where = { folder: folder.fsPath, encoding: encodings.get(folder.name) };
          const { matches, cutBy } = await searchWithRipgrep(ripgrep, { ...options, ...where }, signal);
          const named = matches.map(({ path, ...match }) => ({
            ...match,
            path: workspacePathOf({ folder, relative: path }, folders),
          }));
          return { matches: named, cutBy };
        }),
      );
      const cutBy = results.find(result => result.cutBy)?.cutBy;
      // A folder inside another one is searched with both, and its files have one path.
      const first = new Map<string, number>();
      for (const [n, { matches }] of results.entries())
        for (const { path } of matches) if (!first.has(path)) first.set(path, n);
      const found = results.flatMap(({ matches }, n) => matches.filter(({ path }) => first.get(path) === n));
      const unlike = await this.#withOtherLines(new Set(found.map(({ path }) => path)));
      const again = await texts(unlike, limit);
      const matches = [...found.filter(({ path }) => !unlike.has(path)), ...again.matches];
      return { matches, ...(cutBy ? { cutBy } : again.cutBy ? { cutBy: again.cutBy } : {}) };
    };
  }

  /** The texts of the files with lone carriage returns as line ends, which ripgrep does not count. */
  async #withOtherLines(paths: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    const textAt = await this.#reader();
    const texts = new Map<string, string>();
    await forEachLimited([...paths].filter(isUsableName), READ_AT_ONCE, async path => {
      const text = await textAt(path);
      if (text !== undefined && /\r(?!\n)/.test(text)) texts.set(path, text);
    });
    return texts;
  }

  /** Reads texts in the encodings of their folders, see {@link searchableText}. */
  async #reader(): Promise<(path: string) => Promise<string | undefined>> {
    const folders = this.#workspace.folderRoots();
    const encodings = new Map<string, TextEncoding>();
    for (const folder of folders) encodings.set(folder.name, await encodingIn(folder));
    return path => searchableText(this.#workspace, path, encodings.get(locate(path, folders).folder.name));
  }

  /** Reads one file after the other: slower than ripgrep, but in every encoding. */
  #filesRead({ ignored = false }: TextQuery, search: SearchTexts, signal: AbortSignal): SearchFiles {
    return async (globs, limit) => {
      const deadline = Date.now() + TIME_LIMIT_MS;
      const { paths, truncated } = await listAll(this.#workspace, globs, ignored, signal);
      const textAt = await this.#reader();
      const matches: TextMatch[] = [];
      let [texts, chars] = [new Map<string, string>(), 0];
      for (const [index, path] of paths.entries()) {
        if (signal.aborted) throw abortErrorOf(signal);
        const text = await textAt(path);
        if (text !== undefined) texts.set(path, text);
        chars += text?.length ?? 0;
        const isLate = Date.now() > deadline;
        if (!isLate && chars < PART_CHARS && index + 1 < paths.length) continue;
        const found = await search(texts, limit - matches.length);
        matches.push(...found.matches);
        if (found.cutBy === 'time' || isLate) return { matches, cutBy: 'time' };
        if (matches.length >= limit) return { matches, cutBy: 'limit' };
        [texts, chars] = [new Map<string, string>(), 0];
      }
      return { matches, ...(truncated ? { cutBy: 'limit' as const } : {}) };
    };
  }

  /** @throws ToolError, when it is called, for a pattern that is not a regular expression of JavaScript */
  #textsInProcess({ query, isRegex }: TextQuery, signal: AbortSignal): SearchTexts {
    if (isRegex) regexOf(query);
    return async (texts, limit) => {
      const data: LineQuery = { query, isRegex, texts, limit };
      const options = { timeLimitMs: MEMORY_LIMIT_MS, signal };
      try {
        const matches = await inWorker<readonly TextMatch[]>(this.#lineWorker, data, options);
        return matches ? { matches } : { matches: [], cutBy: 'time' };
      } catch (error) {
        // It turns out to be too large only when it is first matched.
        if ((error as Error).name !== 'SyntaxError') throw error;
        throw new ToolError('query is too large a regular expression. Use a shorter one.');
      }
    };
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
    for (const path of [...paths].filter(isUsableName)) {
      if (++looked % LOOKED_AT_ONCE === 0) await setImmediate();
      const document = unsavedAt(this.#workspace.uriOf(path));
      if (document) contents.set(path, document.getText());
    }
    return contents;
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
