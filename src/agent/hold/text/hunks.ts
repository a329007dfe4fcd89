import { plural } from '../../base/phrases.ts';
import type { ChangedRun } from './editRuns.ts';
import { diffLines, HUNK_LIMITS } from './lineDiff.ts';
import { splitLines, splitLinesInTurns, withoutLineEnding } from './lines.ts';
import type { TextEdit } from './textEdit.ts';

/** The note of a patch below a last line without a line ending. */
export const NO_FINAL_NEWLINE = '\\ No newline at end of file';

/** One run of changed lines of a file, with the lines of both sides, including their line endings. */
export interface Hunk extends ChangedRun {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** The hunks that turn `before` into `after`, in order. */
export async function hunksOf(
  before: string,
  after: string,
  edits?: readonly TextEdit[],
): Promise<readonly Hunk[]> {
  const a = await splitLinesInTurns(before);
  const b = await splitLinesInTurns(after);
  const { runs } = await diffLines(a, b, { ...HUNK_LIMITS, edits });
  return runs.map(run => ({
    ...run,
    before: a.slice(run.beforeStart, run.beforeEnd),
    after: b.slice(run.afterStart, run.afterEnd),
  }));
}

/** The text with only those hunks applied whose index `take` accepts. */
export function applyHunks(before: string, hunks: readonly Hunk[], take: (index: number) => boolean): string {
  const lines = splitLines(before);
  let text = '';
  let at = 0;
  hunks.forEach((hunk, index) => {
    text += lines.slice(at, hunk.beforeStart).join('');
    text += (take(index) ? hunk.after : hunk.before).join('');
    at = hunk.beforeEnd;
  });
  return text + lines.slice(at).join('');
}

/** The hunks of a text as edits of it, one for each. */
export function editsOfHunks(before: string, hunks: readonly Hunk[]): readonly TextEdit[] {
  const lines = splitLines(before);
  let start = 0;
  let at = 0;
  return hunks.map(hunk => {
    for (; at < hunk.beforeStart; at++) start += lines[at]?.length ?? 0;
    const end = start + hunk.before.join('').length;
    const edit = { start, end, text: hunk.after.join('') };
    start = end;
    at = hunk.beforeEnd;
    return edit;
  });
}

/**
 * Hunks as a patch for the model, without context lines. Past `maxLines` lines it ends with a note of how many are missing.
 * @param from the old path of a file that moves
 */
export function patchText(path: string, hunks: readonly Hunk[], maxLines: number, from = path): string {
  const lines: string[] = [];
  let missing = 0;
  for (const { before, after, beforeStart, afterStart } of hunks) {
    const room = Math.max(0, maxLines - lines.length);
    const head = `@@ -${beforeStart + 1},${before.length} +${afterStart + 1},${after.length} @@`;
    // Of megabytes of text, only what is shown is looked at.
    const [removed, added] = [before.slice(0, room), after.slice(0, room)];
    const rows = [head, ...signed('-', removed), ...signed('+', added)].slice(0, room);
    for (const row of rows) lines.push(row);
    missing += 1 + rowCount(before) + rowCount(after) - rows.length;
  }
  const rest = missing > 0 ? [`[${plural(missing, 'more line')} not shown]`] : [];
  return [`--- ${from}`, `+++ ${path}`, ...lines, ...rest].join('\n');
}

function signed(sign: string, lines: readonly string[]): readonly string[] {
  return lines.flatMap(line => {
    const bare = withoutLineEnding(line);
    return bare === line ? [`${sign}${bare}`, NO_FINAL_NEWLINE] : [`${sign}${bare}`];
  });
}

/** How many rows lines take; only the last one of a text may have no line ending. */
function rowCount(lines: readonly string[]): number {
  const last = lines.at(-1);
  return lines.length + (last !== undefined && withoutLineEnding(last) === last ? 1 : 0);
}

/** Counterpart of a line on the other side: its line there, or the run of changed lines that it is in. */
export type OtherSide =
  | { readonly run?: undefined; readonly line: number }
  | { readonly run: ChangedRun; readonly line?: undefined };

/** Finds a line of one side on the other. Lines count from 0. */
export function onOtherSide(runs: readonly ChangedRun[], line: number, from: 'before' | 'after'): OtherSide {
  let moved = 0;
  for (const run of runs) {
    const { beforeStart, beforeEnd, afterStart, afterEnd } = run;
    const [start, end] = from === 'after' ? [afterStart, afterEnd] : [beforeStart, beforeEnd];
    if (line < start) break;
    if (line < end) return { run };
    const grown = afterEnd - afterStart - (beforeEnd - beforeStart);
    moved += from === 'after' ? -grown : grown;
  }
  return { line: line + moved };
}

/** The line of the other side that a line of one side stands for; within a hunk, where that begins. */
export function lineOnOtherSide(
  hunks: readonly ChangedRun[],
  line: number,
  from: 'before' | 'after',
): number {
  const found = onOtherSide(hunks, line, from);
  if (found.run) return from === 'after' ? found.run.beforeStart : found.run.afterStart;
  return Math.max(0, found.line);
}
