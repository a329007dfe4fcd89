import { readdir, readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { LAST_PLAUSIBLE } from '../../agent/base/claimedNumbers.ts';
import { eachLine } from '../../agent/base/log/jsonLines.ts';

/**
 * The highest number of a preview's id that any log in this storage names, in which an older version stored previews and
 * conversations without counting them; 0 if there is none. One too high to be a count is left out. A log that cannot be read counts for nothing.
 */
export async function highestNumberIn(storage: string): Promise<number> {
  let highest = 0;
  for (const folder of ['.', 'sessions', 'windows']) {
    const names = await readdir(path.join(storage, folder)).catch(() => []);
    for (const name of names.filter(name => name.endsWith('.jsonl'))) {
      const bytes = await readFile(path.join(storage, folder, name)).catch(() => Buffer.alloc(0));
      await eachLine(bytes, (start, end) => {
        // Not what the text of a message or a file quotes: there, a backslash comes before each quotation mark.
        for (const [, number] of bytes.toString('latin1', start, end).matchAll(/"p([1-9]\d{0,10})"/g))
          if (Number(number) <= LAST_PLAUSIBLE) highest = Math.max(highest, Number(number));
      });
    }
  }
  return highest;
}
