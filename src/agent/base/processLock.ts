import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import type { Alive } from './aliveSocket.ts';
import { hasCode } from './errors.ts';
import type { LockOwner, LockSystem } from './lockOwner.ts';
import { ignoreMissing } from './log/jsonLog.ts';
import { isTransient } from './system/replaceFile.ts';

/** How often an owner checks whether it has been asked, and how long it has to answer, in milliseconds. */
const LOOK_MS = 1_000;
const ANSWER_MS = 8_000;

const lockOwner = () => import('./lockOwner.ts');

/**
 * A lock between processes: a file that names its owner's process id, and the machine and namespace in which that id is valid. It
 * is void once that process has ended, however it ended. An owner elsewhere, such as on another machine with the same home folder,
 * is asked: see `isHeld`.
 */
export class ProcessLock {
  readonly #file: string;
  readonly #text: string;
  readonly #alive: Alive | undefined;
  readonly #answerMs: number;
  readonly #looks: NodeJS.Timeout;
  #lost: Error | undefined;
  #looking: Promise<void> | undefined;
  /** When this process was last found to hold the lock, by the wall clock, which goes on while the machine sleeps. */
  #seen = Date.now();
  /** Whether the last owner ended without releasing it. */
  readonly wasLeft: boolean;

  private constructor(
    file: string,
    text: string,
    alive: Alive | undefined,
    { wasLeft, answerMs }: { readonly wasLeft: boolean; readonly answerMs: number },
  ) {
    this.#file = file;
    this.#text = text;
    this.#alive = alive;
    this.#answerMs = answerMs;
    this.wasLeft = wasLeft;
    this.#looks = setInterval(() => void this.#lookNow(), LOOK_MS).unref();
  }

  /** Whether the last look is so recent that no process elsewhere can have taken the lock over since. */
  get isSure(): boolean {
    const since = Date.now() - this.#seen;
    return !this.#lost && since >= 0 && since < this.#answerMs / 2;
  }

  /**
   * Looks at the lock file, unless it {@link isSure}.
   * @throws `ELOST` once it is released, or another process has taken it over, since this one did not answer in time, e.g. while its
   *   machine slept
   */
  async check(): Promise<void> {
    for (let tries = 0; tries < 2 && !this.isSure && !this.#lost; tries++) await this.#lookNow(); // the first may have begun long ago
    if (this.#lost) throw this.#lost;
  }

  /**
   * Takes the lock, waiting up to `patience` milliseconds for a live owner to release it.
   * @param system for tests.
   * @returns `undefined` if another live process still holds it.
   * @throws any other error of the file system: then it is unknown whether another process holds it.
   */
  static async take(
    file: string,
    patience: number,
    system: Partial<LockSystem> = {},
  ): Promise<ProcessLock | undefined> {
    await mkdir(path.dirname(file), { recursive: true });
    const here = { ...(await thisSystem()), ...system };
    const started = await here.startOf(process.pid);
    // Without start times to tell reused process ids apart, the owner listens as long as it lives.
    const alive = started === undefined ? await (await import('./aliveSocket.ts')).listen() : undefined;
    const { boot, place } = here;
    const owner: LockOwner = { pid: process.pid, started, boot, place, alive: alive?.address };
    const text = JSON.stringify({ ...owner, mark: randomUUID() });
    try {
      const create = (): Promise<boolean> => createLock(file, text);
      const isFree = await create().catch((error: unknown) => {
        if (isTransient(error)) return false;
        throw error;
      });
      const taken = isFree
        ? { wasLeft: false }
        : await (await lockOwner()).waitFor(file, create, patience, here);
      if (taken) return new ProcessLock(file, text, alive, { ...taken, answerMs: here.answerMs });
    } catch (error) {
      alive?.dispose();
      throw error;
    }
    alive?.dispose();
    return undefined;
  }

  /** Whether a live process holds the lock, which stays as it is. */
  static async isHeld(file: string): Promise<boolean> {
    const text = await readFile(file, 'utf8').catch(ignoreMissing);
    return text !== undefined && (await lockOwner()).isHeld(file, text, await thisSystem());
  }

  /**
   * Releases the lock, unless another process has taken it over; {@link check} throws from then on. Rejects if its file cannot be
   * removed.
   */
  async release(): Promise<void> {
    this.#lose('The lock was released.');
    await this.#looking;
    try {
      const now = await readFile(this.#file, 'utf8').catch(() => undefined);
      if (now === this.#text) await rm(this.#file, { force: true });
    } finally {
      this.#alive?.dispose();
    }
  }

  #lose(why: string): void {
    this.#lost ??= Object.assign(new Error(why), { code: 'ELOST' });
    clearInterval(this.#looks);
  }

  #lookNow(): Promise<void> {
    return (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
  }

  /** Answers other processes, and makes the lock again if somebody has deleted it. Never rejects: the next look tries again. */
  async #look(): Promise<void> {
    const now = Date.now();
    try {
      const { answer } = await lockOwner();
      let found = await answer(this.#file, this.#text);
      // Another process may have taken it over meanwhile, and released it again.
      if (found === 'gone' && Date.now() - this.#seen > this.#answerMs) found = 'lost';
      if (found === 'lost') {
        return this.#lose('Another process has taken over the lock.');
      }
      if (found === 'gone') {
        await mkdir(path.dirname(this.#file), { recursive: true });
        if (!(await createLock(this.#file, this.#text))) return; // the next look tells whose it is
      }
      this.#seen = now;
    } catch {
      // For example, the disk is full or unmounted.
    }
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
    await rm(mine, { force: true }).catch(() => undefined); // a virus scanner may have it open
  }
}

async function thisSystem(): Promise<LockSystem> {
  const told = (file: string): Promise<string | undefined> =>
    readFile(file, 'utf8').then(
      text => text.trim(),
      () => undefined,
    );
  const namespace = await readlink('/proc/self/ns/pid').catch(() => undefined);
  return {
    startOf: startOnLinux,
    boot: await told('/proc/sys/kernel/random/boot_id'),
    place: [os.hostname(), await told('/etc/machine-id'), namespace].join(' '),
    answerMs: ANSWER_MS,
  };
}

/** When a process started, in ticks since the system did; only Linux reports it in a file. */
async function startOnLinux(pid: number): Promise<string | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is the program's name in parentheses, which may hold anything.
  return line?.slice(line.lastIndexOf(')') + 2).split(' ')[19];
}
