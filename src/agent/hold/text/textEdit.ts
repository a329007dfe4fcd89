/** Replaces the characters from `start` up to `end` (UTF-16 offsets) by `text`. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Applies edits, which must be sorted and must not overlap. The result is joined at once: V8 copies a text that it keeps as
 * a chain of pieces when the text is first read, and reading many such files in a row would block the process.
 */
export function applyTextEdits(text: string, edits: readonly TextEdit[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const edit of edits) {
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

/** Whether these are sorted, do not overlap, and turn one text into the other. Builds no text. */
export function editsGive(before: string, edits: readonly TextEdit[], after: string): boolean {
  let [from, at] = [0, 0];
  for (const { start, end, text } of edits) {
    if (start < from || end < start || end > before.length) return false;
    const kept = start - from;
    if (before.slice(from, start) !== after.slice(at, at + kept)) return false;
    at += kept;
    if (after.slice(at, at + text.length) !== text) return false;
    [from, at] = [end, at + text.length];
  }
  return before.slice(from) === after.slice(at);
}

/** Whether edits are sorted, do not overlap, and are within a text of this length. */
export function editsFit(length: number, edits: readonly TextEdit[]): boolean {
  let from = 0;
  for (const { start, end } of edits) {
    if (start < from || end < start || end > length) return false;
    from = end;
  }
  return true;
}
