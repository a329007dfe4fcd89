import { beginningOf, endOf } from '../../base/cutText.ts';

/** Characters that are kept of the beginning, and of the end. */
export const HEAD_CHARS = 10_000;
export const TAIL_CHARS = 20_000;

/** The output of a command. Only its beginning and its end are kept. */
export class OutputBuffer {
  #head = '';
  #tail = '';
  #total = 0;

  add(chunk: string): void {
    this.#total += chunk.length;
    const room = HEAD_CHARS - this.#head.length;
    if (room > 0) this.#head += chunk.slice(0, room);
    this.#tail += room > 0 ? chunk.slice(room) : chunk;
    if (this.#tail.length > 2 * TAIL_CHARS) this.#tail = endOf(this.#tail, TAIL_CHARS);
  }

  /** How many characters were written. */
  get length(): number {
    return this.#total;
  }

  /** The kept output as plain text, with a note where some is left out. */
  text(): string {
    if (this.#total <= HEAD_CHARS + TAIL_CHARS) return plainOutput(this.#head + this.#tail);
    const [head, tail] = [beginningOf(this.#head, HEAD_CHARS), endOf(this.#tail, TAIL_CHARS)];
    const left = this.#total - head.length - tail.length;
    return `${plainOutput(head)}\n[${left} characters of output are left out here]\n${plainOutput(tail)}`;
  }

  /** The last lines, as plain text. */
  end(chars: number): string {
    const all = this.#tail === '' ? this.#head : this.#tail;
    return plainOutput(endOf(all, chars));
  }
}

/**
 * Escape sequences of terminals: with parameters, strings (such as titles and links) up to their end, and short ones. A string that
 * does not end on its line, or within 4,096 characters, does not count as one: only its beginning is removed, so that it hides
 * nothing.
 */
const SEQUENCES =
  // eslint-disable-next-line no-control-regex -- removes control characters
  /(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,4}[@-~]?|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x18\x1a\x1b\n\x80-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)|\x1b[ -/]{0,4}[0-~]?/g;
// eslint-disable-next-line no-control-regex -- removes control characters
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

/** The output as a terminal shows it in the end: without escape sequences, and with only the last text of an overwritten line. */
export function plainOutput(output: string): string {
  return output
    .replace(SEQUENCES, '')
    .split('\n')
    .map(line => line.split('\r').findLast(part => part !== '') ?? '')
    .join('\n')
    .replace(CONTROLS, '');
}
