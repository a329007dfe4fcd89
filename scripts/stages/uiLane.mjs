/**
 * Runs files of UI tests one after the other in this process, so that they share one VS Code:
 * `node --test-reporter=… uiLane.mjs <queue>`. The queue is a folder with an empty file for each test file that is still
 * to be run, named `<place in the order>-<file>`, and is shared with the other lanes. A file whose tests were all run, passed
 * or not, is then in the folder's subfolder `ended`.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inRepo } from '../lib/paths.mjs';

process.env.REDLINE_UI_LANE = '1';
const { closeIdle } = await import('../../test/ui/support/sharedWorkbench.ts');

const queue = process.argv[2];
for (let file = take(); file !== undefined; file = take()) {
  let loaded = false;
  await suite(file, async () => {
    await import(pathToFileURL(inRepo('test', 'ui', file)).href);
    loaded = true;
  });
  if (loaded) fs.writeFileSync(path.join(queue, 'ended', file), '');
}
await closeIdle();

/** Takes the next file from the queue: the rename succeeds in one process alone. */
function take() {
  const waiting = fs.readdirSync(queue).filter(name => name.endsWith('.test.ts'));
  for (const name of waiting.sort()) {
    try {
      fs.renameSync(path.join(queue, name), path.join(queue, 'begun', name));
      return name.replace(/^\d+-/, '');
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}
