import { diffArrays } from 'diff';
import { runsOfEdits, type ChangedRun } from './editRuns.ts';
import { commonEnds } from './lines.ts';
import type { TextEdit } from './textEdit.ts';

/** All runs of lines that differ, in order; between two of them stands at least one common line. */
export interface LineDiff {
  readonly runs: readonly ChangedRun[];
  /** False where the texts were too different to compare line by line: then one run holds all of it. */
  readonly exact: boolean;
}

/** How far a comparison goes before one coarse run stands for all. */
export interface DiffLimits {
  readonly maxEditLength: number;
  /** In milliseconds. With it the outcome depends on how busy the machine is. */
  readonly timeout?: number;
  /** What made the one text of the other, where that is known: only the lines they touch are compared then. */
  readonly edits?: readonly TextEdit[] | undefined;
}

/**
 * Compares two lists of lines: where edits are known that made the one of the other, only the lines that those touch. The
 * `diff` package gets only what may match: the common beginning and end and all lines that occur on one side only are cut off
 * before, so that a full rewrite of 10,000 lines costs a few milliseconds.
 */
export function compareLines(
  before: readonly string[],
  after: readonly string[],
  { edits, ...limits }: DiffLimits,
): LineDiff {
  const touched = edits && runsOfEdits(before, after, edits);
  if (!touched) return compareAll(before, after, limits);
  const runs: ChangedRun[] = [];
  let exact = true;
  for (const { beforeStart, beforeEnd, afterStart, afterEnd } of touched) {
    const part = compareAll(before.slice(beforeStart, beforeEnd), after.slice(afterStart, afterEnd), limits);
    exact &&= part.exact;
    for (const run of part.runs) {
      runs.push({
        beforeStart: run.beforeStart + beforeStart,
        beforeEnd: run.beforeEnd + beforeStart,
        afterStart: run.afterStart + afterStart,
        afterEnd: run.afterEnd + afterStart,
      });
    }
  }
  return { runs, exact };
}

function compareAll(
  before: readonly string[],
  after: readonly string[],
  limits: Omit<DiffLimits, 'edits'>,
): LineDiff {
  const { start, endBefore, endAfter } = commonEnds(before, after);
  const whole = { beforeStart: start, beforeEnd: endBefore, afterStart: start, afterEnd: endAfter };
  if (start === endBefore && start === endAfter) return { runs: [], exact: true };
  const left = matchable(before, start, endBefore, new Set(after.slice(start, endAfter)));
  const right = matchable(after, start, endAfter, new Set(before.slice(start, endBefore)));
  if (left.length === 0 || right.length === 0) return { runs: [whole], exact: true };
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
