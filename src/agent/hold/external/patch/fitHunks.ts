import { TimeSlice } from '../../../base/async.ts';
import { lineEndingOf } from '../../text/lines.ts';
import { occurrencesFrom } from '../../text/occurrences.ts';
import type { TextSide } from '../../preview/fileChange.ts';
import type { PatchHunk } from './patchParts.ts';

/** The result of applying hunks to a text. */
export interface FittedText {
  readonly text: string;
  /** Hunks that fit nowhere, or in several places. They did not change the text. */
  readonly rejected: readonly PatchHunk[];
}

/**
 * Applies each hunk where its old lines are: at the line that it names (moved by the hunks before), else at the only other
 * place with exactly these lines. A hunk that names lines above it instead goes to the first place below them. Where line
 * endings differ, the file keeps its own.
 */
export async function fitHunks(text: string, hunks: readonly PatchHunk[]): Promise<FittedText> {
  const exact = await fit(text, hunks, undefined);
  const ending = lineEndingOf(text);
  if (exact.rejected.length === 0 || (ending !== '\n' && ending !== '\r\n')) return exact;
  const converted = await fit(text, hunks, ending);
  return converted.rejected.length < exact.rejected.length ? converted : exact;
}

const MARK = '\ufeff';

/** Like {@link fitHunks}, for a file as it is stored: a patch in git's format holds a byte order mark as a character of line 1. */
export async function fitFile(
  { text, encoding }: Pick<TextSide, 'text' | 'encoding'>,
  hunks: readonly PatchHunk[],
): Promise<FittedText & Pick<TextSide, 'encoding'>> {
  if (!encoding.bom) return { ...(await fitHunks(text, hunks)), encoding };
  const marked = await fitHunks(`${MARK}${text}`, hunks);
  const bare = marked.rejected.length > 0 ? await fitHunks(text, hunks) : undefined;
  if (bare && bare.rejected.length < marked.rejected.length) return { ...bare, encoding };
  if (marked.text.startsWith(MARK)) return { ...marked, text: marked.text.slice(MARK.length), encoding };
  return { ...marked, encoding: { ...encoding, bom: false } };
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

/** @param ending new lines get it, and lines are compared without theirs; `undefined`: everything is taken exactly. */
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
    const { oldStart, below = [], isLast: endsFile = false } = hunk;
    const isAt = (at: number): boolean =>
      (oldStart === undefined ? !endsFile || isEnd(at, old, file) : touchesEndAsFile(at, old, file)) &&
      matches(keys, pattern, at);
    const at =
      oldStart === undefined
        ? placeBelow(keys, { pattern, below, from: taken, isLast: endsFile, isAt })
        : placeOf(keys, pattern, oldStart - 1 + moved, taken, isAt);
    if (at === undefined) {
      rejected.push(hunk);
      continue;
    }
    for (; taken < at; taken++) result.push(file.lines[taken] ?? '');
    const reachesEnd = at + pattern.length === file.lines.length;
    const staysEnded = oldStart === undefined ? file.isEnded : now.isEnded;
    for (const [n, line] of now.lines.entries()) {
      const own = kept[n];
      const isLast = reachesEnd && n === now.lines.length - 1 && !staysEnded;
      if (own !== undefined && ending !== undefined) result.push(file.lines[at + own] ?? '');
      else if (ending === undefined) result.push(line);
      else result.push(bare(line) + (ending === '\r\n' && !isLast ? '\r' : ''));
    }
    taken = at + pattern.length;
    if (oldStart === undefined) continue;
    if (reachesEnd) isEnded = now.lines.length === 0 || staysEnded;
    moved = at - (oldStart - 1);
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
  return isEnd(at, old, file) ? old.isEnded === file.isEnded : old.isEnded;
}

function isEnd(at: number, old: Lines, file: Lines): boolean {
  return at + old.lines.length === file.lines.length;
}

/** Place of a hunk that names lines above it: the first one below them; without such lines, the only one. */
function placeBelow(
  lines: readonly string[],
  hunk: {
    readonly pattern: readonly string[];
    readonly below: readonly string[];
    readonly from: number;
    readonly isLast: boolean;
    readonly isAt: (at: number) => boolean;
  },
): number | undefined {
  const { pattern, below, isAt } = hunk;
  let { from } = hunk;
  for (const heading of below) {
    const at = lines.findIndex(
      (line, n) => n >= from && (line === heading || line.trim() === heading.trim()),
    );
    if (at < 0) return undefined;
    from = at + 1;
  }
  if (pattern.length === 0) return hunk.isLast && below.length === 0 ? lines.length : undefined;
  const places: number[] = [];
  for (const at of occurrencesFrom(from, lines, pattern)) if (isAt(at)) places.push(at);
  return places.length === 1 || below.length > 0 ? places[0] : undefined;
}

/** Place of a hunk: the expected line, else the only other place. `from`: where the hunk before ends. */
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
