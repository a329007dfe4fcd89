/**
 * `npm test`: all checks and tests; works in a fresh clone. Stages: check, build, unit, host, ui, some side by side.
 * The last line is `N passed, N failed`. The exit status is 0 only if nothing failed and every stage ran something.
 *
 *   npm test -- --only=unit        runs one stage, or several (--only=check,unit); host and ui build first
 *   npm test -- --grep=apply       runs only tests whose name matches
 *   npm test -- --vscode=oldest    in the oldest VS Code that package.json allows, or in that of a version (--vscode=1.110.0)
 */
import { parseArgs } from 'node:util';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { values } = parseArgs({
  options: { only: { type: 'string' }, grep: { type: 'string' }, vscode: { type: 'string' } },
});
if (values.vscode) process.env.REDLINE_VSCODE_VERSION = values.vscode;
const { runStages } = await import('./stages/runStages.mjs');
process.exitCode = await runStages({ only: values.only?.split(','), grep: values.grep });
