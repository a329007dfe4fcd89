import type { Buffer } from 'node:buffer';

const [TAB, LF, CR, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [DOUBLE, DOLLAR, SINGLE, STAR, SLASH] = [0x22, 0x24, 0x27, 0x2a, 0x2f];
const [BACKSLASH, BACKTICK, OPEN, CLOSE] = [0x5c, 0x60, 0x7b, 0x7d];

/**
 * Replaces the comments of TypeScript (without JSX) with spaces, so that their text is not taken for code. Linear. It gives up on a
 * text that can be read in two ways: a slash after which the line contains quotes or something like a comment (is it a regular
 * expression?), or an unterminated string or comment. In code with syntax errors, the engine's error recovery may find nodes in
 * text that is a comment here: such a match is lost.
 * @returns whether it got to the end. Then `into` contains the result, as long as `text`; otherwise its content is undefined.
 */
export function blankComments(text: Buffer, into: Buffer): boolean {
  const end = text.length;
  text.copy(into);
  /** For each open `${`, the number of braces that are open inside it. */
  const templates: number[] = [];
  for (let at = 0; at < end;) {
    switch (text[at]) {
      case DOUBLE:
      case SINGLE:
        at = afterString(text, at);
        break;
      case BACKTICK:
        at = afterTemplate(text, at + 1, templates);
        break;
      case OPEN:
        if (templates.length > 0) templates.push((templates.pop() ?? 0) + 1);
        at++;
        break;
      case CLOSE: {
        const open = templates.pop();
        if (open === 0) at = afterTemplate(text, at + 1, templates);
        else {
          if (open !== undefined) templates.push(open - 1);
          at++;
        }
        break;
      }
      case SLASH: {
        const after = afterSlash(text, at);
        if (after > at + 1) blank(into, at, after);
        at = after;
        break;
      }
      default:
        at++;
    }
    if (at < 0) return false;
  }
  return templates.length === 0;
}

/** The offset after a string; negative if it does not end on its line. */
function afterString(text: Buffer, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) return at + 1;
    if (byte === LF || byte === CR) return -1;
    if (byte === BACKSLASH) at += text[at + 1] === CR && text[at + 2] === LF ? 2 : 1;
  }
  return -1;
}

/** The offset after the text of a template: after its end, or after a `${`. Negative if it has no end. */
function afterTemplate(text: Buffer, start: number, templates: number[]): number {
  for (let at = start; at < text.length; at++) {
    const byte = text[at];
    if (byte === BACKTICK) return at + 1;
    if (byte === BACKSLASH) at++;
    else if (byte === DOLLAR && text[at + 1] === OPEN) {
      templates.push(0);
      return at + 2;
    }
  }
  return -1;
}

/** The offset after a comment; that of the next byte if it is not a comment; negative if that is unclear. */
function afterSlash(text: Buffer, start: number): number {
  const next = text[start + 1];
  if (next === SLASH) {
    // In code with syntax errors, the engine reads `//*` as a slash and a block comment.
    return text[start + 2] === STAR ? -1 : lineEnd(text, start);
  }
  if (next === STAR) {
    const close = text.indexOf('*/', start + 2);
    return close < 0 ? -1 : close + 2;
  }
  // Division or regular expression? It does not matter if the rest of the line reads the same either way. The engine's
  // parser takes a regular expression to begin on the next line if nothing follows the slash on this one.
  for (let at = afterSpace(text, start + 1); at < text.length && text[at] !== LF; at++) {
    const byte = text[at];
    if (byte === DOUBLE || byte === SINGLE || byte === BACKTICK || byte === OPEN || byte === CLOSE) return -1;
    if (byte === SLASH && (text[at + 1] === SLASH || text[at + 1] === STAR)) return -1;
  }
  return start + 1;
}

function afterSpace(text: Buffer, start: number): number {
  let at = start;
  while (text[at] === SPACE || text[at] === TAB || text[at] === CR || text[at] === LF) at++;
  return at;
}

/** The end of a line; negative if it contains U+2028 or U+2029, which end a line too. */
function lineEnd(text: Buffer, start: number): number {
  let at = start;
  for (; at < text.length && text[at] !== LF && text[at] !== CR; at++) {
    if (text[at] === 0xe2 && text[at + 1] === 0x80 && ((text[at + 2] ?? 0) & 0xfe) === 0xa8) return -1;
  }
  return at;
}

/** Overwrites everything but line breaks and tabs with spaces. */
function blank(bytes: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte !== LF && byte !== CR && byte !== TAB) bytes[at] = SPACE;
  }
}
