/**
 * Plays random histories with the source in a folder until one violates a rule: `node playHistories.mjs <folder>
 * [<file in test/histories>]`. Prints
 * `found after <how many histories>: <violation>` or `SURVIVED <how many>`.
 */
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';

const [, , folder, histories = 'runtimeSteps'] = process.argv;
const { history, play } = await import(
  pathToFileURL(path.join(folder, 'test', 'histories', `${histories}.ts`)).href
);
const { RUNS, SEED } = process.env;
/** A fault that makes a history hang is found, too: no other one takes this long, in milliseconds. */
const LIMIT_MS = 60_000;
let violation = '';
const property = fc.asyncProperty(history, async one => {
  const [first] = await play(one);
  if (first === undefined) return true;
  violation = first.split('\n', 1)[0];
  return false;
});
const limits = { timeout: LIMIT_MS, endOnFailure: true };
const result = await fc.check(property, { numRuns: Number(RUNS), seed: Number(SEED), ...limits });
console.log(
  result.failed
    ? `found after ${result.numRuns}: ${violation || result.errorInstance}`
    : `SURVIVED ${result.numRuns}`,
);
process.exit(); // a history that hangs may hold timers
