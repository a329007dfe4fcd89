import { isRecord } from '../json.ts';
import { eachLine, LINE_FEED, LOST_FEEDS, parseLine } from './jsonLines.ts';

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
