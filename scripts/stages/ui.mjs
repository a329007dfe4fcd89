/** Stage "ui": clicks through the packaged extension in a real window. */
import { chromiumPath } from '../headless/findChromium.mjs';
import { installedServer, headlessSupported } from '../headless/install.mjs';
import { runNodeTests } from '../lib/nodeTests.mjs';

export async function ui({ grep }) {
  if (!headlessSupported) {
    return { passed: 0, failed: 0, skipped: 0, notRun: 'the UI tests run on Linux x64 only' };
  }
  // Installed before the tests begin, so that it does not count towards the time limit of a test.
  await installedServer();
  chromiumPath();
  return runNodeTests('ui', 'test/ui/*.test.ts', { grep, concurrency: 1 });
}
