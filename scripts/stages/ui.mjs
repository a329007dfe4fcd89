/** Stage "ui": clicks through the packaged extension in a real window. */
import * as os from 'node:os';
import { chromiumPath } from '../headless/findChromium.mjs';
import { installedServer, headlessSupported } from '../headless/install.mjs';
import { runNodeTests } from '../lib/nodeTests.mjs';

const TESTS = 'test/ui/*.test.ts';
/** Test files at a time. Each has a VS Code, whose window and extension host mostly wait for one another. */
const FILES_AT_A_TIME = Math.min(2, os.availableParallelism());
/** How many failed tests are run again. More of them are a defect, not a machine that was busy for a moment. */
const RUN_AGAIN = 2;

/**
 * A test that fails is run a second time, alone: a window, a browser and a server share the machine with whatever else
 * runs on it. The summary names how many tests passed only then, so that a test that needs it often is noticed.
 */
export async function ui({ grep }) {
  if (!headlessSupported) {
    return { passed: 0, failed: 0, skipped: 0, notRun: 'the UI tests run on Linux x64 only' };
  }
  // Installed before the tests begin, so that it does not count towards the time limit of a test.
  await installedServer();
  chromiumPath();
  const { failures, ...counts } = await runNodeTests('ui', TESTS, {
    grep,
    concurrency: FILES_AT_A_TIME,
  });
  if (counts.failed !== failures.length || failures.length > RUN_AGAIN) return counts;
  let flaky = 0;
  for (const test of failures) {
    console.log(`\n━━ ui: again: ${test} ━━`);
    const again = await runNodeTests('ui-again', TESTS, { grep: `/^${escaped(test)}$/`, concurrency: 1 });
    if (again.passed === 1 && again.failed === 0) flaky++;
  }
  return { ...counts, passed: counts.passed + flaky, failed: counts.failed - flaky, flaky };
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/[/\\^$.*+?()[\]{}|]/g, '\\$&');
}
