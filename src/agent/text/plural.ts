/**
 * A count with its English noun: "1 file", "2 files". For texts for the model and the log; what a person reads is localised as
 * whole sentences.
 * @param many the plural, if it is not `one` with an s.
 */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
