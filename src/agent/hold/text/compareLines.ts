import { diffArrays } from 'diff';
import { TimeSlice } from '../../base/async.ts';
import { runsOfEdits, type ChangedRun } from './editRuns.ts';
import { commonEnds } from './lines.ts';
import type { TextEdit } from './textEdit.ts';

/** The runs of lines that differ, in order, with at least one common line between two of them. */
export interface LineDiff {
  readonly runs: readonly ChangedRun[];
  /** False if the texts were too different to compare line by line, and one run stands for everything. */
  readonly exact: boolean;
}

/** The limits of a comparison. Beyond them, one run stands for everything. */
export interface DiffLimits {
  readonly maxEditLength: number;
  /** A time limit in milliseconds, which makes the result depend on how busy the machine is. */
  readonly timeout?: number;
  /** The edits that turn one text into the other, if known: then only the lines that they touch are compared. */
  readonly edits?: readonly TextEdit[] | undefined;
}

/**
 * Compares two lists of lines; if edits are given, only the lines that they touch. The `diff` package is given only lines that
 * can match: the common beginning and end, and lines that occur on one side only, are left out, so that a full rewrite of
 * 10,000 lines takes a few milliseconds.
 */
export async function compareLines(
  before: readonly string[],
  after: readonly string[],
  { edits, ...limits }: DiffLimits,
): Promise<LineDiff> {
  const slice = new TimeSlice();
  const touched = edits && runsOfEdits(before, after, edits);
  if (!touched) return compareAll(before, after, limits, slice);
  const runs: ChangedRun[] = [];
  let exact = true;
  for (const { beforeStart, beforeEnd, afterStart, afterEnd } of touched) {
    const [old, now] = [before.slice(beforeStart, beforeEnd), after.slice(afterStart, afterEnd)];
    const part = await compareAll(old, now, limits, slice);
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

async function compareAll(
  before: readonly string[],
  after: readonly string[],
  limits: Omit<DiffLimits, 'edits'>,
  slice: TimeSlice,
): Promise<LineDiff> {
  const { start, endBefore, endAfter } = commonEnds(before, after);
  const whole = { beforeStart: start, beforeEnd: endBefore, afterStart: start, afterEnd: endAfter };
  if (start === endBefore && start === endAfter) return { runs: [], exact: true };
  const { left, right } = await matchable(before, after, whole, slice);
  if (left.at.length === 0 || right.at.length === 0) return { runs: [whole], exact: true };
  const parts = diffArrays(left.numbers, right.numbers, limits);
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
        const [l, r] = [left.at[i++] ?? 0, right.at[j++] ?? 0];
        gapUpTo(l, r);
        [b, a] = [l + 1, r + 1];
      }
    }
  }
  gapUpTo(endBefore, endAfter);
  return { runs, exact: true };
}

/** Lines of one side that also occur on the other. */
interface Shared {
  /** Equal lines have the same number, which is quicker to compare. */
  readonly numbers: number[];
  readonly at: number[];
}

/** How many lines are processed before other work gets a chance to run. */
const AT_ONCE = 20_000;

/** The lines of the run that occur on both sides. */
async function matchable(
  before: readonly string[],
  after: readonly string[],
  { beforeStart, beforeEnd, afterStart, afterEnd }: ChangedRun,
  slice: TimeSlice,
): Promise<{ readonly left: Shared; readonly right: Shared }> {
  const numbers = new Map<string, number>();
  const old: number[] = [];
  const firstOf: number[] = []; // by number, the index in `old`
  for (let at = beforeStart; at < beforeEnd; at++) {
    const text = before[at] ?? '';
    let number = numbers.get(text);
    if (number === undefined) {
      numbers.set(text, (number = numbers.size));
      firstOf.push(old.length);
    }
    if (old.push(number) % AT_ONCE === 0) await slice.turn();
  }
  const occurs = new Uint8Array(numbers.size);
  const right: Shared = { numbers: [], at: [] };
  let next = 0; // the index in `old` that probably follows; comparing two lines is quicker than looking one up
  for (let at = afterStart; at < afterEnd; at++, next++) {
    const text = after[at] ?? '';
    let number = text === before[beforeStart + next] ? old[next] : undefined;
    if (number === undefined) {
      number = numbers.get(text);
      if (number !== undefined) next = firstOf[number] ?? next;
    }
    if (number !== undefined) {
      occurs[number] = 1;
      right.numbers.push(number);
      right.at.push(at);
    }
    if ((at - afterStart) % AT_ONCE === AT_ONCE - 1) await slice.turn();
  }
  const left: Shared = { numbers: [], at: [] };
  for (const [index, number] of old.entries()) {
    if (occurs[number] === 0) continue;
    left.numbers.push(number);
    left.at.push(beforeStart + index);
  }
  return { left, right };
}
