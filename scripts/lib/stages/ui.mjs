/** Stage "ui": the packaged extension, clicked in a real window. */
import { chromiumPath } from '../chromium.mjs';
import { headlessCode, headlessSupported } from '../headlessCode.mjs';
import { runNodeTests } from '../nodeTests.mjs';

export async function ui({ grep }) {
  if (!headlessSupported) {
    return { passed: 0, failed: 0, skipped: 0, left: 'the UI tests run on Linux x64 only' };
  }
  // Installed before the tests begin, so that no test's time limit counts it.
  await headlessCode();
  chromiumPath();
  return runNodeTests('ui', 'test/ui/*.test.ts', { grep, concurrency: 1 });
}
