import { beginningOf } from '../../base/cutText.ts';
import { plural } from '../../base/phrases.ts';
import { hunksOf, patchText } from './hunks.ts';
import { diffStat } from './lineDiff.ts';

/** The most lines of the diff that the model is shown. */
const MAX_LINES = 80;
/** The most characters of it. */
const MAX_CHARS = 8_000;

/** How many lines of a file change. */
export async function changedLines(path: string, before: string, after: string): Promise<string> {
  const { added, removed } = await diffStat(before, after);
  return `${path}: ${plural(added, 'line')} added, ${removed} removed.`;
}

/**
 * The summary for the model of a file that it proposes to rewrite: how many lines change, and which. A model that writes a whole
 * file from memory loses lines without noticing; here it sees them go.
 */
export async function rewriteSummary(path: string, before: string, after: string): Promise<string> {
  const head = await changedLines(path, before, after);
  const patch = patchText(path, await hunksOf(before, after), MAX_LINES);
  const shown = patch.split('\n').slice(2).join('\n');
  return shown.length <= MAX_CHARS
    ? `${head}\n${shown}`
    : `${head}\n${beginningOf(shown, MAX_CHARS)}\n[Cut off: ${plural(shown.length - MAX_CHARS, 'more character')}.]`;
}
