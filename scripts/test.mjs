/**
 * `npm test`: everything that proves the project, from a fresh checkout on. Stages: check, build, unit, host, ui.
 * The last line is `N passed, N failed`, and the status is 0 only when nothing failed and every stage ran something.
 *
 *   npm test -- --only=unit        one stage (or several: --only=check,unit); host and ui build first
 *   npm test -- --grep=apply       only tests whose name matches
 */
import { parseArgs } from 'node:util';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { values } = parseArgs({ options: { only: { type: 'string' }, grep: { type: 'string' } } });
const { runStages } = await import('./lib/runStages.mjs');
process.exitCode = await runStages({ only: values.only?.split(','), grep: values.grep });
