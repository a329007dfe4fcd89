import { isRecord } from '../json.ts';
import { eachLine, LINE_FEED, LOST_FEEDS, parseLine } from './jsonLines.ts';

/** The first line of every log: which log it is, and the version of its entries. */
export interface LogHeader {
  readonly log: string;
  readonly version: number;
}

/**
 * The current format of a log's lines. Lines of older versions are valid as they are; where they are not, the log must be migrated
 * before it is read, as that of previews is.
 */
export interface LogFormat<T> extends LogHeader {
  /** The entry in a line's value; `undefined` if it is not valid, which makes it a bad line. */
  readonly parse: (value: unknown) => T | undefined;
  /** The written form of an entry, which `parse` turns back into the entry; by default the entry itself. */
  readonly stored?: {
    /** Makes it in steps. */
    readonly form: (entry: T) => Iterator<undefined, unknown>;
    /** Whether that takes so long that other work has to run in between. */
    readonly isLong: (entry: T) => boolean;
  };
  /** The first version whose lines carry the version, too, as `v`, so that the log can be read without its header. */
  readonly tellsFrom?: number;
}

/** The part of a format needed to read lines without parsing their entries. */
type LinesFormat = Pick<LogFormat<unknown>, 'log' | 'version' | 'tellsFrom'>;

/** Receives the contents of a log, in the order of its lines. */
export interface LogReader<T> {
  /**
   * Offers a line as bytes, from `start` up to `end` in the log. Returns true if the reader will parse it later or not at all,
   * false to have it parsed now. Not called for the header.
   */
  line?(bytes: Buffer, start: number, end: number): boolean;
  /** An entry, and its line from `start` up to `end`. */
  entry(entry: T, bytes: Buffer, start: number, end: number): void;
  /** A line that is not an entry. */
  unreadable?(bytes: Buffer, start: number, end: number): void;
}

/** The parts of a log that could not be read. */
export interface LogFaults {
  /** 1-based numbers of the lines that were skipped. */
  readonly badLines: readonly number[];
  /** Whether an incomplete last line was dropped: its writer was interrupted. */
  readonly torn: boolean;
}

/** A log was written by a newer version of Redline, or is another log. Nothing was read or changed. */
export class UnknownLogVersionError extends Error {
  override readonly name = 'UnknownLogVersionError';
}

/** The text of a log's header line. */
export function encodeHeader({ log, version }: LogHeader): string {
  return `${JSON.stringify({ log, version })}\n`;
}

/** Passes a log of the current version to its reader, line by line. */
export async function readLog<T>(
  bytes: Buffer,
  format: LogFormat<T>,
  reader: LogReader<T>,
): Promise<LogFaults> {
  const badLines: number[] = [];
  let number = 0;
  const whole = await eachLine(bytes, (start, end) => {
    if (++number === 1) return; // the header
    if (start === end) return; // an empty line ends the rest of a failed append
    if (reader.line?.(bytes, start, end)) return;
    const value = parseLine(bytes, start, end);
    const entry = value === undefined ? undefined : format.parse(value);
    if (entry !== undefined) return reader.entry(entry, bytes, start, end);
    badLines.push(number);
    reader.unreadable?.(bytes, start, end);
  });
  return { badLines, torn: whole < bytes.length };
}

/**
 * The same log with the header of the current version; the same buffer if it has that. Line feeds that were lost are put back. An
 * unreadable header is put back, if a line carries the version.
 * @throws UnknownLogVersionError if the header names another log or a newer version.
 */
export async function withCurrentHeader(stored: Buffer, format: LinesFormat): Promise<Buffer> {
  const bytes = LOST_FEEDS.some(lost => stored.includes(lost))
    ? (await import('./olderLog.ts')).withLostFeeds(stored)
    : stored;
  const end = bytes.indexOf(LINE_FEED);
  if (end < 0) return bytes; // empty, or torn within the header
  const { header, isTold, hasLine } = await headerOf(bytes.subarray(0, end), () => bytes, format);
  if (versionOf(header, format) === format.version && !isTold) return bytes;
  return Buffer.concat([Buffer.from(encodeHeader(format)), hasLine ? bytes.subarray(end + 1) : bytes]);
}

/**
 * The header in the first line of a log; if that is unreadable, what the lines of the whole log tell, if they do.
 * @returns `hasLine`: whether the first line is a header, even a damaged one
 */
export async function headerOf(
  first: Buffer,
  whole: () => Buffer | Promise<Buffer>,
  { log, tellsFrom }: LinesFormat,
): Promise<{ readonly header: unknown; readonly isTold: boolean; readonly hasLine: boolean }> {
  const header = parseLine(first, 0, first.length);
  const read = { header, isTold: false, hasLine: true };
  if (tellsFrom === undefined || isHeader(header)) return read;
  const version = await (await import('./olderLog.ts')).toldVersion(await whole(), tellsFrom);
  if (version === undefined) return read;
  return { header: { log, version }, isTold: true, hasLine: !first.includes('"type":') };
}

function isHeader(value: unknown): boolean {
  return isRecord(value) && typeof value['log'] === 'string';
}

function versionOf(found: unknown, { log, version }: LogHeader): number {
  const header = found as Partial<LogHeader> | null | undefined;
  if (header?.log === log && typeof header.version === 'number' && header.version <= version)
    return header.version;
  throw new UnknownLogVersionError(
    `Expected a ${log} log of version ${version} or older, found ${JSON.stringify(found)}.`,
  );
}
