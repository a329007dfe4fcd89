/**
 * Cleans up when this process ends: normally, by an uncaught error, or by SIGINT, SIGTERM or SIGHUP. Whoever starts a
 * process or makes a temporary folder registers here how to end or delete it.
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

/** After a signal, asynchronous cleanup may take this long, in milliseconds. */
const ORDERLY_MS = 8_000;

/** @type {Set<{ run: () => Promise<unknown>, runSync: () => void }>} */
const tasks = new Set();
let listening = false;
let signalled = false;

/**
 * Registers work to do before this process ends.
 * @param {() => unknown} cleanup may be asynchronous; called at most once
 * @param {() => void} [cleanupSync] called when the process exits before `cleanup` is done
 * @returns {() => Promise<unknown>} does the cleanup now, and unregisters it
 */
export function atExit(cleanup, cleanupSync = cleanup) {
  listen();
  let done;
  const task = {
    run: () =>
      (done ??= Promise.resolve()
        .then(cleanup)
        .finally(() => tasks.delete(task))),
    runSync: cleanupSync,
  };
  tasks.add(task);
  return task.run;
}

/** Does all registered cleanup, newest first. One that fails is reported, and the others are still done. */
export async function cleanUp() {
  for (const task of [...tasks].reverse()) {
    try {
      await task.run();
    } catch (error) {
      console.error('Cleaning up failed:', error);
    }
  }
}

/** True once a signal asked this process to end: errors after that are expected and need not be reported. */
export const isEnding = () => signalled;

/** @type {Map<string, () => Promise<unknown>>} */
const folders = new Map();

/**
 * Makes a temporary folder that is deleted when the process ends, unless REDLINE_KEEP=1.
 * @param {string} prefix
 * @returns {string} its absolute path, without symbolic links
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

/** Deletes a folder of `temporaryFolder` now. */
export async function removeTemporaryFolder(folder) {
  await folders.get(folder)?.();
  folders.delete(folder);
}

function removeFolder(folder) {
  try {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    console.error(`Could not delete ${folder}: ${error.message}`);
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
    for (const task of [...tasks].reverse()) {
      try {
        task.runSync();
      } catch {
        // Too late to report it.
      }
    }
  });
}
