/**
 * Every text that is cut for a model, a log or a person is cut here, so that no half of a surrogate pair stays at the cut: servers
 * refuse a request that holds one, and people see a square. Lengths are in UTF-16 units; a limit below 1 leaves nothing.
 */

/** At most `max` characters from the beginning. */
export function beginningOf(text: string, max: number): string {
  return text.slice(0, Math.max(0, Math.floor(max))).replace(/[\uD800-\uDBFF]$/, '');
}

/** At most `max` characters from the end. */
export function endOf(text: string, max: number): string {
  return text.slice(Math.max(0, text.length - Math.max(0, Math.floor(max)))).replace(/^[\uDC00-\uDFFF]/, '');
}

/** The text; if it is longer than `max` characters, its beginning with an ellipsis, `max` characters in all. */
export function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${beginningOf(text, max - 1)}…`;
}

/** A text on one line, shortened as {@link shortened} does. */
export function shortLine(text: string, max: number): string {
  return shortened(text.replace(/\s+/g, ' ').trim(), max);
}
