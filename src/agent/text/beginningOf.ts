/** At most `max` characters, without half of a surrogate pair at the end. */
export function beginningOf(text: string, max: number): string {
  return text.slice(0, Math.max(0, Math.floor(max))).replace(/[\uD800-\uDBFF]$/, '');
}
