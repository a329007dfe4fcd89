import { hasCode } from '../errors.ts';
import type { LogSink } from './logQueue.ts';

/** A log that can be flushed, e.g. a `JsonLog`. */
export interface FlushableLog<T> extends LogSink<T> {
  /** Settles once everything appended so far would survive a power cut. */
  flush(): Promise<void>;
}

/** How long after the first append that is not flushed a flush begins, in milliseconds: a power cut costs about a second. */
const SOON_MS = 500;

/** Passes appends on to a log, and flushes it soon after each. */
export class SoonFlushed<T> implements LogSink<T> {
  readonly #log: FlushableLog<T>;
  readonly #onFailure: (error: unknown) => void;
  #soon: NodeJS.Timeout | undefined;

  /** @param onFailure called each time that flushing fails. */
  constructor(log: FlushableLog<T>, onFailure: (error: unknown) => void) {
    this.#log = log;
    this.#onFailure = onFailure;
  }

  async append(entry: T): Promise<void> {
    await this.#log.append(entry);
    this.#flushSoon();
  }

  appendNow(entry: T): boolean {
    if (!this.#log.appendNow?.(entry)) return false;
    this.#flushSoon();
    return true;
  }

  /** Settles once everything appended so far would survive a power cut; rejects if that fails. */
  flush(): Promise<void> {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    return this.#log.flush();
  }

  /** Flushes the appends that are not flushed yet. @returns whether that worked */
  async close(): Promise<boolean> {
    return this.#soon === undefined || this.#flushNow();
  }

  #flushSoon(): void {
    this.#soon ??= setTimeout(() => void this.#flushNow(), SOON_MS).unref();
  }

  #flushNow(): Promise<boolean> {
    return this.flush().then(
      () => true,
      (error: unknown) => {
        if (hasCode(error, 'ENOENT')) return true; // nothing is left to flush; the next append reports that
        this.#onFailure(error);
        return false;
      },
    );
  }
}
