import { TimeSlice } from '../async.ts';

/** How many bytes are parsed between two chances for other work to run: in less than a millisecond. */
const AT_ONCE = 64 * 1024;

/**
 * The same value as `JSON.parse` of these bytes, but it lets other work run in between: a preview of thousands of files is a
 * line of tens of megabytes, which would block the process for hundreds of milliseconds.
 * @param atOnce how many bytes are parsed in one go, at least 8
 * @throws SyntaxError if they are not JSON
 */
export async function parseInTurns(
  bytes: Buffer,
  start: number,
  end: number,
  atOnce = AT_ONCE,
): Promise<unknown> {
  return new Parser(bytes, start, end, atOnce).whole();
}

/**
 * Descends into what is large and leaves the rest to `JSON.parse`: as many items of a list or members of an object as fit,
 * or a piece of a string. It only looks for where these end; `JSON.parse` decides whether they are valid.
 */
class Parser {
  readonly #bytes: Buffer;
  readonly #end: number;
  readonly #atOnce: number;
  readonly #slice = new TimeSlice();
  #at: number;

  constructor(bytes: Buffer, start: number, end: number, atOnce: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#atOnce = atOnce;
  }

  async whole(): Promise<unknown> {
    const value = await this.#value();
    this.#skipSpace();
    if (this.#at < this.#end) throw this.#fault();
    return value;
  }

  async #value(): Promise<unknown> {
    this.#skipSpace();
    const end = this.#endOfItems(1);
    if (end !== undefined) return this.#parseUpTo(end);
    switch (this.#bytes[this.#at]) {
      case OPEN_LIST:
        return this.#list();
      case OPEN_OBJECT:
        return this.#object();
      case QUOTE:
        return this.#string();
      default:
        throw this.#fault(); // not even a number is that long
    }
  }

  async #list(): Promise<unknown[]> {
    const items: unknown[] = [];
    this.#at++;
    do {
      const end = this.#endOfItems();
      if (end === undefined) {
        items.push(await this.#value());
      } else {
        const some = this.#parseUpTo(end, '[', ']') as unknown[];
        if (some.length === 0) throw this.#fault(); // an empty list is not large
        items.push(...some);
      }
      await this.#slice.turn();
    } while (this.#goesOn(CLOSE_LIST));
    return items;
  }

  async #object(): Promise<object> {
    const members: [string, unknown][] = [];
    this.#at++;
    do {
      const end = this.#endOfItems();
      if (end === undefined) {
        members.push([await this.#key(), await this.#value()]);
      } else {
        const some = Object.entries(this.#parseUpTo(end, '{', '}') as object);
        if (some.length === 0) throw this.#fault();
        members.push(...some);
      }
      await this.#slice.turn();
    } while (this.#goesOn(CLOSE_OBJECT));
    return Object.fromEntries(members); // unlike an assignment, it takes `__proto__` for a name
  }

  /** The name of a member, up to the end of its colon. */
  async #key(): Promise<string> {
    this.#skipSpace();
    if (this.#bytes[this.#at] !== QUOTE) throw this.#fault();
    const key = await this.#string();
    this.#skipSpace();
    if (this.#bytes[this.#at++] !== COLON) throw this.#fault();
    return key;
  }

  async #string(): Promise<string> {
    const pieces: string[] = [];
    for (this.#at++; ; await this.#slice.turn()) {
      const { end, isLast } = this.#endOfPiece();
      pieces.push(this.#parseUpTo(end, '"', '"') as string);
      if (isLast) break;
    }
    this.#at++;
    return pieces.join('');
  }

  /** What follows an item: true for a comma and another item, false for `close`. */
  #goesOn(close: number): boolean {
    this.#skipSpace();
    const byte = this.#at < this.#end ? this.#bytes[this.#at++] : undefined;
    if (byte !== COMMA && byte !== close) throw this.#fault();
    return byte === COMMA;
  }

  #parseUpTo(end: number, before = '', after = ''): unknown {
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end;
    return JSON.parse(before + text + after);
  }

  /**
   * The end of as many items as can be parsed at once: a comma, the bracket that closes the list or object, or the end of
   * the bytes. Undefined if the first item alone is too large.
   */
  #endOfItems(most = Infinity): number | undefined {
    const bytes = this.#bytes;
    const limit = Math.min(this.#at + this.#atOnce, this.#end);
    let end: number | undefined;
    let depth = 0;
    let isString = false;
    for (let at = this.#at; at < limit; at++) {
      const byte = bytes[at];
      if (isString) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) isString = false;
      } else if (byte === QUOTE) {
        isString = true;
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        depth++;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (depth-- === 0) return at;
      } else if (byte === COMMA && depth === 0) {
        end = at;
        if (--most === 0) break;
      }
    }
    return limit === this.#end && most > 0 ? limit : end;
  }

  /** The end of the piece of a string that can be parsed at once. It is never within a character or an escape sequence. */
  #endOfPiece(): { readonly end: number; readonly isLast: boolean } {
    const bytes = this.#bytes;
    const limit = Math.min(this.#at + this.#atOnce, this.#end);
    let end = this.#at;
    /** The end of the last escape sequence. */
    let escaped = end;
    for (let next = end; next <= limit;) {
      if (bytes[end] === BACKSLASH) escaped = next;
      end = next;
      const byte = bytes[end];
      if (byte === QUOTE && end < this.#end) return { end, isLast: true };
      if (byte === BACKSLASH) next += bytes[end + 1] === LETTER_U ? 6 : 2;
      else next++;
    }
    if (limit === this.#end) throw this.#fault(); // no quotation mark ends it
    const whole = end;
    while (end > escaped && isWithinCharacter(bytes[end])) end--;
    return { end: end > this.#at ? end : whole, isLast: false }; // bytes that are no characters may be cut anywhere
  }

  #skipSpace(): void {
    while (this.#at < this.#end && SPACE.has(this.#bytes[this.#at] ?? 0)) this.#at++;
  }

  #fault(): SyntaxError {
    return new SyntaxError(`Unexpected JSON at byte ${this.#at}`);
  }
}

const [QUOTE, COMMA, COLON, BACKSLASH, LETTER_U] = [0x22, 0x2c, 0x3a, 0x5c, 0x75];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Whether a byte continues a character of UTF-8. */
function isWithinCharacter(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
