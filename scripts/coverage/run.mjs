/**
 * `npm run coverage`: how much of the core (`src/agent`) the unit tests run, by folder, in all their processes and workers.
 * What did not run is listed in `out/coverage.txt`. Fails below the goals here, or when a test fails.
 */
import * as fs from 'node:fs';
import { bootstrap } from '../lib/bootstrap.mjs';

/** In percent of all files together. */
const GOALS = { lines: 95, branches: 90 };

await bootstrap();
const { cleanUp, temporaryFolder } = await import('../lib/cleanup.mjs');
const { inRepo } = await import('../lib/paths.mjs');
const { unit } = await import('../stages/unit.mjs');
const { coverageReport } = await import('./coverageReport.mjs');

const folder = temporaryFolder('redline-coverage-');
// V8 counts less exactly in code that comes from a cache.
const env = { NODE_V8_COVERAGE: folder, NODE_DISABLE_COMPILE_CACHE: '1' };
const { passed, failed } = await unit({ env });
const { table, missed, percent, unreadable } = coverageReport(folder, 'src/agent');
fs.writeFileSync(inRepo('out', 'coverage.txt'), missed);
await cleanUp();

console.log(`\n${table}\n`);
if (unreadable.length > 0)
  console.log(`${unreadable.length} processes could not write what they ran; it is not counted`);
console.log('What did not run is listed in out/coverage.txt.');
const low = Object.entries(GOALS).filter(([kind, goal]) => percent[kind] < goal);
for (const [kind, goal] of low) console.error(`✖ less than ${goal} % of the ${kind} ran`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 && low.length === 0 ? 0 : 1;
