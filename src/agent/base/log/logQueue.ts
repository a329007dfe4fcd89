import { randomUUID } from 'node:crypto';
import { EncodingError } from './jsonLines.ts';

/** The log that a {@link LogQueue} writes to, e.g. a `JsonLog`. */
export interface LogSink<T> {
  /** Writes an entry after those before it. Rejects if it could not be written; then it may be appended again. */
  append(entry: T): Promise<void>;
  /**
   * Writes an entry before returning, if that is possible right now. False if not: then the entry does not count as
   * written, and may be appended again.
   */
  appendNow?(entry: T): boolean;
}

export interface LogQueueOptions<T> {
  /** Called once each time that writing stops working. */
  readonly onFailure: (error: unknown) => void;
  /**
   * Called with each entry that is dropped because it can never be written, and with the reason. An entry whose caller needs
   * it now is not reported here.
   */
  readonly onDrop: (entry: T, error: EncodingError) => void;
  /** Called after each entry that is written. */
  readonly onAppend?: () => void;
  /** Called once everything is written again after a failure. */
  readonly onRecovery?: (() => void) | undefined;
}

/** How long to wait before the first retry, in milliseconds. Each further one waits twice as long as the one before. */
const FIRST_RETRY_MS = 500;
/** The longest wait between two retries, in milliseconds. */
const MAX_RETRY_MS = 30_000;

interface Waiting<T> {
  readonly entry: T;
  /** Whether the entry is dropped if it cannot be written now. */
  readonly nowOrNever: boolean;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Writes entries to a log in the order of the calls. Entries that cannot be written, for example because the disk is
 * full, wait in memory and are retried in order after a while, so that the log has no gap once writing works again. Later
 * entries join them, and only one that is needed now brings the next attempt forward. An entry that has no encoding is
 * dropped, since it can never be written.
 */
export class LogQueue<T> {
  readonly #log: LogSink<T>;
  readonly #options: LogQueueOptions<T>;
  #waiting: Waiting<T>[] = [];
  #isWriting = false;
  /** Called when the attempt to write that is under way has ended. */
  #onEnd: (() => void)[] = [];
  #isFailing = false;
  #retry: NodeJS.Timeout | undefined;
  #retryAfter = FIRST_RETRY_MS;
  #isDisposed = false;

  constructor(log: LogSink<T>, options: LogQueueOptions<T>) {
    this.#log = log;
    this.#options = options;
  }

  /** Whether everything that was appended is written. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Appends an entry. If nothing waits, it is handed to the log before this returns.
   * @param options `nowOrNever`: the entry is useless later. If it, or an entry before it, cannot be written now, it is dropped,
   *   and the promise rejects with the error of the log, which is also reported. The promise of any other entry never rejects.
   * @returns `undefined` if nothing is left to wait for; else settles once the entry is written, waits or was dropped, and a
   *   failure was reported.
   */
  append(
    entry: T,
    { nowOrNever = false }: { readonly nowOrNever?: boolean } = {},
  ): Promise<void> | undefined {
    if (this.#isDisposed) return nowOrNever ? Promise.reject(closed()) : undefined;
    if (this.isEmpty && this.#log.appendNow?.(entry)) {
      this.#options.onAppend?.();
      return undefined;
    }
    if (this.#isBackingOff && !nowOrNever) {
      this.#waiting.push({ entry, nowOrNever, settle: nothing, fail: nothing });
      return undefined;
    }
    return new Promise((settle, fail) => {
      this.#waiting.push({ entry, nowOrNever, settle, fail });
      if (!this.#isWriting) void this.#write();
    });
  }

  /** Tries to write everything that waits. @returns whether all of it is written; false once it is closed. Never rejects. */
  async drain(): Promise<boolean> {
    if (this.#isWriting) await this.#ended(); // an attempt that began earlier may fail for a reason that is gone
    if (!this.isEmpty && !this.#isDisposed) {
      const ended = this.#ended();
      if (!this.#isWriting) void this.#write();
      await ended;
    }
    return this.isEmpty && !this.#isDisposed;
  }

  /** Settles when the attempt to write that is under way has ended. */
  #ended(): Promise<void> {
    return new Promise(resolve => this.#onEnd.push(resolve));
  }

  /**
   * Tries once more to write the waiting entries. After that, nothing is written or retried.
   * @returns whether everything that was appended is written. Never rejects.
   */
  async close(): Promise<boolean> {
    const isWritten = await this.drain();
    await this.dispose();
    return isWritten;
  }

  /**
   * Drops the waiting entries and every later one, and ends the retries.
   * @returns settles once nothing is being written any more. Never rejects.
   */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#retry);
    if (this.#isWriting) await this.#ended();
    for (const { nowOrNever, settle, fail } of this.#waiting.splice(0)) {
      if (nowOrNever) fail(closed());
      else settle();
    }
  }

  /** Whether the last attempt failed, and the next one has not begun. */
  get #isBackingOff(): boolean {
    return this.#isFailing && !this.#isWriting;
  }

  /** Never rejects. No entry is left behind: nothing is awaited between the last check for entries and the end. */
  async #write(): Promise<void> {
    this.#isWriting = true;
    clearTimeout(this.#retry);
    let failure: { readonly error: unknown } | undefined;
    for (let next = this.#waiting[0]; next && !failure && !this.#isDisposed; next = this.#waiting[0]) {
      try {
        await this.#log.append(next.entry);
        this.#options.onAppend?.();
        this.#waiting.shift();
        next.settle();
      } catch (error) {
        if (error instanceof EncodingError) this.#drop(error);
        else failure = { error };
      }
    }
    this.#isWriting = false;
    if (failure) this.#failed(failure.error);
    else if (this.isEmpty) this.#succeeded(); // else the log was closed
    for (const end of this.#onEnd.splice(0)) end();
  }

  /** Drops the first entry, which would hold up all others for good. */
  #drop(error: EncodingError): void {
    const dropped = this.#waiting.shift();
    if (!dropped) return;
    if (dropped.nowOrNever) return dropped.fail(error);
    this.#options.onDrop(dropped.entry, error);
    dropped.settle();
  }

  #succeeded(): void {
    this.#retryAfter = FIRST_RETRY_MS;
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#options.onRecovery?.();
  }

  #failed(error: unknown): void {
    const failed = this.#waiting;
    this.#waiting = failed.filter(({ nowOrNever }) => !nowOrNever);
    if (!this.#isFailing) this.#options.onFailure(error);
    this.#isFailing = true;
    for (const { nowOrNever, settle, fail } of failed) {
      if (nowOrNever) fail(error);
      else settle();
    }
    if (this.#isDisposed) return;
    this.#retry = setTimeout(() => void this.#write(), this.#retryAfter);
    this.#retry.unref(); // waiting for the disk keeps no process alive
    this.#retryAfter = Math.min(2 * this.#retryAfter, MAX_RETRY_MS);
  }
}

function nothing(): void {}

function closed(): Error {
  return new Error('The log is closed.');
}

/**
 * The entry with a unique mark, by which a reader notices a line that is in the log twice: a write may be reported as failed
 * although the line was written.
 */
export function marked<T extends object>(entry: T): T & { readonly mark: string } {
  return { ...entry, mark: randomUUID() };
}
