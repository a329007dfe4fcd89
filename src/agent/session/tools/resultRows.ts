/** The most characters of one result that the model gets. */
export const MAX_RESULT_CHARS = 100_000;
/** How many of these are reserved for a tool's text other than its rows, and for the lines before its text. */
const MARGIN = 10_000;

/** The first rows that a result can hold, at least one, so that a tool can tell the model where to go on. */
export function fittingRows(rows: readonly string[]): readonly string[] {
  let room = MAX_RESULT_CHARS - MARGIN;
  const end = rows.findIndex((row, at) => (room -= row.length + 1) < 0 && at > 0);
  return end < 0 ? rows : rows.slice(0, end);
}
