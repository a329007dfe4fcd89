/** A lock between processes: a file that contains its owner's process id. It is taken over once that process has ended. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 200;
const GIVE_UP_MS = 15 * 60_000;

/**
 * Waits for the lock, and runs `work` while holding it.
 * @template T
 * @param {string} file the lock's path; its folder is made if needed
 * @param {string} doing of the process that holds it, for the line that a wait prints: `installing packages`
 * @param {() => Promise<T> | T} work
 * @returns {Promise<T>}
 * @throws {Error} when another process holds the lock for longer than 15 minutes
 */
export async function withFileLock(file, doing, work) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const started = Date.now();
  let told = false;
  for (;;) {
    const holder = tryLock(file);
    if (holder === undefined) break;
    if (!told) console.log(`redline: waiting for process ${holder}, which is ${doing} …`);
    told = true;
    if (Date.now() - started > GIVE_UP_MS) {
      throw new Error(
        `Process ${holder} has held the lock ${file} for 15 minutes. If it is no longer working, delete that file.`,
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

/** Takes the lock and returns undefined, or returns the id of the running process that holds it. */
function tryLock(file) {
  // Written elsewhere and linked into place, so that a lock without its owner's id is never read.
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
