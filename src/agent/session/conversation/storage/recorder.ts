import { LogQueue, marked, type LogSink } from '../../../base/log/logQueue.ts';
import type { SessionLogEntry } from './sessionEntry.ts';

/** The log that a session is written to, e.g. a `JsonLog<SessionLogEntry>`. */
export type SessionLogSink = LogSink<SessionLogEntry>;

/** Callbacks on the state of writing. */
export interface RecorderListeners {
  /** Called once each time that writing stops working. */
  readonly onFailure: (error: unknown) => void;
  /** Called after a failure, once no session fails any more. */
  readonly onRecovery?: () => void;
  /** Called for each entry that can never be written, with the reason. */
  readonly onLoss: (error: unknown) => void;
}

/** Hands an entry to the log before it returns, unless earlier entries are still waiting. */
export type RecordEntry = (entry: SessionLogEntry) => void;

/**
 * Writes the entries of a window's sessions in order: never two queues for one session, since entries of a session that was left
 * may still wait to be written. Entries that cannot be written wait; see {@link LogQueue}.
 */
export class Recorders {
  readonly #logFor: (sessionId: string) => SessionLogSink;
  readonly #listeners: RecorderListeners;
  readonly #queues = new Map<string, LogQueue<SessionLogEntry>>();
  /** The sessions that cannot be written. */
  readonly #failing = new Set<string>();

  /** @param listeners are told of each session that fails, and of the recovery once none does any more. */
  constructor(logFor: (sessionId: string) => SessionLogSink, listeners: RecorderListeners) {
    this.#logFor = logFor;
    this.#listeners = listeners;
  }

  /** Writes a session that is opened. {@link drain} it before its log is read. */
  readonly for = (sessionId: string): RecordEntry => {
    const queue = this.#queues.get(sessionId) ?? this.#begin(sessionId);
    this.#queues.set(sessionId, queue);
    // A message needs no mark, since its id occurs once.
    return entry => void queue.append(entry.type === 'message' ? entry : marked(entry));
  };

  /** Tries to write the waiting entries of a session. @returns whether its log has them all. Never rejects. */
  async drain(sessionId: string): Promise<boolean> {
    return (await this.#queues.get(sessionId)?.drain()) ?? true;
  }

  /** Drops the waiting entries of a deleted session, so that nothing creates its log again. */
  async discard(sessionId: string): Promise<void> {
    await this.#queues.get(sessionId)?.dispose();
    this.#queues.delete(sessionId);
    this.#ended(sessionId);
  }

  /** Tries once more to write the waiting entries of all sessions. @returns whether they are all written. Never rejects. */
  async close(): Promise<boolean> {
    const closed = await Promise.all(Array.from(this.#queues.values(), queue => queue.close()));
    return closed.every(Boolean);
  }

  #begin(sessionId: string): LogQueue<SessionLogEntry> {
    const { onFailure, onLoss } = this.#listeners;
    return new LogQueue(this.#logFor(sessionId), {
      onFailure: error => {
        this.#failing.add(sessionId);
        onFailure(error);
      },
      onRecovery: () => this.#ended(sessionId),
      onDrop: (_, error) => onLoss(error),
    });
  }

  /** A session can be written again, or no longer has to be. */
  #ended(sessionId: string): void {
    if (this.#failing.delete(sessionId) && this.#failing.size === 0) this.#listeners.onRecovery?.();
  }
}
