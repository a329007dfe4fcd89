/**
 * Runs host tests in a VS Code of their own: `node hostLane.mjs <file for the results>`.
 *
 * Environment: REDLINE_HOST_FILES names of bundled test files, with commas · REDLINE_GREP runs only tests that match.
 */
import * as path from 'node:path';
import { cleanUp } from '../lib/cleanup.mjs';
import { runInExtensionHost } from '../lib/extensionHost.mjs';
import { inRepo, repoRoot } from '../lib/paths.mjs';
import { copyExampleWorkspace } from '../lib/workspaceCopy.mjs';
import { hostBundles } from './hostBundles.mjs';

const [results] = process.argv.slice(2);
const { REDLINE_HOST_FILES, REDLINE_GREP } = process.env;
try {
  await runInExtensionHost({
    suite: path.join(hostBundles, 'runner.cjs'),
    workspace: copyExampleWorkspace(),
    extensions: [
      inRepo('examples', 'bookmarks'),
      ...['drawings', 'modelVendor', 'toolVendor'].map(name => inRepo('test', 'host', 'fixtures', name)),
    ],
    env: {
      REDLINE_HOST_SUITE: path.join(hostBundles, 'suite'),
      REDLINE_HOST_FILES,
      REDLINE_HOST_RESULTS: results,
      REDLINE_GREP,
      REDLINE_REPO: repoRoot,
    },
  });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await cleanUp();
}
