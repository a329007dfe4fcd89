import { LogQueue, marked, type LogSink } from '../../base/logQueue.ts';
import type { SessionLogEntry } from './sessionEntry.ts';

/** The log that a session is written to, e.g. a `JsonLog<SessionLogEntry>`. */
export type SessionLogSink = LogSink<SessionLogEntry>;

/** Writes a session's entries in order. One that cannot be written waits; see {@link LogQueue}. */
export class Recorder {
  readonly #queue: LogQueue<SessionLogEntry>;

  /** @param onFailure called once each time that writing stops working. */
  constructor(log: SessionLogSink, onFailure: (error: unknown) => void) {
    this.#queue = new LogQueue(log, { onFailure });
  }

  /** Hands the entry to the log before it returns, unless earlier entries are still waiting. */
  append(entry: SessionLogEntry): void {
    // A message needs no mark, since its id occurs once.
    const written = this.#queue.append(entry.type === 'message' ? entry : marked(entry));
    written.catch(() => undefined); // one that has no encoding was reported
  }

  /** Whether every entry is written. */
  get isEmpty(): boolean {
    return this.#queue.isEmpty;
  }

  /** Tries to write what waits. @returns whether every entry is written. Never rejects. */
  drain(): Promise<boolean> {
    return this.#queue.drain();
  }

  /** Drops what waits. @returns settles once nothing is being written any more. Never rejects. */
  dispose(): Promise<void> {
    return this.#queue.dispose();
  }
}

/**
 * The recorders of a window: never two for one session, since the entries of one that was left may still wait to be written.
 */
export class Recorders {
  readonly #logFor: (sessionId: string) => SessionLogSink;
  readonly #onFailure: (error: unknown) => void;
  readonly #recorders = new Map<string, Recorder>();

  /** @param onFailure called once each time that writing a session stops working. */
  constructor(logFor: (sessionId: string) => SessionLogSink, onFailure: (error: unknown) => void) {
    this.#logFor = logFor;
    this.#onFailure = onFailure;
  }

  /** The recorder of a session that is opened. {@link drain} it before its log is read. */
  readonly for = (sessionId: string): Recorder => {
    for (const [id, recorder] of this.#recorders) if (recorder.isEmpty) this.#recorders.delete(id);
    const recorder = this.#recorders.get(sessionId) ?? new Recorder(this.#logFor(sessionId), this.#onFailure);
    this.#recorders.set(sessionId, recorder);
    return recorder;
  };

  /** Tries to write what waits of a session. @returns whether its log has all of it. Never rejects. */
  async drain(sessionId: string): Promise<boolean> {
    return (await this.#recorders.get(sessionId)?.drain()) ?? true;
  }

  /** Drops what waits of a session that is deleted, so that nothing makes its log again. */
  async discard(sessionId: string): Promise<void> {
    await this.#recorders.get(sessionId)?.dispose();
    this.#recorders.delete(sessionId);
  }
}
