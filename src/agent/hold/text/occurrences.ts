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
  if (at >= 0) for (const found of occurrencesFrom(at, text, part)) take(found);
  return { count, first };
}

/**
 * The places of a non-empty part from one place on, in a text or in a list of its lines, by the algorithm of Knuth, Morris and
 * Pratt: always in linear time.
 */
export function* occurrencesFrom(
  from: number,
  text: ArrayLike<string>,
  part: ArrayLike<string>,
): Generator<number, void, undefined> {
  /** For each prefix of the part, by its length: the length of the longest shorter prefix that it ends with. */
  const shorter = new Uint32Array(part.length + 1);
  const extended = (length: number, next: string | undefined): number => {
    let matched = length;
    while (matched > 0 && part[matched] !== next) matched = shorter[matched] ?? 0;
    return part[matched] === next ? matched + 1 : 0;
  };
  for (let i = 1; i < part.length; i++) shorter[i + 1] = extended(shorter[i] ?? 0, part[i]);
  let matched = 0;
  for (let i = from; i < text.length; i++) {
    matched = extended(matched, text[i]);
    if (matched < part.length) continue;
    yield i + 1 - part.length;
    matched = shorter[matched] ?? 0;
  }
}

/** How many characters at the end of a text may be the beginning of `wanted`. */
export function heldBack(text: string, wanted: string): number {
  for (let length = Math.min(wanted.length - 1, text.length); length > 0; length--)
    if (text.endsWith(wanted.slice(0, length))) return length;
  return 0;
}
