import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** How often a lock that is held is looked at again, in milliseconds. */
const POLL = 50;

interface Owner {
  readonly pid: number;
  /** When that process began, where the system tells: another process may get the same id later. */
  readonly started?: string;
}

/**
 * Says that one live process uses something: a file with the owner's process id and start time, which counts for nothing
 * once that process is gone.
 */
export class ProcessLock {
  readonly #file: string;
  readonly #text: string;

  private constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  /**
   * Takes the lock, waiting for a live owner no longer than `patience` milliseconds: one that is about to end.
   * @returns `undefined` when another live process keeps it.
   */
  static async take(file: string, patience: number): Promise<ProcessLock | undefined> {
    await mkdir(path.dirname(file), { recursive: true });
    const text = JSON.stringify({
      pid: process.pid,
      started: await startOf(process.pid),
      mark: randomUUID(),
    });
    const until = Date.now() + patience;
    for (;;) {
      if (await placeWhole(file, text)) return new ProcessLock(file, text);
      if (await removeIfDead(file)) continue;
      if (Date.now() >= until) return undefined;
      await delay(POLL);
    }
  }

  /** Gives the lock up. One that was taken over meanwhile stays. */
  async release(): Promise<void> {
    if ((await textOf(this.#file)) === this.#text) await rm(this.#file, { force: true });
  }
}

/** Puts the file there with all of its text, unless one is there. */
async function placeWhole(file: string, text: string): Promise<boolean> {
  const mine = `${file}.${randomUUID()}`;
  await writeFile(mine, text);
  try {
    await link(mine, file);
    return true;
  } catch (error) {
    if (isThere(error)) return false;
    // A file system without hard links: then a reader may, for a moment, see a lock without its owner.
    return await writeFile(file, text, { flag: 'wx' }).then(
      () => true,
      (second: unknown) => {
        if (isThere(second)) return false;
        throw second;
      },
    );
  } finally {
    await rm(mine, { force: true });
  }
}

function isThere(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST';
}

/** Removes a lock whose owner is gone; false when its owner lives. */
async function removeIfDead(file: string): Promise<boolean> {
  const text = await textOf(file);
  if (text === undefined) return true;
  if (await isHeld(file, text)) return false;
  // Taken aside first: whoever else found it dead may have put a live one there since.
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch {
    return true;
  }
  if ((await textOf(aside)) !== text) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
  return true;
}

async function isHeld(file: string, text: string): Promise<boolean> {
  const owner = ownerIn(text);
  if (!owner || !isAlive(owner.pid)) return false;
  const started = await startOf(owner.pid);
  if (started !== undefined && owner.started !== undefined) return started === owner.started;
  // Where no start times are known, a lock from before the system began counts for nothing.
  const made = (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
  return made >= Date.now() - os.uptime() * 1000;
}

function ownerIn(text: string): Owner | undefined {
  try {
    const owner = JSON.parse(text) as Partial<Owner> | null;
    return typeof owner?.pid === 'number' && Number.isInteger(owner.pid) && owner.pid > 0
      ? (owner as Owner)
      : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process began, in ticks since the system began; only Linux tells it in a file. */
async function startOf(pid: number): Promise<string | undefined> {
  const line = await textOf(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses, which may hold anything.
  return line?.slice(line.lastIndexOf(')') + 2).split(' ')[19];
}

function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}
