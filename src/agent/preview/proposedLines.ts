import { lineOnOtherSide } from '../text/hunks.ts';
import { diffLines } from '../text/lineDiff.ts';
import { bareLines } from '../text/lines.ts';
import { hunksOfChange, textOf, type FileChange } from './fileChange.ts';

/** Lines of a text, counted from 0; `end` is the last one. */
export interface ProposedLines {
  readonly start: number;
  readonly end: number;
}

/**
 * The lines of a text that a change would change, one range for each hunk. Where lines would only be inserted, it is the one before
 * which they come.
 * @param text what the file, or its editor, holds now, which may be something else than what the change was made on
 */
export async function proposedLines(change: FileChange, text: string): Promise<readonly ProposedLines[]> {
  const now = await bareLines(text);
  const last = Math.max(0, now.length - 1);
  if (change.kind === 'delete') return [{ start: 0, end: last }];
  const hunks = await hunksOfChange(change);
  const { runs } = await diffLines(await bareLines(textOf(change.before)), now);
  return hunks.map(({ beforeStart, beforeEnd }) => {
    const start = Math.min(last, lineOnOtherSide(runs, beforeStart, 'before'));
    const end = Math.min(last, lineOnOtherSide(runs, Math.max(beforeStart, beforeEnd - 1), 'before'));
    return { start, end: Math.max(start, end) };
  });
}
