import { spawn } from 'node:child_process';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { abortErrorOf, succeeds } from '../../agent/base/async.ts';
import { ToolError } from '../../agent/base/errors.ts';
import { globMatcher, type PathMatcher } from '../../agent/tools/ast/scope/glob.ts';
import { eventHeads } from './eventHeads.ts';

/** What to search for in one folder. */
export interface RipgrepQuery {
  /** Absolute path; paths in the result are relative to it. */
  readonly folder: string;
  readonly query: string;
  readonly isRegex: boolean;
  /** Globs: a file must match at least one of them. Empty means all files. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Also searches what .gitignore files hide. */
  readonly ignored?: boolean;
  readonly limit: number;
  readonly timeLimitMs: number;
}

export interface RipgrepMatch {
  /** Relative to the folder, with forward slashes. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly at: number;
}

export interface RipgrepResult {
  readonly matches: readonly RipgrepMatch[];
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

/**
 * Runs ripgrep over one folder, hidden files included, without the files that .gitignore and `exclude` hide.
 * @throws ToolError for an invalid pattern; the abort error; any other error if ripgrep cannot be run.
 */
export async function searchWithRipgrep(
  command: string,
  query: RipgrepQuery,
  signal: AbortSignal,
): Promise<RipgrepResult> {
  if (query.include.length === 0) return run(command, argumentsOf(query), query, signal);
  // Not `--glob`, which overrides .gitignore: an ignore file of our own for everything that is not included does not.
  const folder = await mkdtemp(path.join(tmpdir(), 'redline-search-'));
  try {
    const file = path.join(folder, 'include');
    await writeFile(file, ignoreFileFor(query.include));
    return await run(command, ['--ignore-file', file, ...argumentsOf(query)], query, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(
  command: string,
  args: readonly string[],
  { folder, isRegex, include, limit, timeLimitMs }: RipgrepQuery,
  signal: AbortSignal,
): Promise<RipgrepResult> {
  if (signal.aborted) throw abortErrorOf(signal);
  const isIncluded = await includes(include);
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  const matches: RipgrepMatch[] = [];
  let cutBy: RipgrepResult['cutBy'];
  let complaint = '';
  const end = (): void => void child.kill();
  const timer = setTimeout(() => {
    cutBy ??= 'time';
    end();
  }, timeLimitMs);
  signal.addEventListener('abort', end, { once: true });
  try {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(0, 2_000);
    });
    const status = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    // It is awaited only after the lines; until then a rejection would count as unhandled.
    status.catch(() => undefined);
    for await (const line of eventHeads(child.stdout as AsyncIterable<Buffer>)) {
      const match = matchOf(line);
      if (match === undefined || !isIncluded(match.path)) continue;
      if (matches.length >= limit) {
        cutBy ??= 'limit';
        end();
        break;
      }
      matches.push(match);
    }
    const code = await status;
    if (signal.aborted) throw abortErrorOf(signal);
    // Exit code 2 with matches only means that some file could not be read.
    if (code === 2 && matches.length === 0) throw errorFor(complaint, isRegex);
    return { matches, ...(cutBy === undefined ? {} : { cutBy }) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    end();
  }
}

function argumentsOf({ query, isRegex, exclude, limit, ignored = false }: RipgrepQuery): string[] {
  return [
    ...[
      '--no-config',
      '--json',
      '--hidden',
      '--crlf',
      '--max-filesize',
      '5M',
      '--max-count',
      String(limit + 1),
    ],
    // Only the .gitignore files inside the folder count, whether or not it is a repository.
    ...['--no-require-git', '--no-ignore-parent', '--no-ignore-global', '--no-messages'],
    // Not `--no-ignore`, which would drop our own ignore file.
    ...(ignored ? ['--no-ignore-vcs', '--no-ignore-dot', '--no-ignore-exclude'] : []),
    ...exclude.flatMap(glob => ['--glob', `!${anchored(glob)}`]),
    ...(isRegex ? [] : ['--fixed-strings']),
    ...['--regexp', query, '--', './'],
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

interface MatchEvent {
  readonly type: string;
  readonly data: {
    readonly path?: Content;
    readonly lines?: Content;
    readonly line_number?: number;
  };
}
/** `text` if it is valid UTF-8, else `bytes` in base64. */
type Content = { readonly text?: string; readonly bytes?: string };

const SUBMATCHES = ',"submatches":[';
/** Where in the line the first match begins, in bytes. */
const FIRST_START = /\},"start":(\d+)/g;
const CR = 0x0d;
const LF = 0x0a;

/** @param line an event up to where its first match begins. */
function matchOf(line: string): RipgrepMatch | undefined {
  const submatches = line.lastIndexOf(SUBMATCHES);
  const head = submatches < 0 ? line : `${line.slice(0, submatches)}}}`;
  const { type, data } = JSON.parse(head) as MatchEvent;
  const file = data.path?.text;
  if (type !== 'match' || file === undefined || data.line_number === undefined) return undefined;
  const bytes = contentOf(data.lines);
  FIRST_START.lastIndex = submatches;
  const start = submatches < 0 ? 0 : Number(FIRST_START.exec(line)?.[1] ?? 0);
  let end = bytes.length;
  while (bytes[end - 1] === LF || bytes[end - 1] === CR) end--;
  return {
    path: file.split(path.sep).join('/').replace(/^\.\//, ''),
    line: data.line_number,
    text: bytes.toString('utf8', 0, end),
    at: bytes.toString('utf8', 0, start).length,
  };
}

function contentOf(content: Content | undefined): Buffer {
  return content?.bytes === undefined
    ? Buffer.from(content?.text ?? '', 'utf8')
    : Buffer.from(content.bytes, 'base64');
}
