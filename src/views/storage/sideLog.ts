import { randomUUID } from 'node:crypto';
import { readdir, rm, rmdir } from 'node:fs/promises';
import * as path from 'node:path';
import { hasCode } from '../../agent/base/errors.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import type { RecoveryReport } from '../../agent/hold/preview/commit/recovery.ts';
import { PreviewLog } from '../../agent/hold/preview/log/openPreviewLog.ts';
import { type PreviewLogEntry, type PreviewLogSink } from '../../agent/hold/preview/log/previewLog.ts';

/**
 * The log of a window that does not own the workspace's storage. It exists only as a journal: if the window dies in the middle of
 * a commit, the next window ends that. Otherwise the log is deleted when the window closes.
 */
export interface SideLog {
  readonly file: string;
  /**
   * The window closes.
   * @param isComplete whether the log has everything, and no commit is under way. If not, it stays for the next window.
   */
  close(isComplete: boolean): Promise<void>;
}

const SUFFIX = '.jsonl';
/** How often the folder is made again if another window removes it, empty, at that moment. */
const ATTEMPTS = 5;

/** Creates a log in `folder`, which must hold nothing but such logs. */
export async function openSideLog(folder: string): Promise<SideLog> {
  const file = path.join(folder, `${randomUUID()}${SUFFIX}`);
  const lock = await lockInFolder(lockOf(file));
  return {
    file,
    close: async isComplete => {
      if (isComplete) await rm(file, { force: true });
      await lock?.release();
      await removeIfEmpty(folder);
    },
  };
}

async function lockInFolder(file: string): Promise<ProcessLock | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ProcessLock.take(file, 0);
    } catch (error) {
      const isFolderGone = hasCode(error, 'ENOENT');
      if (!isFolderGone || attempt === ATTEMPTS) throw error;
    }
  }
}

/** A {@link SideLog} that is opened as soon as that is possible: each attempt to write tries it again until then. */
export class SidePreviewLog implements PreviewLogSink {
  readonly #folder: string;
  readonly #onOpen: () => void;
  #opening: Promise<PreviewLog> | undefined;
  #open: { readonly side: SideLog; readonly log: PreviewLog } | undefined;

  /** @param onOpen called once the log is open. */
  constructor(folder: string, onOpen: () => void) {
    this.#folder = folder;
    this.#onOpen = onOpen;
  }

  /** Opens the log before anything is written. @throws any error of the file system */
  async open(): Promise<void> {
    await this.#opened();
  }

  async append(entry: PreviewLogEntry): Promise<void> {
    await (await this.#opened()).append(entry);
  }

  appendNow(entry: PreviewLogEntry): boolean {
    return this.#open?.log.appendNow(entry) ?? false;
  }

  async flush(): Promise<void> {
    await (await this.#opened()).flush();
  }

  async compact(rewrite: (entry: PreviewLogEntry) => readonly PreviewLogEntry[]): Promise<void> {
    await (await this.#opened()).compact(rewrite);
  }

  /** See {@link SideLog.close}. */
  async close(isComplete: boolean): Promise<void> {
    await this.#open?.side.close(isComplete);
  }

  #opened(): Promise<PreviewLog> {
    this.#opening ??= this.#tryToOpen();
    return this.#opening;
  }

  async #tryToOpen(): Promise<PreviewLog> {
    try {
      const side = await openSideLog(this.#folder);
      const log = new PreviewLog(side.file);
      this.#open = { side, log };
      this.#onOpen();
      return log;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}

/** How far the recovery of one log got. */
export interface SideLogRecovery {
  readonly reports: readonly RecoveryReport[];
  /** Whether nothing is left in the log that is not stored elsewhere. If so, it is deleted. */
  readonly isDone: boolean;
}

/**
 * Ends the interrupted commits in logs whose windows are gone, and deletes the logs that are done with. A log that cannot be
 * read stays.
 * @param recover ends what is unfinished in one log file.
 */
export async function recoverSideLogs(
  folder: string,
  recover: (file: string) => Promise<SideLogRecovery>,
  onFailure: (error: unknown) => void,
): Promise<readonly RecoveryReport[]> {
  const all: RecoveryReport[] = [];
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter(name => name.endsWith(SUFFIX))) {
    const file = path.join(folder, name);
    try {
      const lock = await ProcessLock.take(lockOf(file), 0);
      if (!lock) continue; // its window is still open
      try {
        const { reports, isDone } = await recover(file);
        all.push(...reports);
        if (isDone) await rm(file, { force: true });
      } finally {
        await lock.release();
      }
    } catch (error) {
      onFailure(error);
    }
  }
  await removeIfEmpty(folder);
  return all;
}

function removeIfEmpty(folder: string): Promise<void> {
  return rmdir(folder).catch(() => undefined);
}

function lockOf(file: string): string {
  return file.replace(SUFFIX, '.lock');
}
