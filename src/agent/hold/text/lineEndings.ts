import { TimeSlice } from '../../base/async.ts';
import { diffLines } from './lineDiff.ts';
import { lineEndingOf, splitLinesInTurns, withoutLineEnding } from './lines.ts';

/**
 * The edited text, with unchanged lines given back the line endings of the original. An editor has one line ending per file,
 * so saving a file with mixed line endings would change every line, which the user did not ask for and no diff shows.
 */
export async function keepLineEndings(original: string, edited: string): Promise<string> {
  if (lineEndingOf(original) !== 'mixed') return edited;
  const [before, after] = [await splitLinesInTurns(original), await splitLinesInTurns(edited)];
  const { runs } = await diffLines(before.map(withoutLineEnding), after.map(withoutLineEnding), {
    maxEditLength: 400,
  });
  const end = { beforeStart: before.length, afterStart: after.length, beforeEnd: 0, afterEnd: 0 };
  const lines: string[] = [];
  let [b, a] = [0, 0];
  for (const run of [...runs, end]) {
    // If either line has no ending, being the last, the edited line is kept.
    for (; a < run.afterStart; a++, b++) {
      const [old, now] = [before[b] ?? '', after[a] ?? ''];
      lines.push(withoutLineEnding(old) !== old && withoutLineEnding(now) !== now ? old : now);
    }
    lines.push(...after.slice(run.afterStart, run.afterEnd));
    [b, a] = [run.beforeEnd, run.afterEnd];
  }
  // A carriage return followed by a line that is only a line feed would merge into one line ending.
  for (let i = lines.length - 2; i >= 0; i--) {
    if (lines[i]?.endsWith('\r') && lines[i + 1]?.startsWith('\n')) lines[i] = after[i] ?? '';
  }
  return lines.join('');
}

/**
 * A new version of `original` in its line endings: if all of them are LF or all CRLF, every line gets that one; otherwise
 * only unchanged lines get theirs back. Lone carriage returns stay.
 */
export async function inLineEndingsOf(
  original: string,
  text: string,
  slice: TimeSlice = new TimeSlice(),
): Promise<string> {
  const kind = lineEndingOf(original);
  if (kind === 'mixed') return keepLineEndings(original, text);
  return kind === '\n' || kind === '\r\n' ? allWith(kind, text, slice) : text;
}

/** How many characters are converted before other work gets a chance to run. */
const CHUNK = 64 * 1024;

async function allWith(kind: '\n' | '\r\n', text: string, slice: TimeSlice): Promise<string> {
  if (kind === '\n' && !text.includes('\r\n')) return text;
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = start + CHUNK;
    const cut = text[end - 1] === '\r' ? end + 1 : end; // not within a line ending
    parts.push(text.slice(start, cut).replace(/\r?\n/g, kind));
    start = cut;
    await slice.turn();
  }
  return parts.join('');
}

/**
 * The texts of a merge in one line ending, if a side changed those of all lines to LF or CRLF: then lines with no other difference
 * are equal. Otherwise the texts stay unchanged.
 */
export async function inNewLineEnding(
  base: string,
  current: string,
  proposed: string,
): Promise<readonly [base: string, current: string, proposed: string]> {
  const [old, mine, yours] = [base, current, proposed].map(lineEndingOf);
  const ending = mine === old ? yours : mine;
  if (ending === old || (ending !== '\n' && ending !== '\r\n')) return [base, current, proposed];
  const converted = async (text: string): Promise<string> => {
    const lines = await splitLinesInTurns(text);
    const bare = lines.map(withoutLineEnding);
    return bare.map((line, n) => (line === lines[n] ? line : line + ending)).join('');
  };
  return [await converted(base), await converted(current), await converted(proposed)];
}
