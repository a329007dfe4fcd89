import { TimeSlice } from './timeSlice.ts';

/** The first line of every log: which log it is and which version of its entries follows. */
export interface LogHeader {
  readonly log: string;
  readonly version: number;
}

/** Takes what is read from a log, in the order of its lines. */
export interface LogReader<T> {
  /**
   * May take a line as it stands, from `start` up to `end` in the bytes of the log, where parsing it is put off or not
   * needed. False leaves it to be parsed. Never asked about the header.
   */
  line?(bytes: Buffer, start: number, end: number): boolean;
  entry(entry: T): void;
}

/** What of a log could not be read. */
export interface LogFaults {
  /** 1-based numbers of lines that were skipped. */
  readonly badLines: readonly number[];
  /** Whether a last line without its line feed was dropped: the process ended while writing it. */
  readonly torn: boolean;
}

/** All of a log. */
export interface DecodedLog<T> extends LogFaults {
  readonly entries: readonly T[];
}

/** A log was written by a version of Redline that this one does not know. Nothing was read or changed. */
export class UnknownLogVersionError extends Error {
  override readonly name = 'UnknownLogVersionError';
}

/** The text of a log's header line. */
export function encodeHeader(header: LogHeader): string {
  return `${JSON.stringify(header)}\n`;
}

/** One entry as one line: JSON never holds a bare line feed. */
export function encodeEntry(entry: unknown): string {
  return `${JSON.stringify(entry)}\n`;
}

/** An entry with more than this many parts in one list is encoded and written in pieces. */
const MANY = 64;
/** How many levels of an entry are looked into for such a list. */
const DEPTH = 4;
/** Characters that are written at once. */
const PIECE = 64 * 1024;

/** The same line in pieces, so that a preview of thousands of files does not hold up everything else. */
export function* encodeInPieces(entry: unknown): Generator<string, void, undefined> {
  let piece = '';
  for (const part of partsOf(entry, DEPTH)) {
    piece += part;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}\n`;
}

function* partsOf(value: unknown, depth: number): Generator<string, void, undefined> {
  if (depth === 0 || typeof value !== 'object' || value === null || 'toJSON' in value) {
    yield JSON.stringify(value) ?? 'null';
  } else if (Array.isArray(value)) {
    let separator = '[';
    for (const item of value) {
      yield separator;
      yield* partsOf(item, value.length > MANY ? 0 : depth - 1);
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

/** Whether an entry holds a list so long that it is better written in pieces. */
export function isLarge(value: unknown, depth = DEPTH): boolean {
  if (depth === 0 || typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length > MANY || value.some(item => isLarge(item, depth - 1));
  return Object.values(value).some(item => isLarge(item, depth - 1));
}

/**
 * Hands a log to its reader, line by line. `parse` returns `undefined` for an entry it does not accept, which then counts
 * as bad.
 * @throws UnknownLogVersionError, before the reader is given anything, when the header names another log or a newer
 * version.
 */
export async function readLog<T>(
  bytes: Buffer,
  header: LogHeader,
  parse: (value: unknown) => T | undefined,
  reader: LogReader<T>,
): Promise<LogFaults> {
  const badLines: number[] = [];
  let number = 0;
  const whole = await eachLine(bytes, (start, end) => {
    if (++number === 1) return checkHeader(parseLine(bytes, start, end), header);
    if (start === end) return; // stands before an entry that follows a failed append
    if (reader.line?.(bytes, start, end)) return;
    const value = parseLine(bytes, start, end);
    const entry = value === undefined ? undefined : parse(value);
    if (entry === undefined) badLines.push(number);
    else reader.entry(entry);
  });
  return { badLines, torn: whole < bytes.length };
}

const LINE_FEED = 0x0a;
/** Bytes that are gone through before anybody else may get a turn. */
const STRETCH = 64 * 1024;

/**
 * Goes through all whole lines, from `start` up to `end`, and lets the process do other things meanwhile.
 * @returns where the last of them ends, with its line feed.
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
    turnAt = start + STRETCH;
  }
  return start;
}

function checkHeader(value: unknown, header: LogHeader): void {
  const found = value as Partial<LogHeader> | undefined;
  if (found?.log === header.log && typeof found.version === 'number' && found.version <= header.version)
    return;
  throw new UnknownLogVersionError(
    `Expected a ${header.log} log of version ${header.version} or older, found ${JSON.stringify(value)}.`,
  );
}

/** The value of the line from `start` up to `end`; `undefined` for what is no JSON. */
export function parseLine(bytes: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) as unknown;
  } catch {
    return undefined;
  }
}
