import { TimeSlice } from '../../base/async.ts';

/** The lines of a text, with their line endings. The empty text has no lines. */
export function splitLines(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+/g) ?? [];
}

/** The text with line feeds for line endings. */
export function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** How many characters are split before other work gets a chance to run. */
const CHUNK = 256 * 1024;

/** Like {@link splitLines}, but it lets other work run in between. */
export async function splitLinesInTurns(text: string, slice = new TimeSlice()): Promise<readonly string[]> {
  if (text.length <= CHUNK) return splitLines(text);
  const lines: string[] = [];
  for (let at = 0; at < text.length;) {
    const feed = text.indexOf('\n', at + CHUNK); // not between the two characters of a line ending
    const end = feed < 0 ? text.length : feed + 1;
    for (const line of splitLines(text.slice(at, end))) lines.push(line);
    at = end;
    await slice.turn();
  }
  return lines;
}

/** The lines of a text without their endings, which editors make the same. */
export async function bareLines(text: string): Promise<readonly string[]> {
  return (await splitLinesInTurns(text)).map(withoutLineEnding);
}

/** The number of lines that {@link splitLines} would return. It creates none of them. */
export function countLines(text: string): number {
  if (text === '') return 0;
  const ends = text.includes('\r') ? countEndings(text) : countFeeds(text);
  return /[\r\n]$/.test(text.slice(-1)) ? ends : ends + 1;
}

/** The number of line endings that end in a part of a text. */
export function countEndings(text: string, from = 0, to = text.length): number {
  let count = 0;
  for (let i = from; i < to; i++) {
    const unit = text.charCodeAt(i);
    if (unit === FEED || (unit === RETURN && text.charCodeAt(i + 1) !== FEED)) count++;
  }
  return count;
}

/** The number, from 1, of the line that an offset is in. */
export function lineAt(text: string, offset: number): number {
  return countEndings(text, 0, offset) + 1;
}

/** The number of line feeds. Several times as quick as counting all line endings. */
export function countFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

const FEED = 10;
const RETURN = 13;

export type LineEnding = '\n' | '\r\n' | '\r';

export const LINE_ENDING_NAMES = { '\n': 'LF', '\r\n': 'CRLF', '\r': 'CR' } as const;

/** The one kind of line ending that a text has; `undefined` if it has none. Stops reading at the second kind. */
export function lineEndingOf(text: string): LineEnding | 'mixed' | undefined {
  const first = /\r\n|\r|\n/.exec(text)?.[0];
  switch (first) {
    case '\n':
      return text.includes('\r') ? 'mixed' : first;
    case '\r\n':
      return /\r(?!\n)|(?<!\r)\n/.test(text) ? 'mixed' : first;
    case '\r':
      return text.includes('\n') ? 'mixed' : first;
    default:
      return undefined;
  }
}

/** The ending of the line that contains an offset; for the last line, that of the line before. `undefined` if the text has none. */
export function lineEndingAt(text: string, offset: number): LineEnding | undefined {
  const after = /\r\n|\r|\n/g;
  after.lastIndex = text[offset] === '\n' && text[offset - 1] === '\r' ? offset - 1 : offset;
  const found = after.exec(text)?.[0] ?? /(\r\n|\r|\n)[^\r\n]*$/.exec(text.slice(0, offset))?.[1];
  return found as LineEnding | undefined;
}

/** A line without its line ending. */
export function withoutLineEnding(line: string): string {
  return line.replace(/(?<![\r\n])[\r\n]+$/, '');
}

/** The end of the common beginning of two lists of lines, and the start of their common end in each list. */
export function commonEnds(a: readonly string[], b: readonly string[]) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let tail = 0;
  while (
    tail < a.length - start &&
    tail < b.length - start &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail++;
  return { start, endBefore: a.length - tail, endAfter: b.length - tail };
}
