import { hasCode } from '../errors.ts';

/** How long after the first unflushed append a flush begins, in milliseconds: a power cut costs about a second. */
const SOON_MS = 500;

/** Flushes a log soon after each append to it, and again until that works. */
export class SoonFlushed {
  readonly #log: { readonly flush: () => Promise<void> };
  readonly #onFailure: (error: unknown) => void;
  readonly #onRecovery: () => void;
  #soon: NodeJS.Timeout | undefined;
  #appends = 0;
  /** How many of the appends a flush has covered. */
  #flushed = 0;
  #isFailing = false;
  #isClosed = false;

  /**
   * @param onFailure called once each time that flushing stops working.
   * @param onRecovery called once it works again.
   */
  constructor(
    log: { readonly flush: () => Promise<void> },
    onFailure: (error: unknown) => void,
    onRecovery: () => void = () => undefined,
  ) {
    this.#log = log;
    this.#onFailure = onFailure;
    this.#onRecovery = onRecovery;
  }

  /** Whether a failure was told, and no flush has worked since. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** An entry was appended. */
  appended(): void {
    this.#appends++;
    this.#flushSoon();
  }

  /** Settles once everything appended so far would survive a power cut; rejects if that fails. */
  async flush(): Promise<void> {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    const appends = this.#appends;
    try {
      await this.#log.flush();
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) this.#flushSoon();
      throw error;
    }
    this.#flushed = Math.max(this.#flushed, appends);
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#onRecovery();
  }

  /** Flushes the remaining appends; later ones are not flushed. @returns whether that worked */
  async close(): Promise<boolean> {
    this.#isClosed = true;
    clearTimeout(this.#soon);
    return this.#flushed === this.#appends || this.#flushNow();
  }

  #flushSoon(): void {
    if (!this.#isClosed) this.#soon ??= setTimeout(() => void this.#flushNow(), SOON_MS).unref();
  }

  #flushNow(): Promise<boolean> {
    return this.flush().then(
      () => true,
      (error: unknown) => {
        if (hasCode(error, 'ENOENT')) return true; // nothing is left to flush; the next append reports that
        if (!this.#isFailing) this.#onFailure(error);
        this.#isFailing = true;
        return false;
      },
    );
  }
}
