/** Stage "host": Mocha in the extension host of a real VS Code; `extensionHost.mjs` says which one. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { runInExtensionHost } from '../lib/extensionHost.mjs';
import { bundleHostTests, hostBundles } from './hostBundles.mjs';
import { inRepo, repoRoot } from '../lib/paths.mjs';
import { copyExampleWorkspace } from '../lib/workspaceCopy.mjs';

const results = path.join(hostBundles, 'results.json');

export async function host({ grep }) {
  await bundleHostTests();
  let error;
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
        REDLINE_HOST_RESULTS: results,
        REDLINE_GREP: grep,
        REDLINE_REPO: repoRoot,
      },
    });
  } catch (caught) {
    error = caught;
  }
  return counts(error);
}

/** Reads what the runner wrote. A run that broke off counts as one more failure. */
function counts(error) {
  if (!fs.existsSync(results)) {
    console.error(`The host tests did not start: ${error?.message ?? 'no results'}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const { finished, running, passed, failed, skipped } = JSON.parse(fs.readFileSync(results, 'utf8'));
  if (finished) return { passed, failed: error && failed === 0 ? 1 : failed, skipped };
  console.error(
    `The host tests broke off${running ? ` in "${running}"` : ''}: ${error?.message ?? 'unfinished'}`,
  );
  return { passed, failed: failed + 1, skipped };
}
