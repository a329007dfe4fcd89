/** What VS Code has stored in the browser: some time after it was made, and not if the window is reloaded before. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Workbench } from '../../../scripts/headless/workbench.mjs';

const STORED_MS = 40_000;
const POLL_MS = 50;

/** In the page: keys and texts of all databases. */
const ENTRIES = `(async () => {
  const done = request => new Promise((resolve, reject) => {
    request.onerror = () => reject(request.error);
    request.onsuccess = () => resolve(request.result);
  });
  const textOf = value => (value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value));
  const entries = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const content = database.transaction(store).objectStore(store);
      const [keys, values] = await Promise.all([done(content.getAllKeys()), done(content.getAll())]);
      entries.push(...keys.map((key, index) => [String(key), textOf(values[index])]));
    }
    database.close();
  }
  return entries;
})()`;

/**
 * Waits until an entry is as expected.
 * @param what it is, for the error when the time is up
 */
export async function untilStored(
  { page }: Workbench,
  what: string,
  isExpected: (key: string, text: string) => boolean,
): Promise<void> {
  for (const deadline = Date.now() + STORED_MS; ; await delay(POLL_MS)) {
    const entries = await page.evaluate<[string, string][]>(ENTRIES);
    if (entries.some(([key, text]) => isExpected(key, text))) return;
    assert.ok(Date.now() < deadline, `Timed out waiting for ${what} to be stored.`);
  }
}
