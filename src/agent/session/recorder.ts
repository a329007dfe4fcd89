import type { SessionLogEntry } from './sessionEntry.ts';

/** Where a session is written. `JsonLog<SessionLogEntry>` is one. */
export interface SessionLogSink {
  append(entry: SessionLogEntry): Promise<void>;
}

/**
 * Writes a session's entries in their order. An entry that cannot be written, on a full disk for one, waits in memory
 * and is tried again before the next one: the file has no gap once there is room again.
 */
export class Recorder {
  readonly #log: SessionLogSink;
  readonly #onFailure: (error: unknown) => void;
  readonly #waiting: SessionLogEntry[] = [];
  #isWriting = false;
  #failing = false;

  /** @param onFailure told once for each time that writing stops working. */
  constructor(log: SessionLogSink, onFailure: (error: unknown) => void) {
    this.#log = log;
    this.#onFailure = onFailure;
  }

  /** Takes the entry, and has handed it to the log when it returns unless others wait before it. */
  append(entry: SessionLogEntry): void {
    this.#waiting.push(entry);
    if (!this.#isWriting) void this.#write();
  }

  /** Never rejects. Nothing comes between the last look for entries and the end of the writing: none is left lying. */
  async #write(): Promise<void> {
    this.#isWriting = true;
    for (let entry = this.#waiting[0]; entry; entry = this.#waiting[0]) {
      try {
        await this.#log.append(entry);
      } catch (error) {
        if (!this.#failing) this.#onFailure(error);
        this.#failing = true;
        break;
      }
      this.#failing = false;
      this.#waiting.shift();
    }
    this.#isWriting = false;
  }
}
