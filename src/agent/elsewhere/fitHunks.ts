import { TimeSlice } from '../base/async.ts';
import { lineEndingOf } from '../text/lines.ts';
import { occurrencesFrom } from '../text/occurrences.ts';
import type { PatchHunk } from './parsePatch.ts';

/** What hunks make of a text. */
export interface FittedText {
  readonly text: string;
  /** Those that fit nowhere, or in several places. Nothing of them is in the text. */
  readonly rejected: readonly PatchHunk[];
}

/**
 * Applies hunks where their old lines are: at the line that they name (moved by the hunks before), else at the only other
 * place where exactly these lines are. If the file has other line endings than the patch, those of the file are kept.
 */
export async function fitHunks(text: string, hunks: readonly PatchHunk[]): Promise<FittedText> {
  const exact = await fit(text, hunks, undefined);
  const ending = lineEndingOf(text);
  if (exact.rejected.length === 0 || (ending !== '\n' && ending !== '\r\n')) return exact;
  const converted = await fit(text, hunks, ending);
  return converted.rejected.length < exact.rejected.length ? converted : exact;
}

/** A text as its lines without line feeds. */
interface Lines {
  readonly lines: readonly string[];
  /** Whether a line feed follows the last line. */
  readonly isEnded: boolean;
}

/** The two sides of a hunk. */
interface HunkSides {
  readonly old: Lines;
  readonly now: Lines;
  /** For each new line that is a line of context: its place in `old`. */
  readonly kept: readonly (number | undefined)[];
}

/** @param ending gives new lines this ending and compares without; `undefined`: everything is taken exactly. */
async function fit(
  text: string,
  hunks: readonly PatchHunk[],
  ending: '\n' | '\r\n' | undefined,
): Promise<FittedText> {
  const slice = new TimeSlice();
  const bare = (line: string): string => (ending === undefined ? line : line.replace(/\r$/, ''));
  const file = linesOf(text);
  const keys = file.lines.map(bare);
  const result: string[] = [];
  const rejected: PatchHunk[] = [];
  let isEnded = file.isEnded;
  let taken = 0;
  let moved = 0;
  for (const hunk of hunks) {
    await slice.turn();
    const { old, now, kept } = sidesOf(hunk);
    const pattern = old.lines.map(bare);
    const isAt = (at: number): boolean => touchesEndAsFile(at, old, file) && matches(keys, pattern, at);
    const at = placeOf(keys, pattern, hunk.oldStart - 1 + moved, taken, isAt);
    if (at === undefined) {
      rejected.push(hunk);
      continue;
    }
    for (; taken < at; taken++) result.push(file.lines[taken] ?? '');
    const reachesEnd = at + pattern.length === file.lines.length;
    for (const [n, line] of now.lines.entries()) {
      const own = kept[n];
      const isLast = reachesEnd && n === now.lines.length - 1 && !now.isEnded;
      if (own !== undefined && ending !== undefined) result.push(file.lines[at + own] ?? '');
      else if (ending === undefined) result.push(line);
      else result.push(bare(line) + (ending === '\r\n' && !isLast ? '\r' : ''));
    }
    if (reachesEnd) isEnded = now.lines.length === 0 || now.isEnded;
    taken = at + pattern.length;
    moved = at - (hunk.oldStart - 1);
  }
  for (; taken < file.lines.length; taken++) result.push(file.lines[taken] ?? '');
  const joined = result.join('\n');
  return { text: isEnded && result.length > 0 ? `${joined}\n` : joined, rejected };
}

function linesOf(text: string): Lines {
  const lines = text.split('\n');
  if (lines.at(-1) !== '') return { lines, isEnded: false };
  lines.pop();
  return { lines, isEnded: true };
}

function sidesOf(hunk: PatchHunk): HunkSides {
  const old: string[] = [];
  const now: string[] = [];
  const kept: (number | undefined)[] = [];
  let [oldEnded, nowEnded] = [true, true];
  let last = ' ';
  for (const line of hunk.lines) {
    const sign = line[0] ?? ' ';
    const rest = line.slice(1);
    if (sign === '\\') {
      if (last !== '+') oldEnded = false;
      if (last !== '-') nowEnded = false;
      continue;
    }
    if (sign !== '-') {
      now.push(rest);
      kept.push(sign === '+' ? undefined : old.length);
    }
    if (sign !== '+') old.push(rest);
    last = sign;
  }
  return { old: { lines: old, isEnded: oldEnded }, now: { lines: now, isEnded: nowEnded }, kept };
}

/** A hunk that ends with the file says whether a line feed follows; a hunk without old lines fits into an empty file only. */
function touchesEndAsFile(at: number, old: Lines, file: Lines): boolean {
  if (old.lines.length === 0) return file.lines.length === 0;
  const reachesEnd = at + old.lines.length === file.lines.length;
  return reachesEnd ? old.isEnded === file.isEnded : old.isEnded;
}

/** Where a hunk belongs: at the expected line, else at the only other place. `from`: where the hunk before ends. */
function placeOf(
  lines: readonly string[],
  pattern: readonly string[],
  expected: number,
  from: number,
  isAt: (at: number) => boolean,
): number | undefined {
  if (pattern.length === 0) return isAt(0) ? 0 : undefined;
  if (expected >= from && isAt(expected)) return expected;
  let only: number | undefined;
  for (const at of occurrencesFrom(from, lines, pattern)) {
    if (!isAt(at)) continue;
    if (only !== undefined) return undefined;
    only = at;
  }
  return only;
}

function matches(lines: readonly string[], pattern: readonly string[], at: number): boolean {
  return at + pattern.length <= lines.length && pattern.every((line, n) => lines[at + n] === line);
}
