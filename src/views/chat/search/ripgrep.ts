import { spawn } from 'node:child_process';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { abortErrorOf, succeeds } from '../../../agent/base/async.ts';
import { beginningOf } from '../../../agent/base/cutText.ts';
import { ToolError } from '../../../agent/base/errors.ts';
import { globMatcher, type PathMatcher } from '../../../agent/hold/text/glob.ts';
import type { EncodingName } from '../../../agent/hold/text/encodings.ts';
import type { TextMatch } from '../../../agent/hold/preview/textSearch.ts';
import { countFeeds } from '../../../agent/hold/text/lines.ts';

/** A search, and its time limit. */
export interface LineSearchQuery {
  readonly query: string;
  readonly isRegex: boolean;
  readonly limit: number;
  readonly timeLimitMs: number;
}

/** A search in one folder. */
export interface RipgrepQuery extends LineSearchQuery {
  /** Absolute path; paths in the result are relative to it. */
  readonly folder: string;
  /** Globs: a file must match at least one of them. Empty means all files. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Also searches ignored files. */
  readonly ignored?: boolean;
  /** Encoding of files without a byte order mark, see {@link ripgrepLabel}; UTF-8 if it is missing. */
  readonly encoding?: string | undefined;
}

/** Paths are relative to the folder, with forward slashes. */
export interface RipgrepResult {
  readonly matches: readonly TextMatch[];
  readonly cutBy?: 'limit' | 'time';
}

/** The path of the ripgrep that ships with the VS Code in `appRoot`; `undefined` if there is none. */
export async function findRipgrep(appRoot: string): Promise<string | undefined> {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  const platform = `${process.platform}-${process.arch}`;
  const candidates = ['node_modules.asar.unpacked', 'node_modules'].flatMap(modules => [
    path.join(appRoot, modules, '@vscode', 'ripgrep-universal', 'bin', platform, name),
    path.join(appRoot, modules, '@vscode', 'ripgrep', 'bin', name),
  ]);
  for (const candidate of candidates) {
    if (await succeeds(access(candidate))) return candidate;
  }
  return undefined;
}

/** Labels of the Encoding Standard, which ripgrep uses, where they differ from our names. */
const LABELS: Partial<Record<EncodingName, string>> = {
  utf16le: 'utf-16le',
  utf16be: 'utf-16be',
  iso885916: 'iso-8859-16',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  koi8ru: 'koi8-ru',
  macroman: 'macintosh',
  shiftjis: 'shift_jis',
  eucjp: 'euc-jp',
  euckr: 'euc-kr',
  cp950: 'big5',
  big5hkscs: 'big5-hkscs',
};

/** Ripgrep's name for an encoding; `undefined` if ripgrep cannot read it. */
export function ripgrepLabel(name: EncodingName): string | undefined {
  const label = LABELS[name] ?? name.replace(/^windows/, 'windows-');
  try {
    return new TextDecoder(label) && label;
  } catch {
    return undefined;
  }
}

/**
 * Runs ripgrep over one folder, hidden files included, without the files that .gitignore and `exclude` hide.
 * @throws ToolError for an invalid pattern; the abort error; any other error if ripgrep cannot be run.
 */
export async function searchWithRipgrep(
  command: string,
  query: RipgrepQuery,
  signal: AbortSignal,
): Promise<RipgrepResult> {
  const { folder: cwd, include } = query;
  const isIncluded = await includes(include);
  const accept = (match: TextMatch): TextMatch | undefined => (isIncluded(match.path) ? match : undefined);
  if (include.length === 0) return run(command, argumentsOf(query), query, { cwd, accept }, signal);
  // An ignore file of our own hides everything that is not included, since `--glob` would override .gitignore.
  const folder = await mkdtemp(path.join(tmpdir(), 'redline-search-'));
  try {
    const file = path.join(folder, 'include');
    await writeFile(file, ignoreFileFor(include));
    const args = ['--ignore-file', file, ...argumentsOf(query)];
    return await run(command, args, query, { cwd, accept }, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Searches texts as if they were the files at these paths: ripgrep reads them as one input, so that the meaning of a pattern does
 * not depend on whether a file is saved.
 * @throws as {@link searchWithRipgrep} does
 */
export async function searchTextsWithRipgrep(
  command: string,
  query: LineSearchQuery,
  texts: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<RipgrepResult> {
  const entries = [...texts].filter(([, text]) => text !== '');
  if (entries.length === 0) return { matches: [] };
  // To ripgrep a carriage return alone does not end a line.
  const input = entries.map(([, text]) => text.replace(/\r(?!\n)/g, '\n').replace(/(?<!\n)$/, '\n'));
  let [at, before] = [0, 0];
  let count = countFeeds(input[0] ?? '');
  // The matches come in the order of the lines.
  const accept = (match: TextMatch): TextMatch => {
    while (match.line > before + count) {
      before += count;
      count = countFeeds(input[++at] ?? '');
    }
    return { ...match, path: entries[at]?.[0] ?? '', line: match.line - before };
  };
  const args = [
    ...commonArguments(query),
    '--text',
    '--encoding',
    'none',
    '--regexp',
    query.query,
    '--',
    '-',
  ];
  return run(command, args, query, { input, accept }, signal);
}

/** A run of ripgrep: its folder, its input, and the receiver of matches. */
interface RipgrepRun {
  readonly cwd?: string;
  readonly input?: readonly string[];
  readonly accept: (match: TextMatch) => TextMatch | undefined;
}

async function run(
  command: string,
  args: readonly string[],
  { isRegex, limit, timeLimitMs }: LineSearchQuery,
  { cwd, input, accept }: RipgrepRun,
  signal: AbortSignal,
): Promise<RipgrepResult> {
  if (signal.aborted) throw abortErrorOf(signal);
  const child = spawn(command, args, {
    cwd,
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const matches: TextMatch[] = [];
  let cutBy: RipgrepResult['cutBy'];
  let complaint = '';
  const end = (): void => void child.kill();
  const timer = setTimeout(() => {
    cutBy ??= 'time';
    end();
  }, timeLimitMs);
  signal.addEventListener('abort', end, { once: true });
  try {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = beginningOf(complaint + text, 2_000);
    });
    const status = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    // It is awaited only after the lines; until then a rejection would count as unhandled.
    status.catch(() => undefined);
    // ripgrep may exit before it has read all input.
    if (input && child.stdin) pipeline(Readable.from(input), child.stdin).catch(() => undefined);
    for await (const found of matchesIn(child.stdout?.setEncoding('latin1') as AsyncIterable<string>)) {
      const match = accept(found);
      if (match === undefined) continue;
      if (matches.length >= limit) {
        cutBy ??= 'limit';
        end();
        break;
      }
      matches.push(match);
    }
    const code = await status;
    if (signal.aborted) throw abortErrorOf(signal);
    // Without a complaint, exit code 2 only means that some file could not be read.
    if (code === 2 && matches.length === 0 && complaint !== '') throw errorFor(complaint, isRegex);
    return { matches, ...(cutBy === undefined ? {} : { cutBy }) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    end();
  }
}

function argumentsOf(query: RipgrepQuery): string[] {
  const { exclude, ignored = false, encoding } = query;
  return [
    ...commonArguments(query),
    ...['--hidden', '--max-filesize', '5M'],
    // Only the .gitignore files inside the folder count, whether or not it is a repository.
    ...['--no-require-git', '--no-ignore-parent', '--no-ignore-global', '--no-messages'],
    // Not `--no-ignore`, which would drop our own ignore file.
    ...(ignored ? ['--no-ignore-vcs', '--no-ignore-dot', '--no-ignore-exclude'] : []),
    ...exclude.flatMap(glob => ['--glob', `!${anchored(glob)}`]),
    ...(encoding === undefined ? [] : ['--encoding', encoding]),
    ...['--regexp', query.query, '--', './'],
  ];
}

function commonArguments({ isRegex, limit }: LineSearchQuery): string[] {
  return [
    ...['--no-config', '--no-heading', '--with-filename', '--null', '--line-number', '--column'],
    ...['--field-match-separator', '\\x00'],
    ...['--color', 'never', '--crlf', '--max-count', String(limit + 1)],
    ...(isRegex ? [] : ['--fixed-strings']),
  ];
}

/** A .gitignore that hides every file that matches none of the globs. Folders are not hidden, or ripgrep would skip their files. */
function ignoreFileFor(globs: readonly string[]): string {
  const spared = globs.map(glob => `!${anchored(glob)}`);
  return ['*', '!*/', ...spared, ''].join('\n');
}

/** Anchors a glob to the folder: in a .gitignore a glob without a slash matches in every folder. */
function anchored(glob: string): string {
  return glob.startsWith('**/') ? glob : `/${glob}`;
}

/** Checks the result again: a negated rule in a .gitignore of the folder overrides ours and lets its files through. */
async function includes(globs: readonly string[]): Promise<PathMatcher> {
  return globs.length === 0 ? () => true : globMatcher(globs);
}

function errorFor(complaint: string, isRegex: boolean): Error {
  const reason = complaint.replace(/^rg: /gm, '').trim();
  return isRegex
    ? new ToolError(`query is not a regular expression that ripgrep supports: ${reason}`)
    : new Error(`ripgrep failed: ${reason}`);
}

/**
 * The path of a match, its line, the column of the first match in bytes, and the text. An empty match at the end of a file has no
 * column. A warning about a binary file may precede it.
 */
const MATCH =
  /(?:[^\0\n]*: WARNING: stopped searching binary file [^\n]*\n)*([^\0]*)\0(\d+)\0(?:(\d+)\0)?([^\n]*)\n/y;

/** The matches in the output of ripgrep, each of whose bytes is one character of `chunks`. A name may have line feeds. */
async function* matchesIn(chunks: AsyncIterable<string>): AsyncGenerator<TextMatch> {
  let rest = '';
  for await (const chunk of chunks) {
    rest += chunk;
    if (!chunk.includes('\n')) continue;
    let end = 0;
    MATCH.lastIndex = 0;
    for (let found = MATCH.exec(rest); found; found = MATCH.exec(rest)) {
      end = MATCH.lastIndex;
      const [, file = '', line, column, text = ''] = found;
      yield {
        path: decoded(file).split(path.sep).join('/').replace(/^\.\//, ''),
        line: Number(line),
        text: decoded(withoutReturns(text)),
        at: decoded(text.slice(0, Number(column ?? 1) - 1)).length,
      };
      MATCH.lastIndex = end; // another search may have used it meanwhile
    }
    rest = rest.slice(end);
  }
}

function withoutReturns(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(0, end);
}

function decoded(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
