import { ToolError } from '../base/errors.ts';
import type { TextEdit } from '../preview/textEdit.ts';

interface OldNew {
  readonly old: string;
  readonly new: string;
}

/** The most places that an error names. */
const MAX_PLACES = 3;

/**
 * Finds where each `old` stands, all in the same text, and returns the edits in the order of their places. In a file
 * with CRLF line endings an `old` written with LF is found too, and its replacement then gets CRLF; so do lines that are
 * added within a line of a file that has no other endings.
 * @throws ToolError when an `old` is not there exactly once (naming candidates) or two edits overlap.
 */
export function locateEdits(path: string, text: string, edits: readonly OldNew[]): readonly TextEdit[] {
  const located = edits.map((edit, index) =>
    locate(path, text, edit, edits.length > 1 ? `edits.${index}.old` : 'old'),
  );
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

function locate(path: string, text: string, edit: OldNew, field: string): TextEdit {
  if (edit.old === '') {
    throw new ToolError(
      `${field} is empty, but ${path} exists. Give the exact text to replace, or use write_file.`,
    );
  }
  const found = occurrences(text, edit.old);
  if (found.length === 0 && text.includes('\r\n')) {
    const old = toCrlf(edit.old);
    const crlf = occurrences(text, old);
    if (crlf.length > 0) return only(path, text, crlf, old, toCrlf(edit.new), field);
  }
  if (found.length === 0) throw new ToolError(notFoundText(path, text, edit.old, field));
  const addsLines = !edit.old.includes('\n') && edit.new.includes('\n');
  const replacement = addsLines && hasOnlyCrlf(text) ? toCrlf(edit.new) : edit.new;
  return only(path, text, found, edit.old, replacement, field);
}

function only(
  path: string,
  text: string,
  at: readonly number[],
  old: string,
  replacement: string,
  field: string,
): TextEdit {
  const [start, second] = at;
  if (start === undefined || second !== undefined) {
    const lines = at.slice(0, MAX_PLACES).map(place => lineAt(text, place));
    const more = at.length > MAX_PLACES ? ', …' : '';
    throw new ToolError(
      `${field} occurs ${at.length} times in ${path} (lines ${lines.join(', ')}${more}). Add surrounding lines to make it unique.`,
    );
  }
  return { start, end: start + old.length, text: replacement };
}

/** Start offsets, overlapping ones too: an `old` that overlaps itself is just as ambiguous. */
function occurrences(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) found.push(at);
  return found;
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

function notFoundText(path: string, text: string, old: string, field: string): string {
  const candidates = nearestLines(text, old);
  const hint =
    candidates.length === 0
      ? 'Read the file again.'
      : `The nearest lines are:\n${candidates.map(({ line, content }) => `${line}: ${content}`).join('\n')}\nCopy the exact text, whitespace included.`;
  return `${field} was not found in ${path}. ${hint}`;
}

/** The lines most like the first telling line of `old`. Bounded: looks at no more than 20,000 lines. */
function nearestLines(text: string, old: string): { line: number; content: string }[] {
  const wanted = bigrams(old.split(/\r?\n/).find(line => line.trim() !== '') ?? '');
  return text
    .split(/\r?\n/, 20_000)
    .map((content, index) => ({
      line: index + 1,
      content: content.slice(0, 200),
      score: similarity(wanted, bigrams(content)),
    }))
    .filter(({ score }) => score > 0.4)
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
