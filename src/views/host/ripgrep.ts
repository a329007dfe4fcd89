import { spawn } from 'node:child_process';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { abortErrorOf } from '../../agent/base/abort.ts';
import { ToolError } from '../../agent/base/errors.ts';
import { globToRegExp } from '../../agent/tools/ast/glob.ts';

/** One folder to search, and what to search it for. */
export interface RipgrepQuery {
  /** Absolute; paths in the answer are relative to it. */
  readonly folder: string;
  readonly query: string;
  readonly isRegex: boolean;
  /** Globs that a file must match one of; empty for all. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
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

export interface RipgrepAnswer {
  readonly matches: readonly RipgrepMatch[];
  readonly cutBy?: 'limit' | 'time';
}

/** The ripgrep that comes with the VS Code in `appRoot`; `undefined` where there is none. */
export async function findRipgrep(appRoot: string): Promise<string | undefined> {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  const platform = `${process.platform}-${process.arch}`;
  const candidates = ['node_modules.asar.unpacked', 'node_modules'].flatMap(modules => [
    path.join(appRoot, modules, '@vscode', 'ripgrep-universal', 'bin', platform, name),
    path.join(appRoot, modules, '@vscode', 'ripgrep', 'bin', name),
  ]);
  for (const candidate of candidates) {
    const there = await access(candidate).then(
      () => true,
      () => false,
    );
    if (there) return candidate;
  }
  return undefined;
}

/**
 * Runs ripgrep over one folder: hidden files too, without what .gitignore and the excludes hide.
 * @throws ToolError for a pattern that it refuses; the abort error; any other error when it cannot be run.
 */
export async function runRipgrep(
  command: string,
  query: RipgrepQuery,
  signal: AbortSignal,
): Promise<RipgrepAnswer> {
  if (query.include.length === 0) return run(command, argumentsOf(query), query, signal);
  // `--glob` would search what .gitignore hides: an ignore file that spares the included files does not.
  const folder = await mkdtemp(path.join(tmpdir(), 'redline-search-'));
  try {
    const file = path.join(folder, 'include');
    await writeFile(file, ignoreAllBut(query.include));
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
): Promise<RipgrepAnswer> {
  if (signal.aborted) throw abortErrorOf(signal);
  const isIncluded = includes(include);
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  const matches: RipgrepMatch[] = [];
  let cutBy: RipgrepAnswer['cutBy'];
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
    // Awaited only after the lines; without a handler its rejection would be nobody's until then.
    status.catch(() => undefined);
    for await (const line of createInterface({ input: child.stdout })) {
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
    // 2 with matches means that some file could not be read.
    if (code === 2 && matches.length === 0) throw refusal(complaint, isRegex);
    return { matches, ...(cutBy === undefined ? {} : { cutBy }) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    end();
  }
}

function argumentsOf({ query, isRegex, exclude, limit }: RipgrepQuery): string[] {
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
    // The folder's own .gitignore files count, whether or not it is a repository; nothing outside of it does.
    ...['--no-require-git', '--no-ignore-parent', '--no-ignore-global', '--no-messages'],
    ...exclude.flatMap(glob => ['--glob', `!${glob}`]),
    ...(isRegex ? [] : ['--fixed-strings']),
    ...['--regexp', query, '--', './'],
  ];
}

/** Rules of a .gitignore that hide every file that matches none of the globs. Folders stay, or nothing is found. */
function ignoreAllBut(globs: readonly string[]): string {
  const spared = globs.map(glob => `!${glob.startsWith('**/') ? glob : `/${glob}`}`);
  return ['*', '!*/', ...spared, ''].join('\n');
}

/** Whether a path matches: a .gitignore that excepts a file has the last word over our rules, and lets it through. */
function includes(globs: readonly string[]): (path: string) => boolean {
  const patterns = globs.map(globToRegExp);
  return path => patterns.length === 0 || patterns.some(pattern => pattern.test(path));
}

function refusal(complaint: string, isRegex: boolean): Error {
  const reason = complaint.replace(/^rg: /gm, '').trim();
  return isRegex
    ? new ToolError(`query is not a regular expression that can be searched for: ${reason}`)
    : new Error(`ripgrep failed: ${reason}`);
}

interface MatchEvent {
  readonly type: string;
  readonly data: {
    readonly path?: Content;
    readonly lines?: Content;
    readonly line_number?: number;
    readonly submatches?: readonly { readonly start: number }[];
  };
}
/** Text where it is UTF-8, else base64. */
type Content = { readonly text?: string; readonly bytes?: string };

function matchOf(line: string): RipgrepMatch | undefined {
  const { type, data } = JSON.parse(line) as MatchEvent;
  const file = data.path?.text;
  if (type !== 'match' || file === undefined || data.line_number === undefined) return undefined;
  const bytes = contentOf(data.lines);
  const start = data.submatches?.[0]?.start ?? 0;
  return {
    path: file.replaceAll('\\', path.sep === '\\' ? '/' : '\\').replace(/^\.\//, ''),
    line: data.line_number,
    text: bytes.toString('utf8').replace(/[\r\n]+$/, ''),
    at: bytes.subarray(0, start).toString('utf8').length,
  };
}

function contentOf(content: Content | undefined): Buffer {
  return content?.bytes === undefined
    ? Buffer.from(content?.text ?? '', 'utf8')
    : Buffer.from(content.bytes, 'base64');
}
