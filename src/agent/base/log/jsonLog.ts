import { appendFileSync, closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { appendFile, mkdir, open, stat, truncate } from 'node:fs/promises';
import * as path from 'node:path';
import { atOnce, inTurns, TimeSlice } from '../async.ts';
import { hasCode } from '../errors.ts';
import { encodeEntry } from './jsonLines.ts';
import {
  encodeHeader,
  readLog,
  withCurrentHeader,
  type LogFaults,
  type LogFormat,
  type LogReader,
} from './logFormat.ts';
import { replaceContent, syncFile } from '../system/replaceFile.ts';

/** The flags of a write that appends to an existing file. They do not create one: it would lack the header. */
const APPEND = constants.O_WRONLY | constants.O_APPEND;
/** How many bytes are read at once. */
const READ_AT_ONCE = 4 * 1024 * 1024;
/** How many bytes of entries are encoded and written at once. */
const WRITTEN_AT_ONCE = 128 * 1024;

/** The lock of a log, such as a `ProcessLock`. A log that has lost it writes nothing more. */
export interface LogLock {
  /** Whether a write needs no {@link check} first. */
  readonly isSure: boolean;
  /** @throws once another process has the lock */
  check(): Promise<void>;
  /** Whether the last owner ended without releasing it: a sync of its may have failed. */
  readonly wasLeft?: boolean;
}

/** The entries that replace an entry. */
export type Rewrite<T> = (entry: T) => readonly T[];

/** A line of the log that was read, without its line feed, and its entry if it has one. */
interface Line<T> {
  readonly place: readonly [bytes: Buffer, start: number, end: number];
  readonly entry?: T;
}

/** The file in which an append has failed, if it could be opened, and where it began. */
interface FailedAppend {
  readonly ino?: bigint;
  readonly from: number;
}

/**
 * An append-only file of JSON lines. Entries are written in the order of the calls. An entry is handed to the operating system
 * before `append` returns, so that it survives the end of the process. It waits, until the promise settles, only if it is long, or
 * while the log is being prepared, repaired or compacted, or another entry waits. A failed append does not affect later ones: the
 * next one removes its leftovers. A log that was never loaded is prepared by its first append.
 */
export class JsonLog<T> {
  readonly #file: string;
  readonly #format: LogFormat<T>;
  readonly #lock: LogLock | undefined;
  readonly #slice = new TimeSlice();
  #tail: Promise<void> = Promise.resolve();
  /** Settles when the flushes so far have ended. */
  #flushed: Promise<unknown> = Promise.resolve();
  /** How many enqueued tasks have not ended. */
  #waiting = 0;
  /** The file exists and ends with a complete line. */
  #ready = false;
  /** The last append, if it failed: it may have left part of its line behind. */
  #failed: FailedAppend | undefined;
  /** A sync failed with this error, or may have, and the log was not written again since. */
  #doubt: { readonly error: unknown } | undefined;

  /** @param lock of the file, if there is one */
  constructor(file: string, format: LogFormat<T>, lock?: LogLock) {
    this.#file = file;
    this.#format = format;
    this.#lock = lock;
    if (lock?.wasLeft === true) this.#doubt = { error: new Error(`${file} may not be on the disk`) };
  }

  /**
   * Reads the log and prepares the file for appending: a missing file is created with its header, one of an older version
   * gets the current one, and a torn last line is truncated, so that the next entry starts a line of its own.
   * @throws UnknownLogVersionError, which leaves the file unchanged, and any error of the file system.
   */
  async readAndRepair(reader: LogReader<T>): Promise<LogFaults> {
    const { bytes, isChanged, faults } = await this.#readFile(reader);
    if (isChanged) await this.#replace([bytes]);
    // In bytes, since invalid UTF-8 changes its length when it is decoded.
    const whole = bytes.lastIndexOf('\n') + 1;
    if (faults.torn) await truncate(this.#file, whole);
    if (whole === 0) {
      await mkdir(path.dirname(this.#file), { recursive: true });
      await appendFile(this.#file, encodeHeader(this.#format));
      this.#doubt = undefined; // it was nothing before
      await this.#sync(); // without it, a power cut would leave a log of no version
    }
    this.#ready = true;
    return faults;
  }

  /**
   * Reads the log without changing the file, which another process may be writing to: a last line that looks torn may just
   * not be complete yet. A missing file counts as empty.
   * @throws UnknownLogVersionError, and any error of the file system.
   */
  async read(reader: LogReader<T>): Promise<LogFaults> {
    return (await this.#readFile(reader)).faults;
  }

  /**
   * Permanently replaces each entry with the entries that the rewrite of `plan` returns for it. Lines that cannot be read stay as
   * they are, byte for byte, and so do entries that it returns as they are. Appends wait until all of that is done.
   * @param more entries that are appended with it: all or none
   */
  rewrite(
    plan: (entries: readonly T[]) => Rewrite<T> | Promise<Rewrite<T>>,
    more: readonly T[] = [],
  ): Promise<void> {
    const flushed = this.#flushed; // some systems cannot replace an open file
    return this.#enqueue(async () => {
      await flushed;
      await this.#lock?.check();
      const lines: Line<T>[] = [];
      await this.readAndRepair({
        unreadable: (...place) => void lines.push({ place }),
        entry: (entry, ...place) => void lines.push({ place, entry }),
      });
      const rewrite = await plan(lines.flatMap(({ entry }) => (entry === undefined ? [] : [entry])));
      await this.#replace(inWrites(this.#rewritten(lines, rewrite, more)));
    });
  }

  /** The lines of the rewritten log. */
  async *#rewritten(
    lines: readonly Line<T>[],
    rewrite: Rewrite<T>,
    more: readonly T[],
  ): AsyncGenerator<Buffer> {
    yield Buffer.from(encodeHeader(this.#format));
    for (const { place, entry } of lines) {
      const [bytes, start, end] = place;
      const next = entry === undefined ? undefined : rewrite(entry);
      if (!next || (next.length === 1 && next[0] === entry)) yield bytes.subarray(start, end + 1);
      else yield* this.#encodedAll(next);
      await this.#slice.turn(); // also where none of them stays
    }
    yield* this.#encodedAll(more);
  }

  async *#encodedAll(entries: readonly T[]): AsyncGenerator<Buffer> {
    for (const entry of entries) yield Buffer.from(await this.#encodedInTurns(entry));
  }

  async append(entry: T): Promise<void> {
    if (this.#lock?.isSure === false) await this.#lock.check();
    if (!this.#waits(entry)) return this.#write(this.#encoded(entry));
    await this.#enqueue(async () => {
      const line = await this.#encodedInTurns(entry);
      if (this.#lock?.isSure === false) await this.#lock.check();
      this.#write(line);
    });
  }

  /** Appends entries in a few writes, and lets other work run in between. */
  async appendAll(entries: readonly T[]): Promise<void> {
    for await (const bytes of inWrites(this.#encodedAll(entries)))
      await this.#enqueue(() => Promise.resolve(this.#write(bytes)));
  }

  /**
   * Appends an entry before returning, unless it would have to wait. False if it must wait or could not be written; then
   * it may be appended again.
   */
  appendNow(entry: T): boolean {
    if (this.#waits(entry) || this.#lock?.isSure === false) return false;
    try {
      this.#write(this.#encoded(entry));
      return true;
    } catch {
      // Appending it again reports the reason, also if the log was deleted.
      if (this.#failed?.ino === undefined) this.#failed = undefined;
      return false;
    }
  }

  /**
   * Settles once everything appended so far would survive a crash of the machine. Appends wait for it only if the log has to be
   * prepared, and long ones if it has to be written again.
   * @param first what has to survive it before they do
   */
  flush(first = (): Promise<void> => Promise.resolve()): Promise<void> {
    const rewrite = async (): Promise<void> => {
      await first();
      if (this.#doubt) await this.#writeAgain();
    };
    const written = this.#ready && !this.#doubt ? this.#tail.then(first) : this.#queued(rewrite);
    const done = written.then(() => this.#sync());
    this.#flushed = Promise.allSettled([this.#flushed, done]).then(() => undefined);
    return done;
  }

  async #readFile(
    reader: LogReader<T>,
  ): Promise<{ readonly bytes: Buffer; readonly isChanged: boolean; readonly faults: LogFaults }> {
    const stored = (await readWhole(this.#file).catch(ignoreMissing)) ?? Buffer.alloc(0);
    const bytes = await withCurrentHeader(stored, this.#format);
    return { bytes, isChanged: bytes !== stored, faults: await readLog(bytes, this.#format, reader) };
  }

  #encoded(entry: T): string {
    const { stored } = this.#format;
    return this.#line(stored ? atOnce(stored.form(entry)) : entry);
  }

  async #encodedInTurns(entry: T): Promise<string> {
    const { stored } = this.#format;
    return this.#line(stored ? await inTurns(stored.form(entry), this.#slice) : entry);
  }

  #line(form: unknown): string {
    const { tellsFrom, version } = this.#format;
    return encodeEntry(tellsFrom === undefined ? form : { v: version, ...(form as object) });
  }

  /** Whether an entry cannot be written at once. */
  #waits(entry: T): boolean {
    const isOpen = this.#ready && !this.#failed && this.#waiting === 0;
    return !isOpen || this.#format.stored?.isLong(entry) === true;
  }

  async #replace(
    content: Iterable<Buffer> | AsyncIterable<Buffer>,
    last?: (temporary: string) => void,
  ): Promise<void> {
    await this.#lock?.check(); // a file beside it belongs to its owner, too
    await replaceContent(this.#file, content, { before: () => this.#lock?.check(), last });
    this.#doubt = undefined;
  }

  /** Writes the file again. Short entries are appended to the old one meanwhile, and copied last. */
  async #writeAgain(): Promise<void> {
    const written = await readWhole(this.#file);
    await this.#replace([written], temporary =>
      appendFileSync(temporary, readFileSync(this.#file).subarray(statSync(temporary).size)),
    );
  }

  async #sync(): Promise<void> {
    await syncFile(this.#file, error => (this.#doubt = { error }));
    if (this.#doubt) throw this.#doubt.error; // another sync at the same time has failed
  }

  /** Runs work that appends, after all earlier work and once the log is prepared. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#waiting++;
    return this.#queued(work).finally(() => this.#waiting--);
  }

  /** Like {@link #enqueue}, for work during which short entries are appended at once. */
  #queued(work: () => Promise<void>): Promise<void> {
    const done = this.#tail.then(async () => {
      if (this.#failed) await this.#removeTornEnd(this.#failed);
      if (!this.#ready) await this.#prepare();
      await work();
    });
    this.#tail = done.catch(() => undefined);
    return done;
  }

  /** Prepares the file for appending as {@link readAndRepair} does, without parsing its entries. */
  async #prepare(): Promise<void> {
    await this.#lock?.check();
    await this.readAndRepair({ line: () => true, entry: () => undefined });
  }

  /** Removes the leftovers of a failed append, so that the next entry starts a line of its own. */
  async #removeTornEnd({ ino, from }: FailedAppend): Promise<void> {
    const now = await stat(this.#file, { bigint: true }).catch(ignoreMissing);
    const isSame = now !== undefined && now.ino === ino && now.size >= from;
    if (isSame && now.size > from) {
      await this.#lock?.check(); // the rest may be that of its next owner
      await truncate(this.#file, from);
    }
    this.#ready = isSame && from > 0; // else it starts over, or is another file
    this.#failed = undefined;
  }

  #write(line: string | Buffer): void {
    this.#failed = { from: 0 };
    const handle = openSync(this.#file, APPEND);
    try {
      const { size, ino } = fstatSync(handle, { bigint: true }); // on Windows, a number does not hold each `ino`
      this.#failed = { ino, from: Number(size) };
      // Somebody may have emptied it.
      appendFileSync(handle, size > 0 ? line : encodeHeader(this.#format) + line.toString());
    } finally {
      closeSync(handle);
    }
    this.#failed = undefined;
  }
}

/** Joins lines to pieces large enough for a write each, and lets other work run in between. */
async function* inWrites(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const slice = new TimeSlice();
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const line of lines) {
    waiting.push(line);
    size += line.length;
    await slice.turn();
    if (size < WRITTEN_AT_ONCE) continue;
    yield Buffer.concat(waiting);
    [waiting, size] = [[], 0];
  }
  yield Buffer.concat(waiting);
}

/** Like `readFile`, which blocks the process while it joins the chunks at the end. */
async function readWhole(file: string): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const bytes = Buffer.allocUnsafe((await handle.stat()).size);
    let end = 0;
    while (end < bytes.length) {
      const { bytesRead } = await handle.read(bytes, end, Math.min(READ_AT_ONCE, bytes.length - end), end);
      if (bytesRead === 0) break;
      end += bytesRead;
    }
    return bytes.subarray(0, end);
  } finally {
    await handle.close();
  }
}

/** Handles the error for a file or folder that need not exist. @throws any other error */
export function ignoreMissing(error: unknown): undefined {
  if (hasCode(error, 'ENOENT')) return undefined;
  throw error;
}
