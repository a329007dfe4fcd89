import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseStat, processNow, readProcesses, type SeenProcess } from '../../base/system/processTable.ts';

/** How often a process is checked for its end, in milliseconds. */
const POLL_MS = 10;
/** How long a killed process may take to end, in milliseconds. It takes longer only if a disk or network does not answer. */
export const GONE_MS = 30_000;

/** The first process of a pid namespace: once it is gone, so are all others. The system reuses its id, but with another start. */
export type FirstProcess = Pick<SeenProcess, 'pid' | 'started'>;

/** The file in a view's storage in which the first process of the program in the view records itself. */
export function noteIn(storage: string): string {
  return path.join(storage, 'first');
}

/** @param note the line of the process in `/proc/<pid>/stat` */
export function firstIn(note: string): FirstProcess | undefined {
  return parseStat(Number.parseInt(note, 10), note);
}

/** The first process that is recorded in a storage, if it is not gone. */
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

/** Kills all processes of a namespace. @returns false if something in it is still there after {@link GONE_MS} */
export async function endAll(first: FirstProcess): Promise<boolean> {
  const until = Date.now() + GONE_MS;
  while (kill(first)) {
    if (Date.now() > until) return false;
    await delay(POLL_MS);
  }
  return true;
}

/**
 * Passes a signal on to a process or, if that is bubblewrap, which ignores it, to the program that bubblewrap has started. Never
 * rejects.
 */
export async function passOn(signal: NodeJS.Signals, to: number): Promise<void> {
  const all = await readProcesses().catch(() => []);
  const programsAt = (one: SeenProcess): readonly SeenProcess[] =>
    one.name === 'bwrap' ? all.filter(({ parent }) => parent === one.pid).flatMap(programsAt) : [one];
  for (const { pid } of all.filter(each => each.pid === to).flatMap(programsAt))
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
}
