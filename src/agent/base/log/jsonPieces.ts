import { EncodingError, hasLongList, TEXT_DEPTH, textIn } from './jsonLines.ts';

/** The size of such a piece, in characters. */
const PIECE = 64 * 1024;

/** The same line in pieces, so that encoding a preview of thousands of files does not block the process. @throws EncodingError */
export function* encodeInPieces(entry: unknown): Generator<string, void, undefined> {
  let piece = '';
  const parts = partsOf(entry, TEXT_DEPTH);
  for (let part = nextOf(parts); part !== undefined; part = nextOf(parts)) {
    if (piece !== '' && piece.length + part.length >= PIECE) {
      yield piece;
      piece = '';
    }
    piece += part;
  }
  yield `${piece}\n`;
}

function nextOf(parts: Generator<string, void, undefined>): string | undefined {
  try {
    return parts.next().value ?? undefined;
  } catch (error) {
    throw new EncodingError(error);
  }
}

function* partsOf(value: unknown, depth: number): Generator<string, void, undefined> {
  if (typeof value === 'string' && value.length > PIECE) {
    yield* partsOfText(value);
  } else if (
    depth === 0 ||
    typeof value !== 'object' ||
    value === null ||
    'toJSON' in value ||
    isPiece(value, depth)
  ) {
    yield JSON.stringify(value) ?? 'null';
  } else if (Array.isArray(value)) {
    let separator = '[';
    for (const item of value) {
      yield separator;
      yield* partsOf(item, depth - 1);
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  } else {
    let separator = '{';
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined || typeof item === 'function' || typeof item === 'symbol') continue;
      yield `${separator}${JSON.stringify(key)}:`;
      yield* partsOf(item, depth - 1);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  }
}

/** A long string in pieces. None ends within a surrogate pair: JSON text has half of one as an escape sequence. */
function* partsOfText(text: string): Generator<string, void, undefined> {
  yield '"';
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at + PIECE - 1);
    const end = at + (code >= 0xd800 && code <= 0xdbff ? PIECE - 1 : PIECE);
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

/** Whether a value is small enough to be encoded at once. */
function isPiece(value: object, depth: number): boolean {
  return !hasLongList(value, depth) && textIn(value, depth) <= PIECE;
}

/**
 * The size of one write, in characters. Each write waits for a thread of the pool, and a large entry waits for all of its
 * writes. Node makes the bytes of one write at once, in some 2 ms.
 */
const WRITE = 512 * 1024;

/**
 * Joins texts to pieces of bounded size, so that each piece is worth a write of its own; bytes stay as they are.
 * @throws EncodingError if a part cannot be encoded.
 */
export function* inWrites(parts: Iterable<string | Buffer>): Generator<string | Buffer, void, undefined> {
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part;
      if (text.length < WRITE) continue;
    }
    if (text !== '') yield text;
    text = '';
    if (typeof part !== 'string') yield part;
  }
  if (text !== '') yield text;
}
