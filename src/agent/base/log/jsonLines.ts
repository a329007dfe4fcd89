import { TimeSlice } from '../async.ts';
import { messageOf, orUndefined } from '../errors.ts';

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

export const LINE_FEED = 0x0a;
/** The end of an entry, or of zeros that a crash of the machine left, right before the next entry: the line feed between them is lost. */
export const LOST_FEEDS = ['}{"', '\0{"'];

/** How many bytes are processed between two chances for other work to run. */
const CHUNK = 64 * 1024;

/**
 * Calls `take` with the bounds of each complete line, without its line feed, and lets other work run in between.
 * @returns the offset after the last complete line.
 */
export async function eachLine(bytes: Buffer, take: (start: number, end: number) => void): Promise<number> {
  const slice = new TimeSlice();
  let start = 0;
  let turnAt = 0;
  for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
    take(start, end);
    start = end + 1;
    if (start < turnAt) continue;
    await slice.turn();
    turnAt = start + CHUNK;
  }
  return start;
}

/** The JSON value of the bytes from `start` up to `end`; `undefined` if they are not JSON, or more than a string can hold. */
export function parseLine(bytes: Buffer, start: number, end: number): unknown {
  return orUndefined((): unknown => JSON.parse(bytes.toString('utf8', start, end)));
}
