/** Begins the list of the matches in a line, the last part of an event. Within a JSON string its quotation marks would be escaped. */
const SUBMATCHES = Buffer.from(',"submatches":[');
/** Ends a match's text and precedes its byte offset. Cannot occur within a JSON string either. */
const START = Buffer.from('},"start":');
/** More digits than any byte offset has. */
const DIGITS = 20;
const NEWLINE = 0x0a;

/**
 * The lines of `rg --json`, each only up to where its first match begins. ripgrep lists every match of a line with its text, so
 * a pattern that matches everywhere makes an event some forty times as long as the line; the rest is dropped as it arrives.
 */
export async function* eventHeads(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let head = new EventHead();
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      head.add(chunk.subarray(from, end));
      yield head.text();
      head = new EventHead();
      from = end + 1;
    }
    head.add(chunk.subarray(from));
  }
}

class EventHead {
  readonly #parts: Buffer[] = [];
  /** Markers still to scan for; empty once the rest of the event can be skipped. */
  readonly #marks = [SUBMATCHES, START];
  /** The last bytes that were added, in which the next mark may have begun. */
  #tail: Buffer = Buffer.alloc(0);
  /** How many more bytes are kept once both marks are found. */
  #left = DIGITS;

  add(bytes: Buffer): void {
    let from = 0;
    for (let mark = this.#marks[0]; mark !== undefined; mark = this.#marks[0]) {
      const searched = Buffer.concat([this.#tail, bytes.subarray(from)]);
      const at = searched.indexOf(mark);
      if (at < 0) {
        this.#tail = searched.subarray(-mark.length + 1);
        this.#parts.push(bytes);
        return;
      }
      from += at + mark.length - this.#tail.length;
      this.#tail = Buffer.alloc(0);
      this.#marks.shift();
    }
    if (this.#left <= 0) return;
    this.#parts.push(bytes.subarray(0, from + this.#left));
    this.#left -= bytes.length - from;
  }

  text(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }
}
