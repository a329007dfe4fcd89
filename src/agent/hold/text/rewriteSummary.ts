import { beginningOf } from '../../base/cutText.ts';
import { plural } from '../../base/phrases.ts';
import { hunksOf, patchText } from './hunks.ts';

/**
 * The summary for the model of a file that it proposes to rewrite: how many lines change, and which. A model that writes a whole
 * file from memory loses lines without noticing; here it sees them go.
 * @param maxLines the most lines of the diff that it shows
 * @param maxChars the most characters of it
 */
export async function rewriteSummary(
  path: string,
  before: string,
  after: string,
  maxLines = 80,
  maxChars = 8_000,
): Promise<string> {
  const hunks = await hunksOf(before, after);
  const count = (side: 'before' | 'after'): number => hunks.reduce((sum, each) => sum + each[side].length, 0);
  const head = `${path}: ${plural(count('after'), 'line')} added, ${count('before')} removed.`;
  const shown = patchText(path, hunks, maxLines).split('\n').slice(2).join('\n');
  if (shown.length <= maxChars) return shown === '' ? head : `${head}\n${shown}`;
  return `${head}\n${beginningOf(shown, maxChars)}\n[Cut off: ${plural(shown.length - maxChars, 'more character')}.]`;
}
