import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { answers } from './aliveSocket.ts';
import { hasCode } from './errors.ts';
import { parsedJson } from './json.ts';
import { ignoreMissing } from './log/jsonLog.ts';
import { isTransient } from './system/replaceFile.ts';

/** The process that a lock names. */
export interface LockOwner {
  readonly pid: number;
  /** When that process started, if the system reports it: process ids are reused. */
  readonly started?: string | undefined;
  /** The start of the system that the process belongs to, if the system reports it. */
  readonly boot?: string | undefined;
  /** Where the process has this id: the machine, and on Linux the namespace, such as a container's. */
  readonly place?: string | undefined;
  /** The address at which the process listens as long as it lives, if the system does not report start times. */
  readonly alive?: string | undefined;
}

/** Facts of the system that this process runs on. */
export interface LockSystem extends Pick<LockOwner, 'boot' | 'place'> {
  /** When a process started, if the system reports it. */
  readonly startOf: (pid: number) => Promise<string | undefined>;
  /** How long an owner has to answer, in milliseconds. */
  readonly answerMs: number;
}

/**
 * The modification times of the lock file that mean a question and its answer: every machine reads them alike, whatever its clock
 * says and however exact the file system is.
 */
const ASKED = new Date('1990-01-01');
const ANSWERED = new Date('2010-01-01');
/** How long to wait before a held lock is looked at again, in milliseconds. */
const POLL = 50;
/** How many times a lock that is gone is created again without waiting, since other processes may be creating theirs. */
const AT_ONCE = 5;

/**
 * Whether a live process holds the lock with this text. One of this place is found by its id and start. An owner elsewhere is asked;
 * one that does not answer in time counts as dead, one that cannot be asked as living.
 */
export async function isHeld(file: string, text: string, here: LockSystem): Promise<boolean> {
  return (await stateOf(file, text, here)) === 'held';
}

/** `silent`: the owner was asked and did not answer in time. */
async function stateOf(file: string, text: string, here: LockSystem): Promise<'held' | 'dead' | 'silent'> {
  const owner = ownerIn(text);
  if (!owner) return 'dead';
  const isHere = owner.place === undefined || owner.place === here.place;
  const lives = isHere ? await livesHere(owner, here) : undefined;
  if (lives !== undefined) return lives ? 'held' : 'dead';
  return (await isAnswered(file, text, here.answerMs)) ? 'held' : 'silent';
}

/** Whether an owner of this place lives; `undefined` if only its answer could show that. */
async function livesHere(owner: LockOwner, here: LockSystem): Promise<boolean | undefined> {
  if (!isAlive(owner.pid)) return false;
  if (here.boot !== undefined && owner.boot !== undefined && here.boot !== owner.boot) return false;
  const started = await here.startOf(owner.pid);
  if (started !== undefined && owner.started !== undefined) return started === owner.started;
  const isListening = owner.alive === undefined ? undefined : await answers(owner.alive);
  return isListening ?? (owner.place === undefined ? true : undefined); // older versions do not answer
}

async function isAnswered(file: string, text: string, answerMs: number): Promise<boolean> {
  const until = performance.now() + answerMs;
  try {
    await utimes(file, ASKED, ASKED);
    for (;;) {
      const isLate = performance.now() >= until;
      // Read first: on a network disk, opening a file brings its times up to date.
      if ((await readFile(file, 'utf8')) !== text || !(await isAsked(file))) return true;
      if (isLate) return false;
      await delay(POLL);
    }
  } catch (error) {
    return !hasCode(error, 'ENOENT');
  }
}

async function isAsked(file: string): Promise<boolean> {
  return (await stat(file)).mtimeMs < (ASKED.getTime() + ANSWERED.getTime()) / 2;
}

/**
 * The owner of the lock with this text answers another process that has asked.
 * @returns `ours` also if the file names no owner, for example while it is being written; `gone` if there is no file; `lost` if it
 *   names another owner
 */
export async function answer(file: string, text: string): Promise<'ours' | 'gone' | 'lost'> {
  const whose = async (): Promise<'ours' | 'gone' | 'lost'> => {
    const now = await readFile(file, 'utf8').catch(ignoreMissing);
    if (now === undefined) return 'gone';
    return now === text || !ownerIn(now) ? 'ours' : 'lost'; // perhaps it is just being read in part
  };
  const before = await whose();
  if (before !== 'ours') return before;
  if (await isAsked(file)) await utimes(file, ANSWERED, ANSWERED);
  return whose(); // an answer that is too late is one to the next owner's lock
}

/**
 * Takes a lock that could not be created, waiting up to `patience` milliseconds for a live owner to release it.
 * @returns whether a dead owner had left it; `undefined` if a live process has it
 */
export async function waitFor(
  file: string,
  create: () => Promise<boolean>,
  patience: number,
  here: LockSystem,
): Promise<{ readonly wasLeft: boolean } | undefined> {
  const until = performance.now() + patience;
  let wasLeft = false;
  for (let attempt = 1; ; attempt++) {
    try {
      if (await create()) return { wasLeft };
      const was = await removeIfDead(file, here);
      const isGone = was !== 'held';
      wasLeft ||= was === 'left';
      if (isGone && attempt <= AT_ONCE) continue;
      if (performance.now() >= until) {
        // For example, a dangling link.
        if (isGone) throw new Error(`The lock ${file} can neither be made nor read.`);
        return undefined;
      }
    } catch (error) {
      if (!isTransient(error) || performance.now() >= until) throw error;
    }
    await delay(POLL);
  }
}

/** Removes a lock whose owner has ended without releasing it. */
async function removeIfDead(file: string, here: LockSystem): Promise<'held' | 'left' | 'released'> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing);
  if (text === undefined) return 'released';
  const state = await stateOf(file, text, here);
  if (state === 'held') return 'held';
  // Moved aside and checked: another process may have replaced the dead lock with its own since, or its owner may have answered.
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'released';
    throw error;
  }
  const moved = await readFile(aside, 'utf8').catch(ignoreMissing);
  const isHeldAgain = moved !== text || (state === 'silent' && !(await isAsked(aside)));
  if (isHeldAgain) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true }).catch(() => undefined); // a virus scanner may have it open
  return isHeldAgain ? 'held' : 'left';
}

function ownerIn(text: string): LockOwner | undefined {
  const owner = parsedJson(text) as Partial<LockOwner> | null | undefined;
  return typeof owner?.pid === 'number' && Number.isInteger(owner.pid) && owner.pid > 0
    ? (owner as LockOwner)
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
