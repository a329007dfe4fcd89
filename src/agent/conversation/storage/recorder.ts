import { LogQueue, marked, type LogSink } from '../../base/log/logQueue.ts';
import type { SessionLogEntry } from './sessionEntry.ts';

/** The log that a session is written to, e.g. a `JsonLog<SessionLogEntry>`. */
export type SessionLogSink = LogSink<SessionLogEntry>;

/** Is told how writing goes. */
export interface RecorderListeners {
  /** Called once each time that writing stops working. */
  readonly onFailure: (error: unknown) => void;
  /** Called once everything is written again after a failure. */
  readonly onRecovery?: () => void;
  /** Called for each entry that can never be written, with the reason. */
  readonly onLoss: (error: unknown) => void;
}

/** Writes a session's entries in order. One that cannot be written waits; see {@link LogQueue}. */
export class Recorder {
  readonly #queue: LogQueue<SessionLogEntry>;

  constructor(log: SessionLogSink, { onFailure, onRecovery, onLoss }: RecorderListeners) {
    this.#queue = new LogQueue(log, { onFailure, onRecovery, onDrop: (_, error) => onLoss(error) });
  }

  /** Hands the entry to the log before it returns, unless earlier entries are still waiting. */
  append(entry: SessionLogEntry): void {
    // A message needs no mark, since its id occurs once.
    void this.#queue.append(entry.type === 'message' ? entry : marked(entry));
  }

  /** Whether every entry is written. */
  get isEmpty(): boolean {
    return this.#queue.isEmpty;
  }

  /** Tries to write what waits. @returns whether every entry is written. Never rejects. */
  drain(): Promise<boolean> {
    return this.#queue.drain();
  }

  /** Tries once more to write what waits. @returns whether every entry is written. Never rejects. */
  close(): Promise<boolean> {
    return this.#queue.close();
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
  readonly #listeners: RecorderListeners;
  readonly #recorders = new Map<string, Recorder>();
  /** The sessions that cannot be written. */
  readonly #failing = new Set<string>();

  /** @param listeners are told of each session that fails, and of the recovery once none does any more. */
  constructor(logFor: (sessionId: string) => SessionLogSink, listeners: RecorderListeners) {
    this.#logFor = logFor;
    this.#listeners = listeners;
  }

  /** The recorder of a session that is opened. {@link drain} it before its log is read. */
  readonly for = (sessionId: string): Recorder => {
    for (const [id, recorder] of this.#recorders) if (recorder.isEmpty) this.#recorders.delete(id);
    const recorder =
      this.#recorders.get(sessionId) ?? new Recorder(this.#logFor(sessionId), this.#listenersOf(sessionId));
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
    this.#ended(sessionId);
  }

  /** Tries once more to write what waits of all sessions. @returns whether all of it is written. Never rejects. */
  async close(): Promise<boolean> {
    const closed = await Promise.all(Array.from(this.#recorders.values(), recorder => recorder.close()));
    return closed.every(Boolean);
  }

  #listenersOf(sessionId: string): RecorderListeners {
    const { onFailure, onLoss } = this.#listeners;
    return {
      onFailure: error => {
        this.#failing.add(sessionId);
        onFailure(error);
      },
      onRecovery: () => this.#ended(sessionId),
      onLoss,
    };
  }

  /** A session can be written again, or no longer has to be. */
  #ended(sessionId: string): void {
    if (this.#failing.delete(sessionId) && this.#failing.size === 0) this.#listeners.onRecovery?.();
  }
}
