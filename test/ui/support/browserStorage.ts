/** What VS Code has stored in the browser: some time after it was made, and not if the window is reloaded before. */
import type { Workbench } from './workbench.mjs';
import { polled } from '../../../scripts/lib/limits.mjs';

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
  await polled(`${what} to be stored`, async () => {
    const entries = await page.evaluate<[string, string][]>(ENTRIES);
    return entries.some(([key, text]) => isExpected(key, text));
  });
}
