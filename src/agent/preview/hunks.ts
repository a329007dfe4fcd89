import type { FileChange } from './fileChange.ts';
import type { ChangedRun } from './editRuns.ts';
import { diffLines } from './lineDiff.ts';
import { splitLines } from './lines.ts';
import type { TextEdit } from './textEdit.ts';

/** One run of changed lines of a file, and what stands there on both sides. Lines keep their line endings. */
export interface Hunk extends ChangedRun {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/**
 * Past this many edits all of the change is one hunk. There is no limit in time: a person who clicks on a hunk means the one
 * that was shown, so the same texts must give the same hunks however busy the machine is.
 */
const LIMITS = { maxEditLength: 400 };

/** The hunks of a change: from its edits where they are known. The same change always gives the same hunks. */
export function hunksOfChange(change: FileChange): Promise<readonly Hunk[]> {
  const edits = change.kind === 'modify' ? change.edits : undefined;
  return hunksOf(change.before?.text ?? '', change.after?.text ?? '', edits);
}

/** The hunks that make `after` of `before`, in order. */
export async function hunksOf(
  before: string,
  after: string,
  edits?: readonly TextEdit[],
): Promise<readonly Hunk[]> {
  const a = splitLines(before);
  const b = splitLines(after);
  const { runs } = await diffLines(a, b, { ...LIMITS, edits });
  return runs.map(run => ({
    ...run,
    before: a.slice(run.beforeStart, run.beforeEnd),
    after: b.slice(run.afterStart, run.afterEnd),
  }));
}

/** The text with only those hunks applied that `take` accepts by their index. */
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

/** Hunks as a patch for the model, without context; no more than `maxLines` lines, which it says. */
export function patchText(path: string, hunks: readonly Hunk[], maxLines: number): string {
  const lines = hunks.flatMap(hunk => [
    `@@ -${hunk.beforeStart + 1},${hunk.before.length} +${hunk.afterStart + 1},${hunk.after.length} @@`,
    ...hunk.before.map(line => `-${bare(line)}`),
    ...hunk.after.map(line => `+${bare(line)}`),
  ]);
  const shown = lines.slice(0, maxLines);
  const rest = lines.length > maxLines ? [`[${lines.length - maxLines} more lines not shown]`] : [];
  return [`--- ${path}`, `+++ ${path}`, ...shown, ...rest].join('\n');
}

function bare(line: string): string {
  return line.replace(/[\r\n]+$/, '');
}
