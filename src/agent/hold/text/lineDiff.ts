import type { DiffLimits, LineDiff } from './compareLines.ts';
import type { ChangedRun } from './editRuns.ts';
import { splitLinesInTurns } from './lines.ts';
import type { TextEdit } from './textEdit.ts';

/** How many lines were added and removed. `exact` is false if the texts were too different to compare line by line. */
export interface DiffStat {
  readonly added: number;
  readonly removed: number;
  /** Number of hunks to decide on, at least 1. */
  readonly hunks: number;
  readonly exact: boolean;
}

/** jsdiff is quadratic in the number of edits: past this many, one coarse run stands for everything. */
const MAX_EDITS = 1_000;
/**
 * The time limit in milliseconds, past which one coarse run stands for everything: the extension host must not be blocked.
 */
const MAX_TIME = 30;

/**
 * A change of more edits than this is one hunk. There is no time limit: a user who clicks on a hunk means the one that was
 * shown, so the same texts must give the same hunks however busy the machine is.
 */
export const HUNK_LIMITS = { maxEditLength: 400 };

/** Counts changed lines, and the hunks that `hunksOf` makes of them. */
export async function diffStat(
  before: string,
  after: string,
  edits?: readonly TextEdit[],
): Promise<DiffStat> {
  const a = await splitLinesInTurns(before);
  const b = await splitLinesInTurns(after);
  const hunks = await diffLines(a, b, { ...HUNK_LIMITS, edits });
  const { runs, exact } = hunks.exact
    ? hunks
    : await diffLines(a, b, { maxEditLength: MAX_EDITS, timeout: MAX_TIME, edits });
  const sum = (count: (run: ChangedRun) => number): number =>
    runs.reduce((total, run) => total + count(run), 0);
  return {
    added: sum(run => run.afterEnd - run.afterStart),
    removed: sum(run => run.beforeEnd - run.beforeStart),
    hunks: Math.max(1, hunks.runs.length),
    exact,
  };
}

/** Compares two lists of lines; see {@link compareLines}. It and the `diff` package are loaded on first use. */
export async function diffLines(
  before: readonly string[],
  after: readonly string[],
  limits: DiffLimits = { maxEditLength: MAX_EDITS, timeout: MAX_TIME },
): Promise<LineDiff> {
  const { compareLines } = await import('./compareLines.ts');
  return compareLines(before, after, limits);
}
