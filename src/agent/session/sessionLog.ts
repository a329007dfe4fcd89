import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import * as path from 'node:path';
import type { LogFaults } from '../base/jsonLines.ts';
import type { Logger } from '../base/log.ts';
import { JsonLog } from '../base/jsonLog.ts';
import { header, parseSessionEntry, type SessionLogEntry } from './sessionEntry.ts';
import { summaryOf, type SessionSummary } from './sessionSummary.ts';
import { SessionReader, type StoredSession } from './storedSession.ts';

/** The sessions of one workspace: a folder with one append-only log for each. */
export class SessionLogs {
  readonly #folder: string;
  /** The log that was read last: it need not be made ready for what is said next. */
  #last: { readonly id: string; readonly log: JsonLog<SessionLogEntry> } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  open(id: string): JsonLog<SessionLogEntry> {
    if (this.#last?.id === id) return this.#last.log;
    return new JsonLog(this.fileOf(id), header, parseSessionEntry);
  }

  /**
   * The session as its log has it, for taking it up. A torn last line is dropped, a line that cannot be read is skipped;
   * both are logged.
   * @throws UnknownLogVersionError for a log of a newer version, which is left as it is; any error of the file system.
   */
  async read(sessionId: string, logger: Logger): Promise<StoredSession> {
    const log = this.open(sessionId);
    const stored = await readSession(sessionId, logger, reader => log.read(reader));
    this.#last = { id: sessionId, log };
    return stored;
  }

  /** The same for looking at it: its file, to which another window may be writing, is not changed. */
  view(sessionId: string, logger: Logger): Promise<StoredSession> {
    return readSession(sessionId, logger, reader => this.open(sessionId).view(reader));
  }

  /** The sessions of the folder, the one that was used last first. Nothing of them is read. */
  async list(): Promise<SessionFile[]> {
    const names = await readdir(this.#folder).catch(() => [] as string[]);
    const found = await Promise.all(
      names
        .filter(name => name.endsWith('.jsonl'))
        .map(async name => {
          const file = path.join(this.#folder, name);
          // One that was deleted meanwhile is none.
          const stats = await stat(file).catch(() => undefined);
          if (!stats?.isFile()) return [];
          return [{ id: name.slice(0, -'.jsonl'.length), usedAt: stats.mtime, bytes: stats.size }];
        }),
    );
    return found.flat().sort((a, b) => b.usedAt.getTime() - a.usedAt.getTime() || (a.id < b.id ? 1 : -1));
  }

  /** The id of the session that was used last. */
  async latest(): Promise<string | undefined> {
    return (await this.list())[0]?.id;
  }

  /** What a list shows of a session. @throws any error of the file system. */
  async describe(sessionId: string): Promise<SessionSummary> {
    return summaryOf(await readFile(this.fileOf(sessionId)));
  }

  /** The session counts as used now, though nothing was said in it. */
  async touch(sessionId: string, now = new Date()): Promise<void> {
    await utimes(this.fileOf(sessionId), now, now);
  }

  /** Gives a name to a session that is not open. */
  async rename(sessionId: string, title: string): Promise<void> {
    const { usedAt } = (await this.list()).find(({ id }) => id === sessionId) ?? {};
    await this.open(sessionId).append({ type: 'title', title });
    if (usedAt) await this.touch(sessionId, usedAt);
  }

  /** Removes a session for good. It must not be open. */
  async delete(sessionId: string): Promise<void> {
    if (this.#last?.id === sessionId) this.#last = undefined;
    await rm(this.fileOf(sessionId), { force: true });
  }

  /** Where a session is written; it may have no file yet. */
  fileOf(sessionId: string): string {
    return path.join(this.#folder, `${sessionId}.jsonl`);
  }
}

async function readSession(
  id: string,
  logger: Logger,
  read: (reader: SessionReader) => Promise<LogFaults>,
): Promise<StoredSession> {
  const reader = new SessionReader(node =>
    logger.warn(`Session ${id}: skipped message ${node}, which could not be read`),
  );
  const { badLines, torn } = await read(reader);
  if (badLines.length > 0)
    logger.warn(`Session ${id}: skipped lines that could not be read: ${badLines.join(', ')}`);
  if (torn) logger.warn(`Session ${id}: dropped a last line that was not written to its end`);
  return reader.session(id);
}

/** A stored session from outside. */
export interface SessionFile {
  readonly id: string;
  readonly usedAt: Date;
  readonly bytes: number;
}

/** A new session id: later ones sort behind earlier ones. */
export function newSessionId(now = Date.now()): string {
  return `s${now.toString(36).padStart(9, '0')}${Math.random().toString(36).slice(2, 8)}`;
}
