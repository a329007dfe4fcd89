/** A lock between processes: a file that holds its owner's process id and is taken over once the owner is gone. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 200;
const GIVE_UP_MS = 15 * 60_000;

/**
 * Runs `work` while holding the lock, waiting for another holder first.
 * @template T
 * @param {string} file the lock's path; its folder is made
 * @param {() => Promise<T> | T} work
 * @param {(holder: number) => void} [onWait] called once when another process holds the lock
 * @returns {Promise<T>}
 * @throws {Error} when the lock is held for longer than a quarter of an hour
 */
export async function withFileLock(file, work, onWait = () => {}) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const started = Date.now();
  let told = false;
  for (;;) {
    const holder = tryLock(file);
    if (holder === undefined) break;
    if (!told) onWait(holder);
    told = true;
    if (Date.now() - started > GIVE_UP_MS) {
      throw new Error(
        `Process ${holder} has held ${file} for too long. If it is not at work, delete that file.`,
      );
    }
    await delay(POLL_MS);
  }
  try {
    return await work();
  } finally {
    fs.rmSync(file, { force: true });
  }
}

/** Takes the lock and returns undefined, or returns the id of the live process that holds it. */
function tryLock(file) {
  // Written aside and linked into place, so that nobody ever reads a lock without an owner.
  const mine = `${file}.${process.pid}`;
  fs.writeFileSync(mine, String(process.pid));
  try {
    fs.linkSync(mine, file);
    return undefined;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  } finally {
    fs.rmSync(mine, { force: true });
  }
  const holder = readHolder(file);
  if (holder !== undefined && isAlive(holder)) return holder;
  fs.rmSync(file, { force: true });
  return tryLock(file);
}

function readHolder(file) {
  try {
    return Number(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
