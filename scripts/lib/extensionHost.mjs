/** Runs code in the extension host of a real VS Code: the headless one on Linux x64, else a downloaded desktop one. */
import { runTests } from '@vscode/test-electron';
import * as path from 'node:path';
import { Writable } from 'node:stream';
import { temporaryFolder } from './cleanup.mjs';
import { whichVscode } from '../headless/releases.mjs';
import { runSuite } from '../headless/suite.mjs';
import { downloads, repoRoot } from './paths.mjs';

/**
 * @typedef {object} HostRun
 * @property {string} suite a CommonJS file that exports `run()`
 * @property {string} workspace the folder to open
 * @property {Record<string, string | undefined>} env added to the environment of the suite
 * @property {string[]} [extensions] folders of extensions to load beside Redline
 * @property {(text: string | Uint8Array) => void} [print] is given what the suite logs, in place of our output
 */

/**
 * Runs a suite with Redline as it is built in dist/, in a profile of its own. `whichVscode` says in which VS Code.
 * @param {HostRun} run
 * @returns {Promise<void>} rejects when the suite fails, or the extension host ends before it
 */
export async function runInExtensionHost({ suite, workspace, env, extensions = [], print = printed }) {
  const { kind, version } = whichVscode();
  const developed = [repoRoot, ...extensions];
  if (kind === 'headless') return runSuite({ suite, workspace, extensions: developed, env, print });
  const profile = temporaryFolder('rl-host-');
  const folders = ['user-data', 'extensions'].map(name => `--${name}-dir=${path.join(profile, name)}`);
  const output = new Writable({ write: (chunk, _encoding, done) => done(void print(chunk)) });
  await runTests({
    version,
    cachePath: downloads,
    extensionDevelopmentPath: developed,
    extensionTestsPath: suite,
    launchArgs: [workspace, ...folders],
    extensionTestsEnv: env,
    stdout: output,
    stderr: output,
  });
}

const printed = text => process.stdout.write(text);
