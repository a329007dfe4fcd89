/** The stages "ui", "rest" and "long": they click through the packaged extension in a real window. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import { chromiumPath } from '../headless/findChromium.mjs';
import { installedServer } from '../headless/install.mjs';
import { whichVscode } from '../headless/releases.mjs';
import { repoRoot } from '../lib/paths.mjs';
import { runFiles } from './fileLanes.mjs';

/** Lanes that run test files side by side. Each has a VS Code, whose window and extension host mostly wait for one another. */
const LANES = Math.min(2, os.availableParallelism());

/** The core stories, of `npm test`: those of a window, and the page of the chat without a VS Code. */
const CORE = ['chatPanel', 'window'];
const isCore = file => CORE.some(name => file.endsWith(`/${name}.test.ts`));

/** @type {import('./runStages.mjs').Stage} the core stories; with a name to look for, all window tests */
export const ui = ({ grep }) => run(file => grep || isCore(file), grep);

/** @type {import('./runStages.mjs').Stage} all other window tests */
export const rest = ({ grep }) => run(file => !isCore(file), grep);

/** @type {import('./runStages.mjs').Stage} walks through the whole surface, which no other stage takes */
export const long = ({ grep }) => run(() => true, grep, { tests: 'test/ui/long/*.test.ts', lanes: 1 });

async function run(isWanted, grep, { tests = 'test/ui/*.test.ts', lanes = LANES } = {}) {
  if (whichVscode().kind !== 'headless') {
    return { passed: 0, failed: 0, skipped: 0, notRun: 'the UI tests run in the headless VS Code only' };
  }
  // Installed before the tests begin, so that it does not count towards the time limit of a test.
  await installedServer();
  await chromiumPath();
  const files = fs.globSync(tests, { cwd: repoRoot }).filter(isWanted);
  return runFiles(files, { lanes, grep });
}
