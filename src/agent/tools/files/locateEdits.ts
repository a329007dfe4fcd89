import { ToolError } from '../../base/errors.ts';
import { TimeSlice } from '../../base/timeSlice.ts';
import { occurrences, type Occurrences } from '../../text/occurrences.ts';
import type { TextEdit } from '../../text/textEdit.ts';

interface OldNew {
  readonly old: string;
  readonly new: string;
}

/** The most places that an error names. */
const MAX_PLACES = 3;

/**
 * Finds the place of each `old` in a text and returns the edits sorted by place. In a file with CRLF line endings an `old`
 * written with LF is found too, and its replacement then gets CRLF. A file with only CRLF endings also gets CRLF where
 * an `old` within one line is replaced by several lines. Each `old` is searched for in the whole text, so other tasks run
 * between two searches.
 * @throws ToolError when an `old` does not occur exactly once (with the nearest candidates) or two edits overlap.
 */
export async function locateEdits(
  path: string,
  text: string,
  edits: readonly OldNew[],
): Promise<readonly TextEdit[]> {
  const slice = new TimeSlice();
  const located: TextEdit[] = [];
  for (const [index, edit] of edits.entries()) {
    if (index > 0) await slice.turn();
    located.push(await locate(path, text, edit, edits.length > 1 ? `edits.${index}.old` : 'old'));
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

async function locate(path: string, text: string, edit: OldNew, field: string): Promise<TextEdit> {
  if (edit.old === '') {
    throw new ToolError(
      `${field} is empty, but ${path} exists. Give the exact text to replace, or propose the whole content of the file.`,
    );
  }
  const found = occurrences(text, edit.old, MAX_PLACES);
  if (found.count === 0 && text.includes('\r\n')) {
    const old = toCrlf(edit.old);
    const crlf = occurrences(text, old, MAX_PLACES);
    if (crlf.count > 0) return onlyOccurrence(path, text, crlf, old, toCrlf(edit.new), field);
  }
  if (found.count === 0) throw new ToolError(await notFoundText(path, text, edit.old, field));
  const addsLines = !edit.old.includes('\n') && edit.new.includes('\n');
  const replacement = addsLines && hasOnlyCrlf(text) ? toCrlf(edit.new) : edit.new;
  return onlyOccurrence(path, text, found, edit.old, replacement, field);
}

function onlyOccurrence(
  path: string,
  text: string,
  { count, first }: Occurrences,
  old: string,
  replacement: string,
  field: string,
): TextEdit {
  const [start] = first;
  if (start === undefined || count > 1) {
    const lines = first.map(place => lineAt(text, place));
    const more = count > MAX_PLACES ? ', …' : '';
    throw new ToolError(
      `${field} occurs ${count} times in ${path} (lines ${lines.join(', ')}${more}). Add surrounding lines to make it unique.`,
    );
  }
  return { start, end: start + old.length, text: replacement };
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

function hasOnlyCrlf(text: string): boolean {
  return text.includes('\r\n') && !/(^|[^\r])\n/.test(text);
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

async function notFoundText(path: string, text: string, old: string, field: string): Promise<string> {
  const candidates = await nearestLines(text, old);
  const hint =
    candidates.length === 0
      ? 'Read the file again and copy the exact text.'
      : `The nearest lines are:\n${candidates.map(({ line, content }) => `${line}: ${content}`).join('\n')}\nCopy the exact text, including whitespace.`;
  return `${field} was not found in ${path}. ${hint}`;
}

/** The most characters of a text that are compared with an `old` that was not found. */
const MAX_COMPARED = 300_000;

/** The lines most similar to the first non-blank line of `old`, among the first ones of the text. */
async function nearestLines(text: string, old: string): Promise<{ line: number; content: string }[]> {
  const wanted = bigrams(old.split(/\r?\n/).find(line => line.trim() !== '') ?? '');
  const similar: { line: number; content: string; score: number }[] = [];
  const slice = new TimeSlice();
  for (const [index, content] of text.slice(0, MAX_COMPARED).split(/\r?\n/, 5_000).entries()) {
    await slice.turn();
    const score = similarity(wanted, bigrams(content));
    if (score > 0.4) similar.push({ line: index + 1, content: content.slice(0, 200), score });
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
