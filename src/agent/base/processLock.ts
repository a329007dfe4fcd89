import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Alive } from './aliveSocket.ts';
import { hasCode } from './errors.ts';
import { parsedJson } from './json.ts';
import { isTransient } from './system/replaceFile.ts';

/** How long to wait before a held lock is checked again, in milliseconds. */
const POLL = 50;
/** How many times a lock that is gone is created again without waiting, since other processes may be creating theirs. */
const AT_ONCE = 5;

interface Owner {
  readonly pid: number;
  /** When that process started, if the system tells: process ids are reused. */
  readonly started?: string | undefined;
  /** The start of the system that the process belongs to, if the system tells. */
  readonly boot?: string | undefined;
  /** The address at which the process listens as long as it lives, if the system does not tell start times. */
  readonly alive?: string | undefined;
}

/** When a process started, if the system tells. */
type StartOf = (pid: number) => Promise<string | undefined>;

/**
 * A lock between processes: a file with its owner's process id and start time. It is void once that process has ended,
 * however it ended.
 */
export class ProcessLock {
  readonly #file: string;
  readonly #text: string;
  readonly #alive: Alive | undefined;
  /** Whether the last owner ended without releasing it. */
  readonly wasLeft: boolean;

  private constructor(file: string, text: string, alive: Alive | undefined, wasLeft: boolean) {
    this.#file = file;
    this.#text = text;
    this.#alive = alive;
    this.wasLeft = wasLeft;
  }

  /**
   * Takes the lock, waiting up to `patience` milliseconds for a live owner to release it.
   * @param startOf when a process started, if the system tells; for tests.
   * @returns `undefined` if another live process still holds it.
   * @throws any other error of the file system: then it is unknown whether another process holds it.
   */
  static async take(
    file: string,
    patience: number,
    startOf: StartOf = startOnLinux,
  ): Promise<ProcessLock | undefined> {
    await mkdir(path.dirname(file), { recursive: true });
    const started = await startOf(process.pid);
    // Without start times to tell reused process ids apart, the owner listens as long as it lives.
    const alive = started === undefined ? await (await import('./aliveSocket.ts')).listen() : undefined;
    const owner: Owner = { pid: process.pid, started, boot: await bootOf(), alive: alive?.address };
    const text = JSON.stringify({ ...owner, mark: randomUUID() });
    try {
      const taken = await takeFile(file, text, patience, startOf);
      if (taken) return new ProcessLock(file, text, alive, taken.wasLeft);
    } catch (error) {
      alive?.dispose();
      throw error;
    }
    alive?.dispose();
    return undefined;
  }

  /** Whether a live process holds the lock, which stays as it is. */
  static async isHeld(file: string): Promise<boolean> {
    const text = await textOf(file);
    return text !== undefined && (await isHeld(file, text, startOnLinux));
  }

  /** Releases the lock, unless another process has taken it over. Rejects if its file cannot be removed. */
  async release(): Promise<void> {
    try {
      const now = await textOf(this.#file).catch(() => undefined);
      if (now === this.#text) await rm(this.#file, { force: true });
    } finally {
      this.#alive?.dispose();
    }
  }
}

/** @returns `undefined` if a live process has it */
async function takeFile(
  file: string,
  text: string,
  patience: number,
  startOf: StartOf,
): Promise<{ readonly wasLeft: boolean } | undefined> {
  const until = Date.now() + patience;
  let wasLeft = false;
  for (let attempt = 1; ; attempt++) {
    try {
      if (await createLock(file, text)) return { wasLeft };
      const was = await removeIfDead(file, startOf);
      const isGone = was !== 'held';
      wasLeft ||= was === 'left';
      if (isGone && attempt <= AT_ONCE) continue;
      if (Date.now() >= until) {
        // For example, a dangling link.
        if (isGone) throw new Error(`The lock ${file} can neither be made nor read.`);
        return undefined;
      }
    } catch (error) {
      if (!isTransient(error) || Date.now() >= until) throw error;
    }
    await delay(POLL);
  }
}

/** Creates the lock file with its text, atomically; false if there is one. */
async function createLock(file: string, text: string): Promise<boolean> {
  const mine = `${file}.${randomUUID()}`;
  try {
    await writeFile(mine, text);
    await link(mine, file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    // The file system has no hard links: for a moment, a reader may see a lock without its owner.
    return await writeFile(file, text, { flag: 'wx' }).then(
      () => true,
      (second: unknown) => {
        if (hasCode(second, 'EEXIST')) return false;
        throw second;
      },
    );
  } finally {
    await rm(mine, { force: true });
  }
}

/** Removes a lock whose owner has ended without releasing it. */
async function removeIfDead(file: string, startOf: StartOf): Promise<'held' | 'left' | 'released'> {
  const text = await textOf(file);
  if (text === undefined) return 'released';
  if (await isHeld(file, text, startOf)) return 'held';
  // Moved aside and checked: another process may have replaced the dead lock with its own since.
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'released';
    throw error;
  }
  if ((await textOf(aside)) !== text) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
  return 'left';
}

async function isHeld(file: string, text: string, startOf: StartOf): Promise<boolean> {
  const owner = ownerIn(text);
  if (!owner || !isAlive(owner.pid)) return false;
  const boot = await bootOf();
  if (boot !== undefined && owner.boot !== undefined && boot !== owner.boot) return false;
  const started = await startOf(owner.pid);
  if (started !== undefined && owner.started !== undefined) return started === owner.started;
  const isAnswered =
    owner.alive === undefined ? undefined : await (await import('./aliveSocket.ts')).answers(owner.alive);
  if (isAnswered !== undefined) return isAnswered;
  // Without start times, at least a lock from before the system's last start is void.
  const made = (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
  return made >= Date.now() - os.uptime() * 1000;
}

function ownerIn(text: string): Owner | undefined {
  const owner = parsedJson(text) as Partial<Owner> | null | undefined;
  return typeof owner?.pid === 'number' && Number.isInteger(owner.pid) && owner.pid > 0
    ? (owner as Owner)
    : undefined;
}

/** Whether a process with this id runs. It may be another one by now. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** When a process started, in ticks since the system did; only Linux tells it in a file. */
async function startOnLinux(pid: number): Promise<string | undefined> {
  const line = await textOf(`/proc/${pid}/stat`).catch(() => undefined);
  // The second field is the program's name in parentheses, which may hold anything.
  return line?.slice(line.lastIndexOf(')') + 2).split(' ')[19];
}

/** An id of this start of the system, which only Linux tells. */
async function bootOf(): Promise<string | undefined> {
  return (await textOf('/proc/sys/kernel/random/boot_id').catch(() => undefined))?.trim();
}

/** The text of a file; `undefined` if there is none. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
