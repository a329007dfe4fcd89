/** Stage "ui": clicks through the packaged extension in a real window. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromiumPath } from '../headless/findChromium.mjs';
import { installedServer } from '../headless/install.mjs';
import { whichVscode } from '../headless/releases.mjs';
import { temporaryFolder } from '../lib/cleanup.mjs';
import { countTests, countUnfinished, runNodeTests } from '../lib/nodeTests.mjs';
import { inRepo, repoRoot } from '../lib/paths.mjs';
import { runLanes, sumOf } from './lanes.mjs';

const TESTS = 'test/ui/*.test.ts';
/** Lanes that run test files side by side. Each has a VS Code, whose window and extension host mostly wait for one another. */
const LANES = Math.min(2, os.availableParallelism());
const lane = fileURLToPath(new URL('./uiLane.mjs', import.meta.url));
/** How many failed tests are run again. More of them are a defect, not a machine that was busy for a moment. */
const RUN_AGAIN = 2;

/**
 * A test that fails is run a second time, alone: a window, a browser and a server share the machine with whatever else
 * runs on it. The summary names how many tests passed only then, so that a test that needs it often is noticed.
 */
export async function ui({ grep }) {
  if (whichVscode().kind !== 'headless') {
    return { passed: 0, failed: 0, skipped: 0, notRun: 'the UI tests run in the headless VS Code only' };
  }
  // Installed before the tests begin, so that it does not count towards the time limit of a test.
  await installedServer();
  await chromiumPath();
  const { failures, ...counts } = grep
    ? await runNodeTests('ui', TESTS, { grep, concurrency: LANES })
    : await runInLanes();
  if (counts.failed !== failures.length || failures.length > RUN_AGAIN) return counts;
  let flaky = 0;
  for (const test of failures) {
    console.log(`\n━━ ui: again: ${test} ━━`);
    const again = await runNodeTests('ui-again', TESTS, { grep: `/^${escaped(test)}$/`, concurrency: 1 });
    if (again.passed === 1 && again.failed === 0) flaky++;
  }
  return { ...counts, passed: counts.passed + flaky, failed: counts.failed - flaky, flaky };
}

/**
 * Runs all test files, each in the lane that is free first.
 * @returns {Promise<import('../lib/nodeTests.mjs').TestCounts>}
 */
async function runInLanes() {
  const files = fs.globSync(TESTS, { cwd: repoRoot });
  const queue = queueOf(files);
  const names = Array.from({ length: LANES }, (_, index) => `ui-${index + 1}`);
  const lanes = await runLanes(names, (name, print) => countTests(name, [lane, queue], { onOutput: print }));
  return countUnfinished(
    files.filter(file => !fs.existsSync(path.join(queue, 'ended', path.basename(file)))),
    { ...sumOf(lanes), failures: lanes.flatMap(counts => counts.failures) },
    Math.max(...lanes.map(({ status }) => status)),
  );
}

/** A queue for the lanes, longest file first: then the lanes end at about the same time. */
function queueOf(files) {
  const queue = temporaryFolder('redline-ui-queue-');
  for (const folder of ['begun', 'ended']) fs.mkdirSync(path.join(queue, folder));
  const bySize = files.toSorted((a, b) => fs.statSync(inRepo(b)).size - fs.statSync(inRepo(a)).size);
  for (const [index, file] of bySize.entries())
    fs.writeFileSync(path.join(queue, `${String(index).padStart(3, '0')}-${path.basename(file)}`), '');
  return queue;
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/[/\\^$.*+?()[\]{}|]/g, '\\$&');
}
