import type { TextEdit } from './textEdit.ts';

/** Lines added and removed between two texts. `exact` is false where the texts were too different to compare. */
export interface DiffStat {
  readonly added: number;
  readonly removed: number;
  readonly exact: boolean;
}

/** A run of lines that differ: `[beforeStart, beforeEnd)` became `[afterStart, afterEnd)`; 0-based, one may be empty. */
export interface ChangedRun {
  readonly beforeStart: number;
  readonly beforeEnd: number;
  readonly afterStart: number;
  readonly afterEnd: number;
}

/** All runs of lines that differ, in order; between two of them stands at least one common line. */
export interface LineDiff {
  readonly runs: readonly ChangedRun[];
  /** False where the texts were too different to compare line by line: then one run holds all of it. */
  readonly exact: boolean;
}

/** jsdiff is quadratic in the number of edits: past this many, one coarse run stands for all. */
const MAX_EDITS = 1_000;
/** And past this time, in milliseconds: the extension host must not be held up. */
const MAX_TIME = 30;

/** How far a comparison goes before one coarse run stands for all. */
export interface DiffLimits {
  readonly maxEditLength: number;
  /** In milliseconds. With it the outcome depends on how busy the machine is. */
  readonly timeout?: number;
  /** What made the one text of the other, where that is known: only the lines they touch are compared then. */
  readonly edits?: readonly TextEdit[] | undefined;
}

/** Counts changed lines. */
export async function diffStat(
  before: string,
  after: string,
  edits?: readonly TextEdit[],
): Promise<DiffStat> {
  const limits = { maxEditLength: MAX_EDITS, timeout: MAX_TIME, edits };
  const { runs, exact } = await diffLines(splitLines(before), splitLines(after), limits);
  const sum = (count: (run: ChangedRun) => number): number =>
    runs.reduce((total, run) => total + count(run), 0);
  return {
    added: sum(run => run.afterEnd - run.afterStart),
    removed: sum(run => run.beforeEnd - run.beforeStart),
    exact,
  };
}

/** Compares two lists of lines; `compareLines.ts` tells how. That and the `diff` package are loaded on first use. */
export async function diffLines(
  before: readonly string[],
  after: readonly string[],
  limits: DiffLimits = { maxEditLength: MAX_EDITS, timeout: MAX_TIME },
): Promise<LineDiff> {
  const { compareLines } = await import('./compareLines.ts');
  return compareLines(before, after, limits);
}

/** What two lists of lines begin and end with in common: where that ends, and where it begins again. */
export function commonEnds(a: readonly string[], b: readonly string[]) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let tail = 0;
  while (
    tail < a.length - start &&
    tail < b.length - start &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail++;
  return { start, endBefore: a.length - tail, endAfter: b.length - tail };
}

/** The lines in which two texts differ, without the lines they begin and end with in common. */
export interface ChangedLines {
  /** 0-based number of the first line that differs; the same on both sides. */
  readonly start: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Cuts off the common first and last lines. Linear. Lines keep their line endings. */
export function trimCommonLines(before: string, after: string): ChangedLines {
  const a = splitLines(before);
  const b = splitLines(after);
  const { start, endBefore, endAfter } = commonEnds(a, b);
  return { start, before: a.slice(start, endBefore), after: b.slice(start, endAfter) };
}

/** Lines with their line endings; the empty text has none. */
export function splitLines(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+/g) ?? [];
}
