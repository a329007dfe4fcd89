/**
 * Installs VS Code's server for a machine without a screen, in one of the versions of `releases.mjs`: taken from the
 * `code-server` package, and run with the project's Node 24 or, for an older release, the Node of its time. Needs no
 * compiler. Linux x64 only.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { projectNode } from '../lib/bootstrap.mjs';
import { withFileLock } from '../lib/fileLock.mjs';
import { npm } from '../lib/npm.mjs';
import { unpackedPackage } from '../lib/npmArchive.mjs';
import { downloads } from '../lib/paths.mjs';
import { forbidProposedApi } from './forbidProposedApi.mjs';
import { releaseOf, whichVscode } from './releases.mjs';

/** Raise it when this file changes what it installs: existing installs are then not used any more. */
const RECIPE = 2;

const home = path.join(downloads, 'headless');

/**
 * Returns how to run the server, after installing it if needed (about ten seconds, 760 MB). An interrupted install is
 * never used: it is made in a folder of its own and renamed when complete. One process installs, others wait for it.
 * @returns {Promise<{ node: string, script: string }>} the script of the server, and the Node that runs it
 * @throws {Error} on another platform, for a version that is not in `RELEASES`, or when a download fails
 */
export async function installedServer() {
  const version = headlessVersion();
  const release = releaseOf(version);
  const installed = path.join(home, `vscode-${version}-r${RECIPE}`);
  if (!fs.existsSync(installed)) {
    await withFileLock(path.join(home, 'install.lock'), 'installing VS Code', () =>
      fs.existsSync(installed) ? undefined : install(release, installed),
    );
  }
  const node = release.node ? path.join(installed, 'node') : projectNode();
  return { node, script: path.join(installed, 'out', 'server-main.js') };
}

/** The version of VS Code that the headless one has here. */
export const headlessVersion = () => releaseOf(whichVscode().version).version;

async function install(release, installed) {
  console.log(`redline: installing the headless VS Code ${release.version} …`);
  const started = Date.now();
  for (const entry of fs.readdirSync(home)) {
    // We hold the lock, so any such folder was left by an interrupted install.
    if (entry.startsWith('making-')) fs.rmSync(path.join(home, entry), { recursive: true, force: true });
  }
  const making = fs.mkdtempSync(path.join(home, 'making-'));
  try {
    const vscode = await unpackedPackage(release.server, path.join(making, 'server'), 'lib/vscode');
    // Its npm-shrinkwrap.json pins everything but peer dependencies, which it does not need. No scripts: the native
    // modules that we keep come prebuilt.
    const args = ['install', '--omit=dev', '--ignore-scripts', '--legacy-peer-deps'];
    await npm(args, { cwd: vscode, quiet: true });
    await replaceNativeModules(vscode, release, making);
    if (release.node)
      fs.renameSync(
        await unpackedPackage(release.node, path.join(making, 'node'), 'bin/node'),
        path.join(vscode, 'node'),
      );
    // This extension needs a TypeScript that the package does not contain. Colouring comes from typescript-basics.
    fs.rmSync(path.join(vscode, 'extensions', 'typescript-language-features'), { recursive: true });
    forbidProposedApi(vscode);
    fs.renameSync(vscode, installed);
  } finally {
    fs.rmSync(making, { recursive: true, force: true });
  }
  console.log(`redline: headless VS Code installed in ${((Date.now() - started) / 1000).toFixed(0)} s`);
}

/**
 * Replaces the native modules that would have to be compiled: the log writer, without which there would be no log files, and the
 * watchdog, which is not needed. An older release also gets a prebuilt node-pty and ripgrep.
 */
async function replaceNativeModules(vscode, { watchdog, nodePty, ripgrep }, making) {
  const module = (...names) => path.join(vscode, 'node_modules', ...names);
  fs.copyFileSync(new URL('./spdlogReplacement.cjs', import.meta.url), module('@vscode/spdlog/index.js'));
  fs.writeFileSync(
    module(watchdog, 'index.js'),
    'exports.start = () => {};\nexports.exit = code => process.exit(code);\n',
  );
  if (nodePty) {
    fs.rmSync(module('node-pty'), { recursive: true });
    fs.renameSync(await unpackedPackage(nodePty, path.join(making, 'node-pty')), module('node-pty'));
  }
  if (ripgrep) {
    const program = await unpackedPackage(ripgrep, path.join(making, 'ripgrep'), 'bin/linux-x64/rg');
    fs.mkdirSync(module('@vscode/ripgrep/bin'));
    fs.renameSync(program, module('@vscode/ripgrep/bin/rg'));
  }
}
