/**
 * `npm run coverage`: how much of the core (`src/agent`) the unit tests run, in all their processes and workers, with the lines
 * that do not run. Fails below 95 % of the lines or 90 % of the branches, or when a test fails.
 *
 *   npm run coverage -- ledger     runs the tests of files with this in their path
 */
import * as fs from 'node:fs';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { runNode } = await import('./lib/command.mjs');
const { inRepo } = await import('./lib/paths.mjs');
const files = fs.globSync(inRepo('test/unit/**/*.test.ts'));
process.exitCode = await runNode([
  ...['--test', '--experimental-test-coverage', '--test-coverage-include=src/agent/**/*.ts'],
  ...['--test-coverage-lines=95', '--test-coverage-branches=90', '--disable-warning=ExperimentalWarning'],
  ...files.filter(file => file.includes(process.argv[2] ?? '')),
]);
