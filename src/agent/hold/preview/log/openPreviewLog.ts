import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import * as path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Sha256 } from '../../../base/hash.ts';
import { ignoreMissing, JsonLog, type LogLock, type Rewrite } from '../../../base/log/jsonLog.ts';
import { encodeHeader, type LogFaults, type LogReader } from '../../../base/log/logFormat.ts';
import { loadEncodings, type EncodingName } from '../../text/encodings.ts';
import { isText } from '../fileChange.ts';
import { Contents } from './contents.ts';
import {
  parseEntry,
  previewLogFormat,
  type Archive,
  type LoadedPreviews,
  type PreviewLogEntry,
  type UnreadableLine,
} from './previewLog.ts';
import { bindTexts, changesOf, isLong, sidesIn, withPlaces } from './storedChanges.ts';

/** The size in bytes above which a log that has grown fourfold is compacted, and how many bytes of contents may be unnamed. */
const SLACK = 8 * 1024 * 1024;

/** The preview log in this file, and the contents beside it. @param lock of the file, if it has one */
export function openPreviewLog(file: string, slack = SLACK, lock?: LogLock): PreviewLog {
  const folder = path.join(path.dirname(file), 'contents');
  return new PreviewLog(file, new Contents(folder, lock?.wasLeft), slack, lock);
}

/** The log of previews: its lines are facts, and name the texts of files, which are in the contents beside it. */
export class PreviewLog extends JsonLog<PreviewLogEntry> {
  readonly contents: Contents;
  readonly #file: string;
  readonly #slack: number;
  /** Decisions on forgotten previews: lines of the same form, read on demand. */
  readonly #ledger: JsonLog<PreviewLogEntry>;
  /** How large the log was when it was last compacted, in bytes. */
  #compact = 0;

  constructor(file: string, contents: Contents, slack = SLACK, lock?: LogLock) {
    const parse = (value: unknown): PreviewLogEntry | undefined => {
      const entry = parseEntry(value);
      if (entry) bindTexts(entry, contents);
      return entry;
    };
    const stored = {
      isLong: (entry: PreviewLogEntry) => isLong(entry, contents),
      form: (entry: PreviewLogEntry) => withPlaces(entry, contents),
    };
    super(file, { ...previewLogFormat, parse, stored }, lock);
    this.contents = contents;
    this.#file = file;
    this.#slack = slack;
    this.#ledger = new JsonLog(path.join(path.dirname(file), 'ledger.jsonl'), previewLogFormat, lock);
  }

  /** Reads and repairs it, and loads the encodings of all texts, so that their bytes can be computed synchronously. */
  async load(): Promise<LoadedPreviews> {
    const loaded = await collected(reader => this.readAndRepair(reader));
    await loadEncodings(new Set(loaded.entries.flatMap(encodingsOf)));
    return loaded;
  }

  /** Also migrates it. */
  override async readAndRepair(reader: LogReader<PreviewLogEntry>): Promise<LogFaults> {
    const header = encodeHeader(previewLogFormat);
    const first = text(createReadStream(this.#file, { end: header.length - 1 })).catch(ignoreMissing);
    if (((await first) ?? header) !== header) {
      const { migratePreviews } = await import('./olderPreviews.ts');
      await migratePreviews(this.#file, this.contents);
    }
    return super.readAndRepair(reader);
  }

  archived(): Promise<LoadedPreviews> {
    return collected(reader => this.#ledger.read(reader));
  }

  /** Whether the log, or its contents other than the named ones, has grown so much that compacting it pays. */
  async isOversized(named: ReadonlySet<Sha256>): Promise<boolean> {
    if ((await this.#size()) > Math.max(this.#slack, 4 * this.#compact)) return true;
    return this.contents.isMostlyUnnamed(named, this.#slack);
  }

  /** Keeps only the last changes of each preview. Every line that names texts is written again: they may have moved. */
  async compact(rewrite: Rewrite<PreviewLogEntry>, archive: Archive): Promise<void> {
    const { archiving, compacting } = await import('./compaction.ts');
    let archived: readonly PreviewLogEntry[] = [];
    await this.rewrite(async entries => {
      const compacted = await compacting(entries);
      const { moved, without } = await archiving(entries, archive);
      // They are in both files for a moment: a reader of both goes by the marks.
      if (moved.length > 0) {
        await this.#ledger.appendAll(moved);
        await this.#ledger.flush();
      }
      archived = moved;
      return entry => without(entry).flatMap(each => rewrite(compacted(each)).map(writtenAgain));
    });
    await archive.moved(archived);
    this.#compact = await this.#size();
  }

  async #size(): Promise<number> {
    return (await stat(this.#file).catch(() => undefined))?.size ?? 0;
  }

  override flush(): Promise<void> {
    return super.flush(() => this.contents.flush());
  }
}

/** Collects the entries and unreadable lines that a log passes to its reader. */
async function collected(
  read: (reader: LogReader<PreviewLogEntry>) => Promise<LogFaults>,
): Promise<LoadedPreviews> {
  const entries: PreviewLogEntry[] = [];
  const unreadable: UnreadableLine[] = [];
  const faults = await read({
    entry: entry => void entries.push(entry),
    unreadable: (bytes, start, end) =>
      void unreadable.push({ text: bytes.toString('utf8', start, end), position: entries.length }),
  });
  return { entries, unreadable, ...faults };
}

/** A copy if the line names texts: it is written again, with their new places. */
function writtenAgain(entry: PreviewLogEntry): PreviewLogEntry {
  return entry.type === 'staged' || entry.type === 'revised' ? { ...entry } : entry;
}

function encodingsOf(entry: PreviewLogEntry): readonly EncodingName[] {
  return sidesIn(changesOf(entry)).flatMap(side => (isText(side) ? [side.encoding.name] : []));
}
