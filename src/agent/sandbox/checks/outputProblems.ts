import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beginningOf } from '../../base/cutText.ts';
import { plainOutput } from '../commands/outputBuffer.ts';
import type { FolderRoot } from '../../hold/preview/workspace.ts';
import { matchLines, type Match } from './problems/matchLines.ts';
import { OWN } from './problems/ownMatchers.ts';

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

const ERROR = /^\s*(?:\w*Error\b|error\b|AssertionError|E\s{2,}|panicked|thread '|Failed\b|Failure\/Error:)/i;

/** Problems of an output that were found by other means. */
export interface OtherMatches {
  /** Found by matchers that are not Redline's, or in a report. */
  readonly found?: readonly Match[];
  /** Whether Redline's own matchers are left out. */
  readonly withoutOwn?: boolean;
}

/**
 * The places in files of the workspace that an output names, each line of a file once, in the order of the output.
 * @param folder the absolute path of the folder in which the command ran
 */
export function outputProblems(
  output: string,
  folder: string,
  roots: readonly FolderRoot[],
  { found = [], withoutOwn = false }: OtherMatches = {},
): readonly OutputProblem[] {
  const text = plainOutput(output);
  const own = withoutOwn ? [] : matchLines({ text, matchers: OWN });
  const lines = text.split('\n');
  const errors = errorsAbove(lines);
  const problems = new Map<string, OutputProblem>();
  const seen = new Set<number>();
  for (const match of [...found, ...own].sort((a, b) => a.at - b.at)) {
    const at = workspacePathOf(match, folder, roots);
    const key = `${at}:${match.line}`;
    if (at === undefined || match.line < 1 || problems.has(key) || problems.size >= MAX_PROBLEMS) continue;
    // Of several readings of one line, the first whose file is in the workspace counts.
    if (match.at >= 0 && seen.has(match.at)) continue;
    seen.add(match.at);
    const message = match.message === '' ? (errors[match.at] ?? 'The check fails here.') : match.message;
    problems.set(key, {
      path: at,
      line: match.line,
      column: Math.max(1, match.column),
      message: beginningOf(message, MAX_MESSAGE),
      isWarning: /^(?:w(?:arn(?:ing)?)?|i(?:nfo)?|note|[!⚠])$/i.test(
        match.severity ?? /^(warning)\b/i.exec(message)?.[0] ?? '',
      ),
    });
  }
  return [...problems.values()];
}

/** For each line, the last line at or above it that reports an error. */
function errorsAbove(lines: readonly string[]): readonly (string | undefined)[] {
  let last: string | undefined;
  return lines.map(line => {
    if (line.length <= MAX_MESSAGE && ERROR.test(line)) last = line.trim();
    return last;
  });
}

function workspacePathOf(
  { file, folder: base }: Match,
  folder: string,
  roots: readonly FolderRoot[],
): string | undefined {
  // Such as node:internal/…, but not C:\\….
  if (/^(?!file:)[a-z][\w+.-]+:/i.test(file)) return undefined;
  const plain = plainPath(file);
  if (plain === undefined) return undefined;
  const absolute = path.resolve(folder, baseIn(base, folder, roots), plain);
  for (const { name, fsPath } of roots) {
    const relative = path.relative(fsPath, absolute);
    if (relative === '' || relative.startsWith('..') || path.isAbsolute(relative)) continue;
    const at = relative.split(path.sep).join('/');
    if (/(^|\/)node_modules\//.test(at)) return undefined;
    return roots.length > 1 ? `${name}/${at}` : at;
  }
  return undefined;
}

/**
 * The folder that a matcher's paths are relative to; empty, for the folder in which the command ran, if `base` has any other
 * variable.
 */
function baseIn(base: string | undefined, folder: string, roots: readonly FolderRoot[]): string {
  const own = roots.find(({ fsPath }) => !path.relative(fsPath, folder).startsWith('..')) ?? roots[0];
  const full = (base ?? '')
    .replace(/\$\{(?:workspaceFolder|workspaceRoot)\}/g, () => own?.fsPath ?? folder)
    .replaceAll('${cwd}', () => folder);
  return full.includes('${') ? '' : full;
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
