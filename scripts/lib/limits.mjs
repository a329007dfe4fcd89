/**
 * How long tests may take. Each limit is given for a machine as fast as ours, and is multiplied by how much slower this one is.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** The time that the work below takes on our machine, in milliseconds. */
const OURS_MS = 35;
const SLOWNESS = 'REDLINE_SLOWNESS';
const POLL_MS = 50;

/** How much slower this machine is than ours, from 1 to 10. It is measured once: the processes that are started inherit it. */
function slowness() {
  process.env[SLOWNESS] ??= String(Math.min(10, Math.max(1, measure() / OURS_MS)));
  return Number(process.env[SLOWNESS]);
}

function measure() {
  const started = performance.now();
  let digest = Buffer.alloc(64);
  for (let n = 0; n < 20_000; n++) digest = createHash('sha512').update(digest).digest();
  return performance.now() - started;
}

/**
 * A limit for this machine.
 * @param {number} ms enough on ours
 * @returns {number}
 */
export const limitMs = ms => Math.ceil(ms * slowness());

/** How long no test may begin or end in a process that runs tests, until it counts as hanging. */
export const quietMs = () => limitMs(5 * 60_000);

/**
 * Reads again and again until there is a value: for changes that no event announces.
 * @template T
 * @param {string} what the wait is for, for the error when the time is up
 * @param {() => T | Promise<T>} read
 * @param {number} [ms] how long it may take on our machine
 * @returns {Promise<Exclude<T, undefined | null | false>>} the first value but undefined, null and false
 */
export async function polled(what, read, ms = 40_000) {
  const deadline = performance.now() + limitMs(ms);
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`Timed out waiting for ${what}.`);
    await delay(POLL_MS);
  }
}
