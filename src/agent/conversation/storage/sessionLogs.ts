import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import * as path from 'node:path';
import { eachLine, parseLine } from '../../base/log/jsonLines.ts';
import { JsonLog } from '../../base/log/jsonLog.ts';
import { migrateLog, type LogFaults } from '../../base/log/logFormat.ts';
import type { Logger } from '../../base/logger.ts';
import { imageFolderOf } from './imageFiles.ts';
import { parseSessionEntry, sessionLogFormat, type SessionLogEntry } from './sessionEntry.ts';
import { messageHead } from './storedLine.ts';
import { SessionReader, type StoredSession } from './storedSession.ts';

/** The sessions of one workspace: a folder with one append-only log for each. */
export class SessionLogs {
  readonly #folder: string;
  /** The log that was read last. It is kept because it is ready for appending. */
  #last: { readonly id: string; readonly log: JsonLog<SessionLogEntry> } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  open(id: string): JsonLog<SessionLogEntry> {
    if (this.#last?.id === id) return this.#last.log;
    return new JsonLog(this.fileOf(id), sessionLogFormat);
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

  /** The sessions of the folder, the one used last first. Their content is not read. */
  async list(): Promise<SessionFile[]> {
    const names = await readdir(this.#folder).catch(() => [] as string[]);
    const found = await Promise.all(
      names
        .filter(name => name.endsWith('.jsonl'))
        .map(async name => {
          const file = path.join(this.#folder, name);
          // It may have been deleted meanwhile.
          const stats = await stat(file).catch(() => undefined);
          if (!stats?.isFile()) return [];
          return [{ id: name.slice(0, -'.jsonl'.length), usedAt: stats.mtime, bytes: stats.size }];
        }),
    );
    return found.flat().sort((a, b) => b.usedAt.getTime() - a.usedAt.getTime() || (a.id < b.id ? 1 : -1));
  }

  /** The id of the session used last; `undefined` if there is none. */
  async latest(): Promise<string | undefined> {
    return (await this.list())[0]?.id;
  }

  /** Reads what a list shows of a session. @throws any error of the file system. */
  async summarize(sessionId: string): Promise<SessionSummary> {
    return summaryOf(await migrateLog(await readFile(this.fileOf(sessionId)), sessionLogFormat));
  }

  /** Makes the session count as used now, although nothing was added to it. */
  async touch(sessionId: string, now = new Date()): Promise<void> {
    await utimes(this.fileOf(sessionId), now, now);
  }

  /** Renames a session that is not open. It does not count as used by that. */
  async rename(sessionId: string, title: string): Promise<void> {
    const { usedAt } = (await this.list()).find(({ id }) => id === sessionId) ?? {};
    await this.open(sessionId).append({ type: 'title', title });
    if (usedAt) await this.touch(sessionId, usedAt);
  }

  /** Deletes a session and its images. It must not be open. */
  async delete(sessionId: string): Promise<void> {
    if (this.#last?.id === sessionId) this.#last = undefined;
    await rm(this.fileOf(sessionId), { force: true });
    await rm(path.join(this.#folder, imageFolderOf(sessionId)), { recursive: true, force: true });
  }

  /** The path of a session's log, which need not exist yet. */
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
    logger.warn(`Session ${id}: skipped message ${node}, which could not be parsed`),
  );
  const { badLines, torn } = await read(reader);
  if (badLines.length > 0)
    logger.warn(`Session ${id}: skipped lines that could not be parsed: ${badLines.join(', ')}`);
  if (torn) logger.warn(`Session ${id}: dropped a torn last line`);
  return reader.session(id);
}

/** What a list shows of a session. */
export interface SessionSummary {
  /** The name that the user gave it. */
  readonly title: string | undefined;
  /** The first prompt, else the first command; empty if there is neither. */
  readonly firstWords: string;
  /** The number of prompts and answers on all branches. */
  readonly messages: number;
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

const TITLE = Buffer.from('{"type":"title"');

/** Summarizes a log, parsing only the lines that the summary needs. Malformed lines are ignored. */
export async function summaryOf(bytes: Buffer): Promise<SessionSummary> {
  let title: string | undefined;
  let prompt: string | undefined;
  let command: string | undefined;
  let messages = 0;
  await eachLine(bytes, (start, end) => {
    const entry = (): SessionLogEntry | undefined => parseSessionEntry(parseLine(bytes, start, end));
    const head = messageHead(bytes, start, end);
    if (head?.role === 'user' || head?.role === 'assistant') messages++;
    if (head?.role === 'user') prompt ??= wordsOf(entry());
    else if (head?.role === 'local') command ??= wordsOf(entry());
    else if (!head && bytes.subarray(start, start + TITLE.length).equals(TITLE)) {
      const found = entry();
      if (found?.type === 'title') title = found.title;
    }
  });
  return { title, firstWords: prompt ?? command ?? '', messages };
}

function wordsOf(entry: SessionLogEntry | undefined): string | undefined {
  return entry?.type === 'message' && 'text' in entry.message ? entry.message.text : undefined;
}
