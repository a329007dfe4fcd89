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
}

/** Counts changed lines. */
export async function diffStat(before: string, after: string): Promise<DiffStat> {
  const { runs, exact } = await diffLines(splitLines(before), splitLines(after));
  const sum = (count: (run: ChangedRun) => number): number =>
    runs.reduce((total, run) => total + count(run), 0);
  return {
    added: sum(run => run.afterEnd - run.afterStart),
    removed: sum(run => run.beforeEnd - run.beforeStart),
    exact,
  };
}

/**
 * Compares two lists of lines. Loads the `diff` package on first use, and gives it only what may match: the common
 * beginning and end and all lines that occur on one side only are cut off before, so that a full rewrite of 10,000 lines
 * costs a few milliseconds.
 */
export async function diffLines(
  before: readonly string[],
  after: readonly string[],
  limits: DiffLimits = { maxEditLength: MAX_EDITS, timeout: MAX_TIME },
): Promise<LineDiff> {
  const { start, endBefore, endAfter } = commonEnds(before, after);
  const whole = { beforeStart: start, beforeEnd: endBefore, afterStart: start, afterEnd: endAfter };
  if (start === endBefore && start === endAfter) return { runs: [], exact: true };
  const left = matchable(before, start, endBefore, new Set(after.slice(start, endAfter)));
  const right = matchable(after, start, endAfter, new Set(before.slice(start, endBefore)));
  if (left.length === 0 || right.length === 0) return { runs: [whole], exact: true };
  const { diffArrays } = await import('diff');
  const parts = diffArrays(
    left.map(line => line.text),
    right.map(line => line.text),
    limits,
  );
  if (!parts) return { runs: [whole], exact: false };
  const runs: ChangedRun[] = [];
  let [i, j] = [0, 0];
  let [b, a] = [start, start];
  const gapUpTo = (beforeEnd: number, afterEnd: number): void => {
    if (b < beforeEnd || a < afterEnd) runs.push({ beforeStart: b, beforeEnd, afterStart: a, afterEnd });
  };
  for (const part of parts) {
    if (part.removed) i += part.value.length;
    else if (part.added) j += part.value.length;
    else {
      for (const _ of part.value) {
        const [l, r] = [left[i++]?.at ?? 0, right[j++]?.at ?? 0];
        gapUpTo(l, r);
        [b, a] = [l + 1, r + 1];
      }
    }
  }
  gapUpTo(endBefore, endAfter);
  return { runs, exact: true };
}

interface Line {
  readonly text: string;
  readonly at: number;
}

function matchable(
  lines: readonly string[],
  start: number,
  end: number,
  others: ReadonlySet<string>,
): Line[] {
  const result: Line[] = [];
  for (let at = start; at < end; at++) {
    const text = lines[at];
    if (text !== undefined && others.has(text)) result.push({ text, at });
  }
  return result;
}

function commonEnds(a: readonly string[], b: readonly string[]) {
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
