import { TimeSlice } from '../../../base/async.ts';
import { beginningOf } from '../../../base/cutText.ts';
import { ToolError } from '../../../base/errors.ts';
import { inLineEndingsOf } from '../../../hold/text/lineEndings.ts';
import { lineAt, lineEndingAt, lineEndingOf, withLineFeeds } from '../../../hold/text/lines.ts';
import { occurrences } from '../../../hold/text/occurrences.ts';
import type { TextEdit } from '../../../hold/text/textEdit.ts';
import { whatDiffers } from './whatDiffers.ts';

export interface OldNew {
  readonly old: string;
  readonly new: string;
  /** Whether all places where `old` occurs are meant. */
  readonly replaceAll?: boolean | undefined;
}

/** The most places that an error names. */
const MAX_PLACES = 3;

/**
 * Finds the place of each `old` in a text and returns the edits sorted by place. Line endings do not count: a model does not see
 * them. So places that differ in nothing else are the same to it, and a replacement gets the line endings of the text it replaces:
 * where that mixes several, unchanged lines keep theirs; a replacement within a line gets the line's. Each `old` is searched for in
 * the whole text, so other tasks run between two searches.
 * @throws ToolError when an `old` does not occur exactly once (with the nearest candidates) or, with `replaceAll`, does not occur
 *   at all, or when two edits overlap.
 */
export async function locateEdits(
  path: string,
  text: string,
  edits: readonly OldNew[],
): Promise<readonly TextEdit[]> {
  const slice = new TimeSlice();
  const seen = new SeenText(text);
  const located: TextEdit[] = [];
  for (const [index, edit] of edits.entries()) {
    if (index > 0) await slice.turn();
    located.push(...(await locate(path, seen, edit, edits.length > 1 ? `edits.${index}.old` : 'old')));
  }
  located.sort((a, b) => a.start - b.start);
  located.forEach((edit, index) => {
    const next = located[index + 1];
    if (next && next.start < edit.end) {
      throw new ToolError(
        `Two edits overlap at line ${lineAt(text, next.start)} of ${path}. Merge them into one edit.`,
      );
    }
  });
  return located;
}

/** A text as a model sees it, with LF at the end of each line, and the places of its characters in the file. */
class SeenText {
  readonly file: string;
  readonly text: string;
  /** The places of the line feeds that stand for CRLF. */
  readonly #pairs: number[] = [];

  constructor(file: string) {
    this.file = file;
    this.text = withLineFeeds(file);
    for (let at = file.indexOf('\r\n'); at >= 0; at = file.indexOf('\r\n', at + 2))
      this.#pairs.push(at - this.#pairs.length);
  }

  /** The offset in the file. */
  inFile(offset: number): number {
    let [low, high] = [0, this.#pairs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#pairs[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return offset + low;
  }
}

async function locate(
  path: string,
  seen: SeenText,
  edit: OldNew,
  field: string,
): Promise<readonly TextEdit[]> {
  if (edit.old === '') {
    throw new ToolError(
      `${field} is empty, but ${path} exists. Give the exact text to replace, or propose the whole content of the file.`,
    );
  }
  const old = withLineFeeds(edit.old);
  const { count, first } = occurrences(seen.text, old, edit.replaceAll ? Infinity : MAX_PLACES);
  if (first.length === 0) throw new ToolError(await notFoundText(path, seen.text, old, field));
  if (count > 1 && !edit.replaceAll) {
    const lines = first.map(place => lineAt(seen.text, place));
    const more = count > MAX_PLACES ? ', …' : '';
    throw new ToolError(
      `${field} occurs ${count} times in ${path} (lines ${lines.join(', ')}${more}). Add surrounding lines to make it unique, or set replaceAll.`,
    );
  }
  const places: TextEdit[] = [];
  let end = 0;
  for (const place of first) {
    // If occurrences overlap, the first one is replaced.
    if (place < end) continue;
    end = place + old.length;
    const [from, to] = [seen.inFile(place), seen.inFile(end)];
    places.push({ start: from, end: to, text: await inEndingsOf(seen.file, from, to, edit.new) });
  }
  return places;
}

async function inEndingsOf(file: string, start: number, end: number, text: string): Promise<string> {
  if (!/[\r\n]/.test(text)) return text;
  const replaced = file.slice(start, end);
  const own = lineEndingOf(replaced);
  if (own === 'mixed') return inLineEndingsOf(replaced, text);
  const ending = own ?? lineEndingAt(file, start);
  return ending === undefined ? text : text.replace(/\r?\n/g, ending);
}

async function notFoundText(path: string, text: string, old: string, field: string): Promise<string> {
  const slice = new TimeSlice();
  const compared = text.slice(0, MAX_COMPARED);
  const difference = old.length <= MAX_COMPARED ? await whatDiffers(compared, old, field, slice) : undefined;
  if (difference !== undefined) return `${field} was not found in ${path}. ${difference}`;
  const candidates = await nearestLines(compared, old, slice);
  const hint =
    candidates.length === 0
      ? 'Read the file again and copy the exact text.'
      : `The nearest lines are:\n${candidates.map(({ line, content }) => `${line}: ${content}`).join('\n')}\nCopy the exact text, including whitespace.`;
  return `${field} was not found in ${path}. ${hint}`;
}

/** The most characters of a text that are compared with an `old` that was not found. */
const MAX_COMPARED = 300_000;

/** The lines most similar to the first non-blank line of `old`, among the first ones of the text. */
async function nearestLines(
  text: string,
  old: string,
  slice: TimeSlice,
): Promise<{ line: number; content: string }[]> {
  const wanted = bigrams(old.split(/\r?\n/).find(line => line.trim() !== '') ?? '');
  const similar: { line: number; content: string; score: number }[] = [];
  for (const [index, content] of text.split(/\r?\n/, 5_000).entries()) {
    await slice.turn();
    const score = similarity(wanted, bigrams(content));
    if (score > 0.4) similar.push({ line: index + 1, content: beginningOf(content, 200), score });
  }
  return similar
    .sort((a, b) => b.score - a.score || a.line - b.line)
    .slice(0, MAX_PLACES)
    .map(({ line, content }) => ({ line, content }));
}

function bigrams(line: string): Set<string> {
  const text = line.trim().toLowerCase().slice(0, 200);
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.slice(i, i + 2)));
}

/** Dice coefficient, 0 to 1. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const gram of a) if (b.has(gram)) shared++;
  return (2 * shared) / (a.size + b.size);
}
