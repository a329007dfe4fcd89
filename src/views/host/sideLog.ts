import { randomUUID } from 'node:crypto';
import { readdir, rm, rmdir } from 'node:fs/promises';
import * as path from 'node:path';
import type { Disposable } from '../../agent/base/disposable.ts';
import { ProcessLock } from '../../agent/base/processLock.ts';
import type { RecoveryReport } from '../../agent/preview/recoverLandings.ts';

/**
 * The log of a window beside the one that keeps the workspace's previews. It is there for its landings alone: should the
 * window be cut off in the middle of one, the next that opens takes it back. Else it goes with the window.
 */
export interface SideLog extends Disposable {
  readonly file: string;
}

const SUFFIX = '.jsonl';

/** Begins a log in `folder`, which is for such logs alone. */
export async function openSideLog(folder: string): Promise<SideLog> {
  const file = path.join(folder, `${randomUUID()}${SUFFIX}`);
  const lock = await ProcessLock.take(lockOf(file), 0);
  const end = async (): Promise<void> => {
    await rm(file, { force: true });
    await lock?.release();
    await removeIfEmpty(folder);
  };
  return { file, dispose: () => void end() };
}

/**
 * Takes back what windows left that were cut off, and removes their logs. One that cannot be read stays.
 * @param recover takes back what is unfinished in the log of that file.
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
    const lock = await ProcessLock.take(lockOf(file), 0);
    if (!lock) continue; // its window lives
    try {
      reports.push(...(await recover(file)));
      await rm(file, { force: true });
    } catch (error) {
      onFailure(error);
    } finally {
      await lock.release();
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
