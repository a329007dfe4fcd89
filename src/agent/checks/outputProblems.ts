import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beginningOf } from '../base/cutText.ts';
import type { FolderRoot } from '../preview/workspace.ts';

/** A place that the output of a check names. */
export interface OutputProblem {
  /** The workspace path. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  readonly message: string;
  readonly isWarning: boolean;
}

/** The most problems that are read from one output, and the longest message, in characters. */
const MAX_PROBLEMS = 200;
const MAX_MESSAGE = 500;
/** Longer lines are bundles or data. */
const MAX_LINE = 2_000;

interface Found {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** `a.ts(3,5): error TS2322: …` of the TypeScript compiler and MSBuild. */
const PARENTHESES = /^\s*(?<file>[^\s():][^():]*)\((?<line>\d+),(?<column>\d+)\):\s*(?<message>.+)$/;
/** `a.ts:3:5 - error TS2322: …`, `a.c:3:5: error: …`, `./a.go:3:5: …`, `a.py:3: …` of most compilers and linters. */
const COLONS =
  /^\s*(?<file>(?:[A-Za-z]:)?[^\s:][^:]*):(?<line>\d+)(?::(?<column>\d+))?(?::| -)\s+(?<message>.+)$/;
/** A line of a stack: `at f (file:///a.ts:3:5)`, `at /a.ts:3:5`. */
const STACK = /^\s*at .*?\(?(?<file>(?:file:\/\/)?[^\s()]+):(?<line>\d+):(?<column>\d+)\)?$/;
/** ` --> src/main.rs:3:5` of rustc; the message is a line above. */
const ARROW = /^\s*--> (?<file>[^:]+):(?<line>\d+):(?<column>\d+)$/;
/** `  File "a.py", line 3, in f` of Python; the message comes at the end. */
const PYTHON = /^\s*File "(?<file>[^"]+)", line (?<line>\d+)/;
/** `  3:5  error  message  rule` of ESLint, below a line with the path. */
const STYLISH = /^\s+(?<line>\d+):(?<column>\d+)\s+(?<message>(?:error|warning)\s+.+)$/;
const ERROR = /^\s*(?:\w*Error\b|error\b|AssertionError|E\s{2,}|panicked|thread ')/i;

/**
 * The places in files of the workspace that an output names, each line of a file once, in the order of the output.
 * @param folder the absolute path of the folder in which the command ran
 */
export function outputProblems(
  output: string,
  folder: string,
  roots: readonly FolderRoot[],
): readonly OutputProblem[] {
  const problems = new Map<string, OutputProblem>();
  const add = ({ file, line, column, message }: Found): void => {
    const at = workspacePathOf(file, folder, roots);
    if (at === undefined || line < 1 || problems.size >= MAX_PROBLEMS) return;
    const key = `${at}:${line}`;
    if (problems.has(key)) return;
    const text = beginningOf(message.trim(), MAX_MESSAGE);
    problems.set(key, {
      path: at,
      line,
      column: Math.max(1, column),
      message: text,
      isWarning: /^warning\b/i.test(text),
    });
  };
  let header: string | undefined;
  let lastError = '';
  for (const line of output.split('\n')) {
    if (line.length > MAX_LINE) continue;
    const stylish = STYLISH.exec(line)?.groups;
    if (stylish && header !== undefined) {
      add(foundIn(stylish, lastError, header));
      continue;
    }
    if (ERROR.test(line)) lastError = line.trim();
    const groups = [PARENTHESES, COLONS, STACK, ARROW, PYTHON]
      .map(pattern => pattern.exec(line)?.groups)
      .find(found => found !== undefined);
    if (groups) add(foundIn(groups, lastError));
    header = /^\S/.test(line) && /[/\\.]/.test(line) ? line.trim() : line.trim() === '' ? undefined : header;
  }
  return [...problems.values()];
}

function foundIn(groups: Record<string, string | undefined>, lastError: string, header = ''): Found {
  return {
    file: groups['file'] ?? header,
    line: Number(groups['line']),
    column: Number(groups['column'] ?? 1),
    message: groups['message'] ?? (lastError === '' ? 'The check fails here.' : lastError),
  };
}

function workspacePathOf(file: string, folder: string, roots: readonly FolderRoot[]): string | undefined {
  // Such as node:internal/…, but not C:\\….
  if (/^(?!file:)[a-z][\w+.-]+:/i.test(file)) return undefined;
  const plain = plainPath(file);
  if (plain === undefined) return undefined;
  const absolute = path.resolve(folder, plain);
  for (const { name, fsPath } of roots) {
    const relative = path.relative(fsPath, absolute);
    if (relative === '' || relative.startsWith('..') || path.isAbsolute(relative)) continue;
    const at = relative.split(path.sep).join('/');
    if (/(^|\/)node_modules\//.test(at)) return undefined;
    return roots.length > 1 ? `${name}/${at}` : at;
  }
  return undefined;
}

/** `undefined` for a URL of a file that this system cannot have. */
function plainPath(file: string): string | undefined {
  if (!file.startsWith('file:')) return file;
  try {
    return fileURLToPath(file);
  } catch {
    return undefined;
  }
}
