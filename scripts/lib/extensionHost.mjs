/** Runs code in the extension host of a real VS Code: the headless one on Linux x64, else a downloaded desktop one. */
import { runTests } from '@vscode/test-electron';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromiumPath } from '../headless/findChromium.mjs';
import { temporaryFolder } from './cleanup.mjs';
import { installedServer } from '../headless/install.mjs';
import { whichVscode } from '../headless/releases.mjs';
import { downloads, repoRoot } from './paths.mjs';

const executable = fileURLToPath(new URL('../headless/codeExecutable.mjs', import.meta.url));

/**
 * Runs a suite with Redline as it is built in dist/, in a profile of its own. `whichVscode` says in which VS Code.
 *
 * @param {{ suite: string, workspace: string, env: Record<string, string>, extensions?: string[] }} run `suite` is a
 *   CommonJS file that exports `run()`; `workspace` is the folder to open; `env` is added to the environment of the suite;
 *   `extensions` are folders of extensions to load beside Redline
 * @returns {Promise<void>} rejects when the suite fails, or the extension host ends before it
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

/** The VS Code to use, and its profile. */
async function whichCode() {
  const { kind, version } = whichVscode();
  if (kind === 'headless') {
    await installedServer(version);
    await chromiumPath();
    // The executable makes a profile and deletes it. With this flag @vscode/test-electron adds none of its own.
    return { vscodeExecutablePath: executable, reuseMachineInstall: true, launchArgs: [] };
  }
  const profile = temporaryFolder('rl-host-');
  return {
    version,
    cachePath: downloads,
    launchArgs: [
      `--user-data-dir=${path.join(profile, 'data')}`,
      `--extensions-dir=${path.join(profile, 'extensions')}`,
    ],
  };
}
