import { Buffer } from 'node:buffer';
import { indexOfLiteral, isWhole, type ByteLiteral } from './literalFilter.ts';

/** Beyond this many times the length of the text the scan gives up and lets the text pass: linear in any case. */
const MAX_WORK = 8;

/** Punctuation that the engine passes over between the parts of calls and members, and the backslash of a line that goes on. */
const passedOver = new Set([...' \t\r\n\f\v\\?.!:,;'].map(char => char.charCodeAt(0)));

/** Looks for rows of literals that stand next to each other in a text, but for white space and comments. */
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

  /** Whether each row is somewhere in the text. May say yes to a text without them, never no to one with them. */
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

  /** The end of `next` if only a gap lies before it; else the negative of where the gap ended. */
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

  /** Past one comment or one byte of a gap; `at` itself where there is none. */
  #gapEnd(text: Buffer, at: number): number {
    if (at >= text.length) return at;
    for (const { start, end } of this.#comments) {
      if (!startsWith(text, at, start)) continue;
      const close = text.indexOf(end, at + start.length);
      return close < 0 ? text.length : close + end.length;
    }
    const byte = text[at] ?? 0;
    // Bytes of non-ASCII text may be a no-break space.
    return byte >= 0x80 || passedOver.has(byte) ? at + 1 : at;
  }
}

function startsWith(text: Buffer, at: number, part: Buffer): boolean {
  if (at + part.length > text.length) return false;
  for (let i = 0; i < part.length; i++) if (text[at + i] !== part[i]) return false;
  return true;
}
