import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import * as path from 'node:path';
import { ignoreMissing, JsonLog, type LogLock } from '../../../base/log/jsonLog.ts';
import type { LogFaults } from '../../../base/log/logFormat.ts';
import type { LogSink } from '../../../base/log/logQueue.ts';
import type { Logger } from '../../../base/logger.ts';
import { Emitter, type Event } from '../../../base/event.ts';
import { ProcessLock } from '../../../base/processLock.ts';
import { imageFolderOf } from './imageFiles.ts';
import { sessionLogFormat, type SessionLogEntry } from './sessionEntry.ts';
import type { SessionSummary } from './sessionSummary.ts';
import { SessionReader, type StoredSession } from './storedSession.ts';

/** The sessions of one workspace: a folder with one append-only log for each. */
export class SessionLogs {
  readonly #folder: string;
  readonly #lock: LogLock | undefined;
  /** The log that was read last. It is kept because it is ready for appending. */
  #last: { readonly id: string; readonly log: JsonLog<SessionLogEntry> } | undefined;
  readonly #held = new Map<string, ProcessLock>();
  readonly #changed = new Emitter<void>();

  /** Fires when a stored session was renamed or deleted. */
  readonly onDidChangeStored: Event<void> = this.#changed.event;

  /** @param lock of the storage, for the window that owns it */
  constructor(folder: string, lock?: LogLock) {
    this.#folder = folder;
    this.#lock = lock;
  }

  open(id: string): JsonLog<SessionLogEntry> {
    if (this.#last?.id === id) return this.#last.log;
    return new JsonLog(this.fileOf(id), sessionLogFormat, this.#lock);
  }

  /**
   * The log of a session, for a window that does not own the storage. The first entry locks the session until {@link release}, so
   * that no other window opens it; if that fails, the log is written all the same.
   */
  openHeld(id: string): LogSink<SessionLogEntry> {
    const log = this.open(id);
    return {
      append: async entry => {
        const held =
          this.#held.get(id) ?? (await ProcessLock.take(this.#lockOf(id), 0).catch(() => undefined));
        if (held) this.#held.set(id, held);
        await held?.check();
        await log.append(entry);
      },
      appendNow: entry => this.#held.get(id)?.isSure === true && log.appendNow(entry),
    };
  }

  /** Whether a window holds the session; see {@link openHeld}. */
  isHeld(id: string): Promise<boolean> {
    return ProcessLock.isHeld(this.#lockOf(id));
  }

  /** Lets other windows open the sessions of this one, which no longer writes them. */
  async release(): Promise<void> {
    const held = [...this.#held.values()];
    this.#held.clear();
    await Promise.all(held.map(lock => lock.release()));
  }

  /**
   * Reads a session in order to continue it. A torn last line is removed from the file, a line that cannot be parsed is
   * skipped; both are logged.
   * @throws UnknownLogVersionError for a log of a newer version, which is left unchanged; any error of the file system.
   */
  async readAndRepair(sessionId: string, logger: Logger): Promise<StoredSession> {
    const log = this.open(sessionId);
    const stored = await readSession(sessionId, logger, reader => log.readAndRepair(reader));
    this.#last = { id: sessionId, log };
    return stored;
  }

  /**
   * Reads a session without changing its file, to which another window may be writing. Otherwise like {@link
   * readAndRepair}.
   */
  read(sessionId: string, logger: Logger): Promise<StoredSession> {
    return readSession(sessionId, logger, reader => this.open(sessionId).read(reader));
  }

  /**
   * The sessions of the folder, most recently used first. Their content is not read.
   * @throws any error of the file system, except that there is no folder yet.
   */
  async list(): Promise<SessionFile[]> {
    const names = await readdir(this.#folder).catch(ignoreMissing);
    if (!names) return [];
    const found = await Promise.all(
      names
        .filter(name => name.endsWith('.jsonl'))
        .map(async name => {
          const file = path.join(this.#folder, name);
          // It may have been deleted in the meantime.
          const stats = await stat(file).catch(() => undefined);
          if (!stats?.isFile()) return [];
          return [{ id: name.slice(0, -'.jsonl'.length), usedAt: stats.mtime, bytes: stats.size }];
        }),
    );
    return found.flat().sort((a, b) => b.usedAt.getTime() - a.usedAt.getTime() || (a.id < b.id ? 1 : -1));
  }

  /** The id of the most recently used session that no window holds; `undefined` if there is none. */
  async latest(): Promise<string | undefined> {
    for (const { id } of await this.list()) if (!(await this.isHeld(id))) return id;
    return undefined;
  }

  /** Reads the summary of a session for a list. @throws any error of the file system. */
  async summarize(sessionId: string): Promise<SessionSummary> {
    const { summaryOf } = await import('./sessionSummary.ts');
    return summaryOf(await readFile(this.fileOf(sessionId)));
  }

  /** Makes the session count as used now, although nothing was added to it. */
  async touch(sessionId: string, now = new Date()): Promise<void> {
    await utimes(this.fileOf(sessionId), now, now);
  }

  /** Renames a session that is not open. Renaming does not count as using it. */
  async rename(sessionId: string, title: string): Promise<void> {
    const { usedAt } = (await this.list()).find(({ id }) => id === sessionId) ?? {};
    await this.open(sessionId).append({ type: 'title', title });
    if (usedAt) await this.touch(sessionId, usedAt);
    this.#changed.fire();
  }

  /** Deletes a session and its images. It must not be open. */
  async delete(sessionId: string): Promise<void> {
    if (this.#last?.id === sessionId) this.#last = undefined;
    await rm(this.fileOf(sessionId), { force: true });
    await this.#held.get(sessionId)?.release(); // else it makes its file again
    this.#held.delete(sessionId);
    await rm(this.#lockOf(sessionId), { force: true });
    await rm(path.join(this.#folder, imageFolderOf(sessionId)), { recursive: true, force: true });
    this.#changed.fire();
  }

  /** The path of a session's log, which need not exist yet. */
  fileOf(sessionId: string): string {
    return path.join(this.#folder, `${sessionId}.jsonl`);
  }

  #lockOf(sessionId: string): string {
    return path.join(this.#folder, `${sessionId}.lock`);
  }
}

async function readSession(
  id: string,
  logger: Logger,
  read: (reader: SessionReader) => Promise<LogFaults>,
): Promise<StoredSession> {
  const reader = new SessionReader(node =>
    logger.warn(`Session ${id}: skipped message ${node}, which could not be parsed`),
  );
  const { badLines, torn } = await read(reader);
  if (badLines.length > 0)
    logger.warn(`Session ${id}: skipped lines that could not be parsed: ${badLines.join(', ')}`);
  if (torn) logger.warn(`Session ${id}: dropped a torn last line`);
  return reader.session(id);
}

/** A session's file, without its content. */
export interface SessionFile {
  readonly id: string;
  readonly usedAt: Date;
  readonly bytes: number;
}

/** A new session id. Ids sort by the time they were made. */
export function newSessionId(now = Date.now()): string {
  return `s${now.toString(36).padStart(9, '0')}${Math.random().toString(36).slice(2, 8)}`;
}
