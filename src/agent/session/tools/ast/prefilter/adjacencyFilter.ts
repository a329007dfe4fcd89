import { Buffer } from 'node:buffer';
import { indexOfLiteral, isWhole, type ByteLiteral } from './byteLiteral.ts';

/** After this many times the length of the text the scan gives up and lets the text pass, so that it stays linear. */
const MAX_WORK = 8;

/**
 * Whitespace, the backslash of a continued line, and punctuation that the engine ignores between the parts of calls and
 * members.
 */
const gapBytes = new Set([...' \t\r\n\f\v\\?.!:,;'].map(char => char.charCodeAt(0)));

/** Looks in a text for rows of literals, with only whitespace, comments and some punctuation between their parts. */
export class AdjacencyFilter {
  readonly #rows: readonly (readonly ByteLiteral[])[];
  readonly #comments: readonly { readonly start: Buffer; readonly end: Buffer }[];

  constructor(
    rows: readonly (readonly ByteLiteral[])[],
    comments: readonly (readonly [start: string, end: string])[],
  ) {
    this.#rows = rows;
    this.#comments = comments.map(([start, end]) => ({ start: Buffer.from(start), end: Buffer.from(end) }));
  }

  /** Whether the text contains every row. May be true for a text that does not, never false for one that does. */
  mayHold(text: Buffer): boolean {
    return this.#rows.every(row => this.#mayHoldRow(text, row));
  }

  #mayHoldRow(text: Buffer, row: readonly ByteLiteral[]): boolean {
    const [first, ...others] = row;
    if (!first) return true;
    let work = 0;
    for (let at = indexOfLiteral(text, first, 0); at >= 0; at = indexOfLiteral(text, first, at + 1)) {
      let end = at + first.bytes.length;
      const found = others.every(next => {
        const begin = end;
        end = this.#follow(text, end, next);
        work += Math.max(0, end < 0 ? -end - begin : end - begin);
        return end >= 0;
      });
      if (found || work > MAX_WORK * text.length) return true;
    }
    return false;
  }

  /** Where `next` ends if only a gap lies between `from` and it; otherwise -1 minus where the gap ended. */
  #follow(text: Buffer, from: number, next: ByteLiteral): number {
    for (let at = from; ;) {
      if (startsWith(text, at, next.bytes) && (!next.whole || isWhole(text, at, at + next.bytes.length))) {
        return at + next.bytes.length;
      }
      const after = this.#gapEnd(text, at);
      if (after === at) return -at - 1;
      at = after;
    }
  }

  /** The offset after one comment or one byte of a gap; `at` itself if there is neither. */
  #gapEnd(text: Buffer, at: number): number {
    if (at >= text.length) return at;
    for (const { start, end } of this.#comments) {
      if (!startsWith(text, at, start)) continue;
      const close = text.indexOf(end, at + start.length);
      return close < 0 ? text.length : close + end.length;
    }
    const byte = text[at] ?? 0;
    // A non-ASCII byte may be part of a no-break space.
    return byte >= 0x80 || gapBytes.has(byte) ? at + 1 : at;
  }
}

function startsWith(text: Buffer, at: number, part: Buffer): boolean {
  if (at + part.length > text.length) return false;
  for (let i = 0; i < part.length; i++) if (text[at + i] !== part[i]) return false;
  return true;
}
