import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { inTurns, TimeSlice } from '../../../base/async.ts';
import { sha256 } from '../../../base/hash.ts';
import { isRecord } from '../../../base/json.ts';
import { LineSplitter } from '../../../base/lineSplitter.ts';
import { encodeEntry, LINE_FEED, parseLine } from '../../../base/log/jsonLines.ts';
import { ignoreMissing } from '../../../base/log/jsonLog.ts';
import { encodeHeader, headerOf } from '../../../base/log/logFormat.ts';
import { withLostFeeds } from '../../../base/log/olderLog.ts';
import { replaceContent } from '../../../base/system/replaceFile.ts';
import { isBinary, type BinarySide } from '../fileChange.ts';
import type { Contents } from './contents.ts';
import { parseEntry, previewLogFormat } from './previewLog.ts';
import { previewMigrations } from './previewMigrations.ts';
import { bindTexts, changesOf, sidesIn, withPlaces } from './storedChanges.ts';

/** How many bytes of a log are read at once, and about how many are written. */
const AT_ONCE = 1024 * 1024;

/** The folder beside the log in which older versions kept binary files, by their hash. */
const BLOBS = 'blobs';

/** A line without its line feed, if it is complete. */
interface Line {
  readonly bytes: Buffer;
  readonly isComplete: boolean;
}

/**
 * Rewrites a log of an older version, line by line: its texts, and the binary files from a folder beside it, go to the contents.
 * Memory holds one line at a time. An unreadable line stays as it is. A log of this version, or of an unknown one, is left alone.
 * @throws any error of the file system; then the log is as it was
 */
export async function migratePreviews(file: string, contents: Contents): Promise<void> {
  const found = await versionOf(file);
  if (!found || found.version >= previewLogFormat.version) return;
  await replaceContent(file, migrated(file, found, contents), { before: () => contents.flush() });
}

/** Version of a log, and whether its first line is its header, even a damaged one. */
async function versionOf(
  file: string,
): Promise<{ readonly version: number; readonly hasHeader: boolean } | undefined> {
  for await (const { bytes } of linesOf(file)) {
    const { header, hasLine } = await headerOf(bytes, () => fs.readFile(file), previewLogFormat);
    const isOurs = isRecord(header) && header['log'] === previewLogFormat.log;
    const version = isOurs ? header['version'] : undefined;
    return typeof version === 'number' ? { version, hasHeader: hasLine } : undefined;
  }
  return undefined;
}

/** The same log in this version, in pieces. */
async function* migrated(
  file: string,
  { version, hasHeader }: { readonly version: number; readonly hasHeader: boolean },
  contents: Contents,
): AsyncGenerator<string | Buffer, void, undefined> {
  const slice = new TimeSlice();
  let text = encodeHeader(previewLogFormat);
  let isHeader = hasHeader;
  for await (const { bytes, isComplete } of linesOf(file)) {
    const line = isHeader ? '' : isComplete ? await migratedLine(bytes, version, contents) : undefined;
    isHeader = false;
    text += line ?? '';
    if (text.length > AT_ONCE || line === undefined) {
      yield text;
      text = '';
    }
    if (line === undefined) yield isComplete ? Buffer.concat([bytes, Buffer.of(LINE_FEED)]) : bytes;
    await slice.turn();
  }
  yield text;
}

/** A line in the current format; `undefined` if it cannot be read. */
async function migratedLine(bytes: Buffer, version: number, contents: Contents): Promise<string | undefined> {
  let value = parseLine(bytes, 0, bytes.length);
  for (let at = version; at < previewLogFormat.version; at++) value = previewMigrations[at]?.(value) ?? value;
  const entry = parseEntry(value);
  if (!entry) return undefined;
  bindTexts(entry, contents);
  for (const side of sidesIn(changesOf(entry)))
    if (isBinary(side) && contents.sizeOf(side.hash) === undefined) await moveBlob(side, contents);
  const form = await inTurns(withPlaces(entry, contents));
  return encodeEntry({ v: previewLogFormat.version, ...(form as object) });
}

/** Takes over a binary file, if it is there and not damaged. */
async function moveBlob({ hash }: BinarySide, contents: Contents): Promise<void> {
  const bytes = await fs.readFile(path.join(contents.folder, '..', BLOBS, hash)).catch(ignoreMissing);
  if (bytes && sha256(bytes) === hash) await contents.put(bytes);
}

async function* linesOf(file: string): AsyncGenerator<Line, void, undefined> {
  const handle = await fs.open(file).catch(ignoreMissing);
  if (!handle) return;
  const lines = new LineSplitter();
  for await (const chunk of handle.createReadStream({ highWaterMark: AT_ONCE }) as AsyncIterable<Buffer>) {
    for (const one of lines.take(chunk)) {
      const line = withLostFeeds(one);
      let from = 0;
      for (let to = line.indexOf(LINE_FEED); to >= 0; to = line.indexOf(LINE_FEED, from)) {
        yield { bytes: line.subarray(from, to), isComplete: true };
        from = to + 1;
      }
      yield { bytes: line.subarray(from), isComplete: true };
    }
  }
  if (lines.length > 0) yield { bytes: lines.rest, isComplete: false };
}
