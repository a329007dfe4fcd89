import { TimeSlice } from '../async.ts';
import { isRecord } from '../json.ts';
import { eachLine, encodeEntry, LINE_FEED, LOST_FEEDS, parseLine } from './jsonLines.ts';

/**
 * The log with lost line feeds between entries restored; the same buffer if none were lost. Within an entry no letter follows
 * {@link LOST_FEEDS}: their quotation mark ends a string there.
 */
export function withLostFeeds(bytes: Buffer): Buffer {
  const cuts: number[] = [];
  for (const lost of LOST_FEEDS)
    for (let at = bytes.indexOf(lost); at >= 0; at = bytes.indexOf(lost, at + 1))
      if (/[a-z]/i.test(String.fromCharCode(bytes[at + lost.length] ?? 0))) cuts.push(at + 1);
  if (cuts.length === 0) return bytes;
  const ends = [...cuts.sort((a, b) => a - b), bytes.length];
  const parts = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
  return Buffer.concat(parts.flatMap((part, i) => (i === 0 ? [part] : [Buffer.from([LINE_FEED]), part])));
}

/**
 * The version that the lines of a log with an unreadable header carry; `undefined` if no line is an entry.
 * @param tellsFrom the first version whose lines carry it: lines that carry none are of the version before
 */
export async function toldVersion(bytes: Buffer, tellsFrom: number): Promise<number | undefined> {
  let told: number | undefined;
  await eachLine(bytes, (start, end) => {
    if (told !== undefined && told >= tellsFrom) return;
    const value = parseLine(bytes, start, end);
    if (!isRecord(value) || typeof value['type'] !== 'string') return;
    told = typeof value['v'] === 'number' ? value['v'] : tellsFrom - 1;
  });
  return told;
}

/** Migrations of a line's value, by the version that they migrate from. */
type Migrations = Readonly<Record<number, (line: unknown) => unknown>>;

/** A log in another version, with another header. */
export async function migrated(
  bytes: Buffer,
  from: number,
  to: number,
  header: string,
  migrations: Migrations = {},
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const whole = await eachLine(bytes, (start, end) => {
    if (start === 0) return void pieces.push(Buffer.from(header));
    const value = parseLine(bytes, start, end);
    const migrated = value === undefined ? undefined : migrateLine(value, from, to, migrations);
    if (migrated === value) pieces.push(bytes.subarray(start, end + 1));
    else pieces.push(Buffer.from(encodeEntry(migrated)));
  });
  pieces.push(bytes.subarray(whole));
  return joinInTurns(pieces);
}

function migrateLine(line: unknown, from: number, to: number, migrations: Migrations): unknown {
  let value = line;
  for (let at = from; at < to; at++) value = migrations[at]?.(value) ?? value;
  return value;
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
