/** Runs code in the extension host of a real VS Code: headless on Linux x64, else a desktop one that is downloaded. */
import { runTests } from '@vscode/test-electron';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromiumPath } from './chromium.mjs';
import { temporaryFolder } from './cleanup.mjs';
import { headlessCode, headlessSupported } from './headlessCode.mjs';
import { downloads, repoRoot } from './paths.mjs';

const executable = fileURLToPath(new URL('./codeHeadless.mjs', import.meta.url));

/**
 * Runs a suite with Redline as it is built in dist/, in a profile of its own.
 *
 * Environment: REDLINE_VSCODE `headless` or `desktop` · REDLINE_VSCODE_VERSION version of the desktop one (stable).
 *
 * @param {{ suite: string, workspace: string, env: Record<string, string>, extensions?: string[] }} run `suite` is a
 *   CommonJS file that exports `run()`; `workspace` is the folder that is open; `env` reaches the suite; `extensions` are
 *   the folders of others that are there beside Redline
 * @returns {Promise<void>} rejects when the suite does, or the host ends before it
 */
export async function runInExtensionHost({ suite, workspace, env, extensions = [] }) {
  const { launchArgs, ...vscode } = await whichCode();
  await runTests({
    ...vscode,
    extensionDevelopmentPath: [repoRoot, ...extensions],
    extensionTestsPath: suite,
    launchArgs: [workspace, ...launchArgs],
    extensionTestsEnv: { ...env, REDLINE_END_WITH_STDIN: '1' },
  });
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
