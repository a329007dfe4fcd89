/** Where a text contains a part, including overlapping occurrences, which are ambiguous too. */
export interface Occurrences {
  readonly count: number;
  /** The start offsets of the first few. */
  readonly first: readonly number[];
}

/** The most characters to search for with `indexOf`, which may compare all of them at each offset of the text. */
const HEAD = 64;

/**
 * Counts the occurrences of a non-empty part, and returns the offsets of the first `limit`. Takes time proportional to the
 * sum of both lengths, where `indexOf` alone can take their product if the text repeats itself.
 */
export function occurrences(text: string, part: string, limit: number): Occurrences {
  const first: number[] = [];
  let count = 0;
  const take = (at: number): void => {
    if (count++ < limit) first.push(at);
  };
  // Fast as long as nearly every place that begins like the part is an occurrence.
  const head = part.slice(0, HEAD);
  let left = text.length;
  let at = text.indexOf(head);
  for (; at >= 0 && left > 0; at = text.indexOf(head, at + 1)) {
    if (text.startsWith(part, at)) take(at);
    if (part.length > HEAD) left -= part.length;
  }
  if (at >= 0) eachOccurrence(text, part, at, take);
  return { count, first };
}

/** Calls `take` with the offset of each occurrence from `from` on, by the algorithm of Knuth, Morris and Pratt. */
function eachOccurrence(text: string, part: string, from: number, take: (at: number) => void): void {
  /** For each prefix of the part, by its length: the length of the longest shorter prefix that it ends with. */
  const shorter = new Uint32Array(part.length + 1);
  const extended = (length: number, code: number): number => {
    let matched = length;
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = shorter[matched] ?? 0;
    return part.charCodeAt(matched) === code ? matched + 1 : 0;
  };
  for (let i = 1; i < part.length; i++) shorter[i + 1] = extended(shorter[i] ?? 0, part.charCodeAt(i));
  let matched = 0;
  for (let i = from; i < text.length; i++) {
    matched = extended(matched, text.charCodeAt(i));
    if (matched < part.length) continue;
    take(i + 1 - part.length);
    matched = shorter[matched] ?? 0;
  }
}
