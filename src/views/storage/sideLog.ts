import { randomUUID } from 'node:crypto';
import { readdir, rm, rmdir } from 'node:fs/promises';
import * as path from 'node:path';
import type { Disposable } from '../../agent/base/disposable.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import type { RecoveryReport } from '../../agent/preview/commit/recovery.ts';

/**
 * The log of a window that does not own the workspace's storage. It exists only as a journal: if the window dies in the middle of
 * a commit, the next window ends that. Otherwise the log is deleted when the window closes.
 */
export interface SideLog extends Disposable {
  readonly file: string;
}

const SUFFIX = '.jsonl';

/** Creates a log in `folder`, which must hold nothing but such logs. */
export async function openSideLog(folder: string): Promise<SideLog> {
  const file = path.join(folder, `${randomUUID()}${SUFFIX}`);
  const lock = await ProcessLock.take(lockOf(file), 0);
  const end = async (): Promise<void> => {
    await rm(file, { force: true });
    await lock?.release();
    await removeIfEmpty(folder);
  };
  return { file, dispose: () => void end().catch(() => undefined) };
}

/**
 * Ends the interrupted commits in logs whose windows are gone, and deletes those logs. A log that cannot be read stays.
 * @param recover ends what is unfinished in one log file.
 */
export async function recoverSideLogs(
  folder: string,
  recover: (file: string) => Promise<readonly RecoveryReport[]>,
  onFailure: (error: unknown) => void,
): Promise<readonly RecoveryReport[]> {
  const reports: RecoveryReport[] = [];
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter(name => name.endsWith(SUFFIX))) {
    const file = path.join(folder, name);
    try {
      const lock = await ProcessLock.take(lockOf(file), 0);
      if (!lock) continue; // its window is still open
      try {
        reports.push(...(await recover(file)));
        await rm(file, { force: true });
      } finally {
        await lock.release();
      }
    } catch (error) {
      onFailure(error);
    }
  }
  await removeIfEmpty(folder);
  return reports;
}

function removeIfEmpty(folder: string): Promise<void> {
  return rmdir(folder).catch(() => undefined);
}

function lockOf(file: string): string {
  return file.replace(SUFFIX, '.lock');
}
