import { appendFileSync } from 'node:fs';
import { appendFile, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import {
  encodeEntry,
  encodeHeader,
  encodeInPieces,
  isLarge,
  readLog,
  type DecodedLog,
  type LogFaults,
  type LogHeader,
  type LogReader,
} from './jsonLines.ts';

/**
 * An append-only file of JSON lines. Appends are written one after the other in the order of the calls, and have been
 * handed to the operating system when `append` returns, so that nothing that was told is lost with the process. They
 * wait only for a log that is being made ready or compacted; the promise tells when that is over. A failed append
 * leaves the later ones their chance. A log that was never loaded makes itself ready with its first append.
 */
export class JsonLog<T> {
  readonly #file: string;
  readonly #header: LogHeader;
  readonly #parse: (value: unknown) => T | undefined;
  #tail: Promise<void> = Promise.resolve();
  /** The flushes that have begun. */
  #flushed: Promise<unknown> = Promise.resolve();
  /** Work in the tail that is not over. */
  #waiting = 0;
  /** The file is there and ends with a whole line. */
  #ready = false;
  /** The last append failed and may have left a part of its line behind. */
  #failed = false;

  constructor(file: string, header: LogHeader, parse: (value: unknown) => T | undefined) {
    this.#file = file;
    this.#header = header;
    this.#parse = parse;
  }

  /** Reads all that is there; see {@link read}. */
  async load(): Promise<DecodedLog<T>> {
    const entries: T[] = [];
    const faults = await this.read({ entry: entry => void entries.push(entry) });
    return { entries, ...faults };
  }

  /**
   * Hands what is there to the reader and makes the file ready for appending: a missing file is created with its header,
   * a torn last line is cut off so that the next entry stands on a line of its own.
   * @throws UnknownLogVersionError, and any error of the file system. The file is then as it was.
   */
  async read(reader: LogReader<T>): Promise<LogFaults> {
    const { bytes, faults } = await this.#pass(reader);
    // Counted in bytes: those that are no UTF-8 have another length once they are decoded.
    const whole = bytes.lastIndexOf('\n') + 1;
    if (faults.torn) await truncateTo(this.#file, whole);
    if (whole === 0) {
      await mkdir(path.dirname(this.#file), { recursive: true });
      await appendFile(this.#file, encodeHeader(this.#header));
    }
    this.#ready = true;
    return faults;
  }

  /**
   * Hands what is there to the reader and changes nothing, for a file that others may be writing: what looks like a torn
   * last line may be one that is not written to its end yet. A missing file holds nothing.
   * @throws UnknownLogVersionError, and any error of the file system.
   */
  async view(reader: LogReader<T>): Promise<LogFaults> {
    return (await this.#pass(reader)).faults;
  }

  /** Puts what `rewrite` gives in the place of each entry, for good. Readers see the old file or the new one, never a part. */
  compact(rewrite: (entry: T) => readonly T[]): Promise<void> {
    const flushed = this.#flushed; // some systems replace no file that is open
    return this.#enqueue(async () => {
      await flushed;
      const { entries } = await this.load();
      const temporary = `${this.#file}.compacting`;
      await writeFile(
        temporary,
        [encodeHeader(this.#header), ...entries.flatMap(rewrite).map(encodeEntry)].join(''),
      );
      await syncFile(temporary);
      await rename(temporary, this.#file);
    });
  }

  /** Appends an entry, which must not change any more: a large one is encoded bit by bit when its turn comes. */
  append(entry: T): Promise<void> {
    if (isLarge(entry)) return this.#enqueue(() => this.#writeInPieces(encodeInPieces(entry)));
    const line = encodeEntry(entry);
    if (!this.#ready || this.#waiting > 0) return this.#enqueue(() => Promise.resolve(this.#write(line)));
    return this.#writeNow(line);
  }

  /** Settles when all that was appended stays, even if the machine itself goes down. No append waits for it. */
  flush(): Promise<void> {
    const written = this.#ready ? this.#tail : this.#enqueue(() => Promise.resolve());
    const done = written.then(() => syncFile(this.#file));
    this.#flushed = Promise.allSettled([this.#flushed, done]).then(() => undefined);
    return done;
  }

  async #pass(reader: LogReader<T>): Promise<{ readonly bytes: Buffer; readonly faults: LogFaults }> {
    const bytes = (await readFile(this.#file).catch(ignoreMissing)) ?? Buffer.alloc(0);
    return { bytes, faults: await readLog(bytes, this.#header, this.#parse, reader) };
  }

  async #writeNow(line: string): Promise<void> {
    this.#write(line);
  }

  /** Runs work that appends, once the log is ready and what was begun before is done. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#waiting++;
    const done = this.#tail
      .then(async () => {
        if (!this.#ready) await this.#prepare();
        await work();
      })
      .finally(() => this.#waiting--);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  /** Makes the file ready for appending, as {@link read} does, without making anything of its entries. */
  async #prepare(): Promise<void> {
    await this.read({ line: () => true, entry: () => undefined });
  }

  #write(line: string): void {
    const text = this.#failed ? `\n${line}` : line;
    this.#failed = true;
    appendFileSync(this.#file, text);
    this.#failed = false;
  }

  async #writeInPieces(pieces: Iterable<string>): Promise<void> {
    let before = this.#failed ? '\n' : '';
    this.#failed = true;
    const handle = await open(this.#file, 'a');
    try {
      for (const piece of pieces) {
        await handle.appendFile(before + piece);
        before = '';
      }
    } finally {
      await handle.close();
    }
    this.#failed = false;
  }
}

async function syncFile(file: string): Promise<void> {
  // Opened for writing: some systems flush nothing else.
  const handle = await open(file, 'a');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function truncateTo(file: string, length: number): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.truncate(length);
  } finally {
    await handle.close();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
