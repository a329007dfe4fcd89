/**
 * What this process started or made and must take away again, however it ends: normally, by an uncaught error, or
 * by SIGINT, SIGTERM or SIGHUP.
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

/** Longest time a signal waits for the orderly way, in milliseconds. */
const ORDERLY_MS = 8_000;

/** @type {Set<{ end: () => Promise<unknown>, atOnce: () => void }>} */
const duties = new Set();
let listening = false;
let signalled = false;

/**
 * Registers something to be taken away.
 * @param {() => unknown} orderly may be asynchronous; called at most once, when there is time
 * @param {() => void} [atOnce] synchronous; called when the process exits before `orderly` is done
 * @returns {() => Promise<unknown>} does it now and forgets it
 */
export function atExit(orderly, atOnce = orderly) {
  listen();
  let done;
  const duty = {
    end: () =>
      (done ??= Promise.resolve()
        .then(orderly)
        .finally(() => duties.delete(duty))),
    atOnce,
  };
  duties.add(duty);
  return duty.end;
}

/** Does all that is registered, newest first. A failing one does not keep the others. */
export async function cleanUp() {
  for (const duty of [...duties].reverse()) {
    try {
      await duty.end();
    } catch (error) {
      console.error('cleaning up failed:', error);
    }
  }
}

/** True once a signal asked this process to end: what fails from now on is no news. */
export const isEnding = () => signalled;

/** @type {Map<string, () => Promise<unknown>>} */
const folders = new Map();

/**
 * Makes a folder under the system's temporary folder that goes when the process ends (kept with REDLINE_KEEP=1).
 * @param {string} prefix
 * @returns {string} its real path, absolute
 */
export function temporaryFolder(prefix) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), prefix)));
  if (!process.env.REDLINE_KEEP)
    folders.set(
      folder,
      atExit(() => removeFolder(folder)),
    );
  return folder;
}

/** Removes a folder of `temporaryFolder` now. */
export async function removeTemporaryFolder(folder) {
  await folders.get(folder)?.();
  folders.delete(folder);
}

function removeFolder(folder) {
  try {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    console.error(`could not remove ${folder}: ${error.message}`);
  }
}

function listen() {
  if (listening) return;
  listening = true;
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
    process.on(signal, () => {
      if (signalled) return;
      signalled = true;
      const end = () => process.exit(128 + number);
      setTimeout(end, ORDERLY_MS);
      void cleanUp().finally(end);
    });
  }
  process.on('exit', () => {
    for (const duty of [...duties].reverse()) {
      try {
        duty.atOnce();
      } catch {
        // Nobody is left to tell.
      }
    }
  });
}
