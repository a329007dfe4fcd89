/**
 * `npm run test:ui-long`: the long walks by the real buttons: every button and command, looks in four themes, history, custom
 * tools, hostile texts, manners. Builds nothing: run `npm run package` first.
 *
 *   npm run test:ui-long -- customTools        the walks of one file
 *   npm run test:ui-long -- --grep=trusted     only walks whose name matches
 */
import { parseArgs } from 'node:util';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { values, positionals } = parseArgs({ options: { grep: { type: 'string' } }, allowPositionals: true });
const { runNodeTests } = await import('./lib/nodeTests.mjs');
const pattern = `test/ui/long/${positionals[0] ?? '*'}.test.ts`;
const { failed } = await runNodeTests('ui-long', pattern, { concurrency: 1, grep: values.grep });
process.exitCode = failed === 0 ? 0 : 1;
