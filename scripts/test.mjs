/**
 * `npm test`: checks and tests; works in a fresh clone. Stages: check, build, unit, host and ui (the core stories in a window),
 * some side by side. `npm run test:rest` takes longer: the stages rest (all other tests in a window), hostRest and unitRest (all
 * other host and unit tests) and rounds (the unit tests that play by chance, with all rounds). The last line is `N passed, N failed`. The exit
 * status is 0 only if nothing failed and every stage ran something.
 *
 *   npm test -- --all              runs rest, hostRest and unitRest, too, so that each test runs once
 *   npm test -- --only=unit        runs one stage, or several (--only=check,unit); those that need the build have it first
 *   npm test -- --grep=apply       runs only tests whose name, or whose file's name, matches; in a window, any of them
 *   npm test -- --watch ledger     runs the unit tests of files with this in their path, and again those that a change concerns
 *   npm test -- --coverage ledger  runs them, and says how much of the core they run, in all their processes and workers, and which
 *                                  lines they do not; fails below 95 % of the lines or 90 % of the branches
 *   npm test -- --vscode=oldest    in the oldest VS Code that package.json allows, or in that of a version (--vscode=1.110.0)
 */
import * as fs from 'node:fs';
import { parseArgs } from 'node:util';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { values, positionals } = parseArgs({
  options: {
    all: { type: 'boolean' },
    only: { type: 'string' },
    grep: { type: 'string' },
    vscode: { type: 'string' },
    watch: { type: 'boolean' },
    coverage: { type: 'boolean' },
  },
  allowPositionals: ['--watch', '--coverage'].some(option => process.argv.includes(option)),
});
if (values.vscode) process.env.REDLINE_VSCODE_VERSION = values.vscode;
if (values.watch || values.coverage) {
  const { runNode } = await import('./lib/command.mjs');
  const { inRepo } = await import('./lib/paths.mjs');
  const files = fs.globSync(inRepo('test/unit/**/*.test.ts'));
  const wanted = files.filter(file => file.includes(positionals[0] ?? ''));
  // Without files, node:test would run all that it finds.
  if (wanted.length === 0) throw new Error(`No file of unit tests has "${positionals[0]}" in its path.`);
  const coverage = ['--experimental-test-coverage', '--test-coverage-include=src/agent/**/*.ts'];
  const how = values.watch
    ? ['--watch']
    : [...coverage, '--test-coverage-lines=95', '--test-coverage-branches=90'];
  process.exitCode = await runNode(['--test', ...how, '--disable-warning=ExperimentalWarning', ...wanted]);
} else {
  const { runStages } = await import('./stages/runStages.mjs');
  process.exitCode = await runStages({ ...values, only: values.only?.split(',') });
}
