/** Installs packages of Debian that tests need, where that needs no password. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { withFileLock } from './fileLock.mjs';
import { downloads } from './paths.mjs';

/** How long another program that installs something is waited for, in seconds. */
const APT_PATIENCE_S = 300;

/** While this file is there, a process installs something. */
const lock = path.join(downloads, 'apt.lock');

/**
 * Finds a program, or installs the package that has it. One process installs, others wait for it.
 * @template T
 * @param {string} name for the printed line
 * @param {() => T | undefined} find
 * @param {readonly (readonly string[])[]} choices of packages: the first ones that can be installed are
 * @returns {Promise<T | undefined>}
 */
export async function foundOrInstalled(name, find, choices) {
  // While it is being installed, its file may be there before it can run.
  const found = fs.existsSync(lock) ? undefined : find();
  if (found) return found;
  return withFileLock(
    lock,
    'installing a program',
    () => find() ?? (choices.some(packages => installWithApt(name, packages)) ? find() : undefined),
  );
}

/** Installs bubblewrap, with which the isolated sandbox is made, if it is missing and can be installed. */
export async function ensureBubblewrap() {
  const isThere = () => process.platform !== 'linux' || fs.existsSync('/usr/bin/bwrap') || undefined;
  await foundOrInstalled('bubblewrap', isThere, [['bubblewrap']]);
}

/** Installs packages if we are root or sudo needs no password. Returns whether apt-get succeeded. */
function installWithApt(name, packages) {
  if (process.platform !== 'linux' || !fs.existsSync('/usr/bin/apt-get')) return false;
  const root = process.getuid() === 0 ? [] : ['sudo', '-n'];
  const apt = args => {
    const [command, ...rest] = [...root, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args];
    return spawnSync(command, rest, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
  };
  if (root.length > 0 && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return false;
  console.log(`redline: installing ${name} (apt-get) …`);
  // The package lists may be missing or old. If a source cannot be reached, the install may work all the same.
  apt(['update', '-qq']);
  // Another program, such as another clone's tests, may be installing something.
  const patience = ['-o', `DPkg::Lock::Timeout=${APT_PATIENCE_S}`];
  return apt(['install', '-y', '-qq', '--no-install-recommends', ...patience, ...packages]);
}
