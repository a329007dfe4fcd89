import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseStat, processNow, type SeenProcess } from '../../base/system/processTable.ts';

/** How often it is looked whether a process is gone, in milliseconds. */
const POLL_MS = 10;
/** How long what was killed may take to go. Only a disk or network that does not answer takes longer. */
export const GONE_MS = 30_000;

/** The first process of a pid namespace: once it is gone, so are all others. The system gives its id again, with another start. */
export type FirstProcess = Pick<SeenProcess, 'pid' | 'started'>;

/** Where the first process of the program that runs in a view notes itself, in the storage of the view. */
export function noteIn(storage: string): string {
  return path.join(storage, 'first');
}

/** @param note what `/proc` said of the process */
export function firstIn(note: string): FirstProcess | undefined {
  return parseStat(Number.parseInt(note, 10), note);
}

/** The first process that was noted in a storage and is not gone. */
export async function runningIn(storage: string): Promise<FirstProcess | undefined> {
  const first = firstIn(await fs.readFile(noteIn(storage), 'utf8').catch(() => ''));
  return first && isRunning(first) ? first : undefined;
}

function isRunning({ pid, started }: FirstProcess): boolean {
  return processNow(pid)?.started === started;
}

/** @returns false if it is gone */
export function kill(first: FirstProcess): boolean {
  if (!isRunning(first)) return false;
  try {
    process.kill(first.pid, 'SIGKILL');
    return true;
  } catch {
    return isRunning(first);
  }
}

/** Ends a namespace. @returns false if something in it is still there after {@link GONE_MS} */
export async function ended(first: FirstProcess): Promise<boolean> {
  const until = Date.now() + GONE_MS;
  while (kill(first)) {
    if (Date.now() > until) return false;
    await delay(POLL_MS);
  }
  return true;
}
