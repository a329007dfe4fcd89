/**
 * Stage "host": Mocha in the extension host of a real VS Code. Headless on Linux x64, else a desktop VS Code that
 * @vscode/test-electron downloads.
 *
 * Environment: REDLINE_VSCODE `headless` or `desktop` · REDLINE_VSCODE_VERSION version of the desktop one (stable).
 */
import { runTests } from '@vscode/test-electron';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromiumPath } from '../chromium.mjs';
import { temporaryFolder } from '../cleanup.mjs';
import { headlessCode, headlessSupported } from '../headlessCode.mjs';
import { bundleHostTests, hostBundles } from '../hostBundles.mjs';
import { downloads, inRepo, repoRoot } from '../paths.mjs';
import { copyExampleWorkspace } from '../workspaceCopy.mjs';

const results = path.join(hostBundles, 'results.json');
const executable = fileURLToPath(new URL('../codeHeadless.mjs', import.meta.url));

export async function host({ grep }) {
  await bundleHostTests();
  const { launchArgs, ...vscode } = await whichCode();
  let error;
  try {
    await runTests({
      ...vscode,
      extensionDevelopmentPath: repoRoot,
      extensionTestsPath: path.join(hostBundles, 'runner.cjs'),
      launchArgs: [copyExampleWorkspace(), ...launchArgs],
      extensionTestsEnv: {
        REDLINE_HOST_SUITE: path.join(hostBundles, 'suite'),
        REDLINE_HOST_RESULTS: results,
        REDLINE_GREP: grep,
        REDLINE_REPO: repoRoot,
        REDLINE_END_WITH_STDIN: '1',
      },
    });
  } catch (caught) {
    error = caught;
  }
  return counts(error);
}

/** The VS Code to use, and a profile of its own for it. */
async function whichCode() {
  const kind = process.env.REDLINE_VSCODE ?? (headlessSupported ? 'headless' : 'desktop');
  if (kind === 'headless') {
    await headlessCode();
    chromiumPath();
    // Nothing of a machine is reused: codeHeadless makes its profile itself, and takes it away when it has ended.
    return { vscodeExecutablePath: executable, reuseMachineInstall: true, launchArgs: [] };
  }
  if (kind !== 'desktop') throw new Error(`REDLINE_VSCODE is "${kind}", it can be "headless" or "desktop".`);
  const profile = temporaryFolder('rl-host-');
  return {
    version: process.env.REDLINE_VSCODE_VERSION ?? 'stable',
    cachePath: downloads,
    launchArgs: [
      `--user-data-dir=${path.join(profile, 'data')}`,
      `--extensions-dir=${path.join(profile, 'extensions')}`,
    ],
  };
}

/** What the runner wrote; a run that did not get to its end counts as a failure more. */
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
