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
export const TEXT_DEPTH = 10;
/** Whether an entry contains a list so long, or so much text, that it should be written in pieces. */
export function isLarge(entry: unknown): boolean {
  return hasLongList(entry, LIST_DEPTH) || textIn(entry, TEXT_DEPTH) > MUCH_TEXT;
}

export function hasLongList(value: unknown, depth: number): boolean {
  if (depth === 0 || typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length > MANY || value.some(item => hasLongList(item, depth - 1));
  return Object.values(value).some(item => hasLongList(item, depth - 1));
}

/** How many characters the strings of a value have. */
export function textIn(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length;
  if (depth === 0 || typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + textIn(item, depth - 1), 0);
}

export const LINE_FEED = 0x0a;
/** The end of an entry, or of zeros that a crash of the machine left, right before the next entry: the line feed between them is lost. */
export const LOST_FEEDS = ['}{"', '\0{"'];

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
