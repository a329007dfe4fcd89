import { appendFileSync } from 'node:fs';
import { appendFile, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import * as path from 'node:path';

/** The first line of every log: which log it is and which version of its entries follows. */
interface LogHeader {
  readonly log: string;
  readonly version: number;
}

/** What {@link decodeLog} made of a file. */
export interface DecodedLog<T> {
  readonly entries: readonly T[];
  /** 1-based numbers of lines that could not be read and were skipped. */
  readonly badLines: readonly number[];
  /** Whether a last line without its line feed was dropped: the process ended while writing it. */
  readonly torn: boolean;
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
function isLarge(value: unknown, depth = DEPTH): boolean {
  if (depth === 0 || typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length > MANY || value.some(item => isLarge(item, depth - 1));
  return Object.values(value).some(item => isLarge(item, depth - 1));
}

/**
 * Reads a log's text. `parse` returns `undefined` for an entry it does not accept, which then counts as bad. `quick` may
 * take a line as it stands, without parsing it, where that is put off; `undefined` leaves it to `parse`.
 * @throws UnknownLogVersionError when the header names another log or a newer version.
 */
export function decodeLog<T, Quick = never>(
  text: string,
  header: LogHeader,
  parse: (value: unknown) => T | undefined,
  quick?: (line: string) => Quick | undefined,
): DecodedLog<T | Quick> {
  const lines = text.split('\n');
  const torn = lines.pop() !== '';
  const entries: (T | Quick)[] = [];
  const badLines: number[] = [];
  lines.forEach((line, index) => {
    const taken = index === 0 ? undefined : quick?.(line);
    if (taken !== undefined) return void entries.push(taken);
    const value = parseJson(line);
    if (index === 0) return checkHeader(value, header);
    if (line === '') return; // stands before an entry that follows a failed append
    const entry = value === undefined ? undefined : parse(value);
    if (entry === undefined) badLines.push(index + 1);
    else entries.push(entry);
  });
  return { entries, badLines, torn };
}

function checkHeader(value: unknown, header: LogHeader): void {
  const found = value as Partial<LogHeader> | undefined;
  if (found?.log === header.log && typeof found.version === 'number' && found.version <= header.version)
    return;
  throw new UnknownLogVersionError(
    `Expected a ${header.log} log of version ${header.version} or older, found ${JSON.stringify(value)}.`,
  );
}

/** The value of a line; `undefined` for what is no JSON. */
export function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

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

  /**
   * Reads what is there and makes the file ready for appending: a missing file is created with its header, a torn
   * last line is ended so that the next entry stands on a line of its own.
   * @param quick see {@link decodeLog}
   * @throws UnknownLogVersionError, and any error of the file system.
   */
  async load<Quick = never>(quick?: (line: string) => Quick | undefined): Promise<DecodedLog<T | Quick>> {
    const bytes = await readFile(this.#file).catch(ignoreMissing);
    // The length is counted in bytes: bytes that are no UTF-8 have another length once they are decoded.
    const whole = bytes ? bytes.lastIndexOf('\n') + 1 : 0;
    const decoded = decodeLog(bytes?.toString() ?? '', this.#header, this.#parse, quick);
    if (decoded.torn) await truncateTo(this.#file, whole);
    if (whole === 0) {
      await mkdir(path.dirname(this.#file), { recursive: true });
      await appendFile(this.#file, encodeHeader(this.#header));
    }
    this.#ready = true;
    return decoded;
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
    this.#flushed = Promise.allSettled([this.#flushed, done]);
    return done;
  }

  async #writeNow(line: string): Promise<void> {
    this.#write(line);
  }

  /** Runs work that appends, once the log is ready and what was begun before is done. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#waiting++;
    const done = this.#tail
      .then(async () => {
        if (!this.#ready) await this.load();
        await work();
      })
      .finally(() => this.#waiting--);
    this.#tail = done.catch(() => undefined);
    return done;
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
