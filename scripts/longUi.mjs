/**
 * `npm run test:ui-long`: the UI tests of test/ui/long, which `npm test` leaves out: every button and command, four themes,
 * history, custom tools, hostile texts, good manners. They test the last package: run `npm run package` first.
 *
 *   npm run test:ui-long -- customTools        the tests of one file
 *   npm run test:ui-long -- --grep=trusted     only tests whose name matches
 */
import * as fs from 'node:fs';
import { parseArgs } from 'node:util';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { values, positionals } = parseArgs({ options: { grep: { type: 'string' } }, allowPositionals: true });
const { repoRoot } = await import('./lib/paths.mjs');
const { runFiles } = await import('./stages/fileLanes.mjs');
const files = fs.globSync(`test/ui/long/${positionals[0] ?? '*'}.test.ts`, { cwd: repoRoot });
const { failed } = await runFiles('ui-long', files, { lanes: 1, grep: values.grep });
process.exitCode = failed === 0 ? 0 : 1;
