import { setImmediate } from 'node:timers/promises';
import { TimeSlice } from '../async.ts';
import { messageOf } from '../errors.ts';
import { parsedJson } from '../json.ts';

/** An entry has no JSON text, or one that is longer than a string can be. It can never be written. */
export class EncodingError extends Error {
  constructor(cause: unknown) {
    super(`An entry of the log cannot be encoded: ${messageOf(cause)}`, { cause });
    this.name = 'EncodingError';
  }
}

/** An entry as one line: JSON text contains no bare line feed. @throws EncodingError */
export function encodeEntry(entry: unknown): string {
  try {
    return `${JSON.stringify(entry)}\n`;
  } catch (error) {
    throw new EncodingError(error);
  }
}

/** An entry with a longer list than this is encoded and written in pieces. */
const MANY = 64;
/** How many levels of an entry are searched for such a list. */
const LIST_DEPTH = 4;
/**
 * An entry with more characters of text than this is written in pieces, too: encoding and writing a million at once takes
 * some 20 ms. Such an entry is not in the file yet when `append` returns, so the bound is no lower than that time requires.
 */
const MUCH_TEXT = 1024 * 1024;
/** How many levels of an entry are searched for text. An edit among the arguments of a tool call lies nine levels deep. */
const TEXT_DEPTH = 10;
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

/** Whether an entry contains a list so long, or so much text, that it should be written in pieces. */
export function isLarge(entry: unknown): boolean {
  return hasLongList(entry, LIST_DEPTH) || textIn(entry, TEXT_DEPTH) > MUCH_TEXT;
}

function hasLongList(value: unknown, depth: number): boolean {
  if (depth === 0 || typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length > MANY || value.some(item => hasLongList(item, depth - 1));
  return Object.values(value).some(item => hasLongList(item, depth - 1));
}

/** How many characters the strings of a value have. */
function textIn(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length;
  if (depth === 0 || typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + textIn(item, depth - 1), 0);
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

/** How many bytes are copied between two chances for other work to run. */
const COPIED_AT_ONCE = 4 * 1024 * 1024;

/** The same as `Buffer.concat`, but it lets other work run in between. */
export async function joinInTurns(parts: readonly Buffer[]): Promise<Buffer> {
  const slice = new TimeSlice();
  const whole = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    for (let from = 0; from < part.length; from += COPIED_AT_ONCE) {
      at += part.copy(whole, at, from, Math.min(from + COPIED_AT_ONCE, part.length));
      await slice.turn();
    }
  }
  return whole;
}

export const LINE_FEED = 0x0a;
/** How many bytes are processed between two chances for other work to run. */
const CHUNK = 64 * 1024;

/**
 * Calls `take` with the bounds of each complete line, without its line feed, waits for the promise that it may return, and lets
 * other work run in between.
 * @returns the offset after the last complete line.
 */
export async function eachLine(
  bytes: Buffer,
  take: (start: number, end: number) => void | Promise<void>,
): Promise<number> {
  const slice = new TimeSlice();
  let start = 0;
  let turnAt = 0;
  for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
    const taken = take(start, end);
    if (taken) await taken;
    start = end + 1;
    if (start < turnAt) continue;
    await slice.turn();
    turnAt = start + CHUNK;
  }
  return start;
}

/** A longer line than this is parsed in turns, in bytes. */
const LONG = 512 * 1024;

/** Passes the value of {@link parseLine} on: at once, or for a long line when it has been parsed in turns. */
export function takeValue(
  bytes: Buffer,
  start: number,
  end: number,
  take: (value: unknown) => void,
): void | Promise<void> {
  if (end - start <= LONG) return take(parseLine(bytes, start, end));
  return parseLongLine(bytes, start, end).then(take);
}

async function parseLongLine(bytes: Buffer, start: number, end: number): Promise<unknown> {
  const { parseInTurns } = await import('./parseInTurns.ts');
  const value = await parseInTurns(bytes, start, end).catch(() => undefined);
  await setImmediate(); // what is made of it takes its time, too
  return value;
}

/** The JSON value of the bytes from `start` up to `end`; `undefined` if they are not JSON. */
export function parseLine(bytes: Buffer, start: number, end: number): unknown {
  return parsedJson(bytes.toString('utf8', start, end));
}
