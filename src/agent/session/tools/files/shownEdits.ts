import { plural } from '../../../base/phrases.ts';
import { finalNewlineNotes } from '../../../hold/text/finalNewline.ts';
import { countEndings } from '../../../hold/text/lines.ts';
import type { TextEdit } from '../../../hold/text/textEdit.ts';

/** The most lines of one edit that the summary shows. */
const MAX_SHOWN_LINES = 20;
/** The most edits that it shows. */
const MAX_SHOWN_EDITS = 40;

/**
 * Each edit as `-line:old` and `+line:new`, with the lines of the texts before and after all edits, so that the model can check its
 * place. The edits must be in order.
 */
export function* shownEdits(text: string, edits: readonly TextEdit[]): Generator<string> {
  let line = 1;
  let counted = 0;
  let moved = 0;
  for (const edit of edits.slice(0, MAX_SHOWN_EDITS)) {
    line += countEndings(text, counted, edit.start);
    counted = edit.start;
    yield shownEdit(text, edit, line, moved);
    moved += countEndings(edit.text) - countEndings(text, edit.start, edit.end);
  }
  if (edits.length > MAX_SHOWN_EDITS)
    yield `[${plural(edits.length - MAX_SHOWN_EDITS, 'more edit')} not shown]`;
}

function restOfLine(text: string, from: number): string {
  return /[^\r\n]*/.exec(text.slice(from))?.[0] ?? '';
}

function shownEdit(text: string, edit: TextEdit, line: number, moved: number): string {
  const old = text.slice(edit.start, edit.end);
  const isEnded = (part: string): boolean => part === '' || /[\r\n]$/.test(part);
  // If both sides end a line, or the text ends, no rest of a line follows the edit.
  const isWhole = edit.end === text.length || (isEnded(old) && isEnded(edit.text));
  // If only one side ends a line, the rest of the last line is not a line of its own: it belongs to the other side's last line.
  const rest = isWhole || isEnded(old) === isEnded(edit.text) ? '' : restOfLine(text, edit.end);
  const rows = (sign: string, first: number, given: string): string[] => {
    const part = given + rest;
    const lines = part === '' ? [] : part.split(/\r\n|\r|\n/);
    if (isWhole && isEnded(part)) lines.pop();
    return lines.map((row, i) => `${sign}${first + i}:${row}`);
  };
  const notes = finalNewlineNotes(text, edit);
  const all = [
    ...rows('-', line, old),
    ...notes.before,
    ...rows('+', line + moved, edit.text),
    ...notes.after,
  ];
  if (all.length <= MAX_SHOWN_LINES) return all.join('\n');
  return [
    ...all.slice(0, MAX_SHOWN_LINES),
    `[${plural(all.length - MAX_SHOWN_LINES, 'more line')} not shown]`,
  ].join('\n');
}
