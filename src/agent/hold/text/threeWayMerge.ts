import type { ChangedRun } from './editRuns.ts';
import { diffLines } from './lineDiff.ts';
import { splitLinesInTurns } from './lines.ts';

/** The result of a three-way merge. */
export interface MergedText {
  readonly text: string;
  /** How many places both sides changed in different ways; `text` has conflict markers there. */
  readonly conflicts: number;
}

/** The names after the conflict markers. */
export interface MergeLabels {
  readonly current: string;
  readonly proposed: string;
}

/**
 * Three-way merge, by lines, of the changes that `current` and `proposed` each made to `base`. Changes that neither overlap nor touch are
 * both kept, identical changes once; anything else is a conflict, so that no unseen combination is ever written. Both
 * comparisons are limited in time: texts too different to compare count as one change, which is more likely to conflict.
 */
export async function mergeTexts(
  base: string,
  current: string,
  proposed: string,
  labels: MergeLabels,
): Promise<MergedText> {
  if (current === base || current === proposed) return { text: proposed, conflicts: 0 };
  if (proposed === base) return { text: current, conflicts: 0 };
  const { lines, regions } = await compared(base, current, proposed);
  let text = '';
  let conflicts = 0;
  let at = 0;
  for (const { start, end, ours: mine, theirs: yours } of regions) {
    text += lines.base.slice(at, start).join('');
    const left = sideOf(lines.base, lines.current, mine, start, end);
    const right = sideOf(lines.base, lines.proposed, yours, start, end);
    if (yours.length === 0 || left === right) text += left;
    else if (mine.length === 0) text += right;
    else {
      conflicts++;
      text += marked(left, right, labels);
    }
    at = end;
  }
  return { text: text + lines.base.slice(at).join(''), conflicts };
}

/**
 * Whether `current` still has, unchanged, everything that `proposed` changes in `base` and the lines beside it, so that it contains
 * nothing of the proposal. False if the texts are too different to compare.
 */
export async function hasNothingOf(base: string, current: string, proposed: string): Promise<boolean> {
  const { lines, ours, regions } = await compared(base, current, proposed);
  if (!regions.every(region => region.ours.length === 0 || region.theirs.length === 0)) return false;
  // A line added among equal ones can seem to have been added elsewhere: then `current` differs less from `proposed` than from
  // `base`.
  const { runs } = await diffLines(lines.proposed, lines.current);
  return linesIn(ours) < linesIn(runs);
}

/** How many lines these runs remove and add. */
function linesIn(runs: readonly ChangedRun[]): number {
  const counts = runs.map(run => run.beforeEnd - run.beforeStart + run.afterEnd - run.afterStart);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The lines of the texts, and where both sides changed those of `base`. */
async function compared(base: string, current: string, proposed: string) {
  const lines = {
    base: await splitLinesInTurns(base),
    current: await splitLinesInTurns(current),
    proposed: await splitLinesInTurns(proposed),
  };
  const ours = (await diffLines(lines.base, lines.current)).runs;
  const theirs = (await diffLines(lines.base, lines.proposed)).runs;
  return { lines, ours, regions: regionsOf(ours, theirs) };
}

/** A range of base lines that one or both sides changed. */
interface Region {
  readonly start: number;
  readonly end: number;
  readonly ours: readonly ChangedRun[];
  readonly theirs: readonly ChangedRun[];
}

/** The runs of both sides, with those that overlap or touch joined into one region. */
function regionsOf(ours: readonly ChangedRun[], theirs: readonly ChangedRun[]): Region[] {
  const all = [...ours.map(run => ({ run, mine: true })), ...theirs.map(run => ({ run, mine: false }))].sort(
    (a, b) => a.run.beforeStart - b.run.beforeStart || a.run.beforeEnd - b.run.beforeEnd,
  );
  const result: { start: number; end: number; ours: ChangedRun[]; theirs: ChangedRun[] }[] = [];
  for (const { run, mine } of all) {
    let region = result.at(-1);
    if (!region || run.beforeStart > region.end) {
      region = { start: run.beforeStart, end: run.beforeEnd, ours: [], theirs: [] };
      result.push(region);
    }
    region.end = Math.max(region.end, run.beforeEnd);
    (mine ? region.ours : region.theirs).push(run);
  }
  return result;
}

/** One side's version of the base lines from `start` up to `end`. */
function sideOf(
  base: readonly string[],
  side: readonly string[],
  runs: readonly ChangedRun[],
  start: number,
  end: number,
): string {
  let text = '';
  let at = start;
  for (const run of runs) {
    text += base.slice(at, run.beforeStart).join('') + side.slice(run.afterStart, run.afterEnd).join('');
    at = run.beforeEnd;
  }
  return text + base.slice(at, end).join('');
}

function marked(current: string, proposed: string, labels: MergeLabels): string {
  const eol = /\r\n|\r|\n/.exec(current + proposed)?.[0] ?? '\n';
  const ended = (text: string): string => (text === '' || /[\r\n]$/.test(text) ? text : text + eol);
  return (
    `<<<<<<< ${labels.current}${eol}${ended(current)}=======${eol}` +
    `${ended(proposed)}>>>>>>> ${labels.proposed}${eol}`
  );
}
