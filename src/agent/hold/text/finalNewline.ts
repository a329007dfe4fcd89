import { NO_FINAL_NEWLINE } from './hunks.ts';
import type { TextEdit } from './textEdit.ts';

/** The note below the last line of each side of an edit, if only one side ends with a line ending. */
export function finalNewlineNotes(
  text: string,
  { start, end, text: put }: TextEdit,
): { readonly before: readonly string[]; readonly after: readonly string[] } {
  const isEnded = (last: string | undefined): boolean => last === undefined || last === '\n' || last === '\r';
  const before = end < text.length || isEnded(text.at(-1));
  const after = end < text.length || isEnded(put.at(-1) ?? text[start - 1]);
  if (before === after) return { before: [], after: [] };
  return before ? { before: [], after: [NO_FINAL_NEWLINE] } : { before: [NO_FINAL_NEWLINE], after: [] };
}
