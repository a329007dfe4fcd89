/** Files of npm packages that npm does not install here, such as those for other platforms. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { run } from './command.mjs';
import { npm } from './npm.mjs';
import { repoRoot } from './paths.mjs';

/**
 * Downloads a package and unpacks it for a moment.
 * @template T
 * @param {{ name: string, version: string, integrity: string }} wanted the integrity is as in a lock file
 * @param {(folder: string) => T} use is given where the files of the package are
 * @param {string} folder where the work is done; it is made
 * @returns {Promise<T>}
 * @throws {Error} when npm cannot get it, or it is another one
 */
export async function unpackedPackage({ name, version, integrity }, use, folder) {
  fs.mkdirSync(folder, { recursive: true });
  const work = fs.mkdtempSync(path.join(folder, 'download-'));
  try {
    console.log(`redline: downloading ${name}@${version}`);
    await npm(['pack', `${name}@${version}`, '--pack-destination', work], { cwd: repoRoot, quiet: true });
    const [archive] = fs.readdirSync(work).filter(file => file.endsWith('.tgz'));
    checkIntegrity(name, fs.readFileSync(path.join(work, archive)), integrity);
    // By a relative path: tar takes what is before the colon of a Windows path for the name of a host.
    const status = await run('tar', ['-xzf', archive], { cwd: work });
    if (status !== 0) throw new Error(`${archive} cannot be unpacked.`);
    return use(path.join(work, 'package'));
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

/**
 * @param {string} name of the package, for the error
 * @param {Uint8Array} bytes its archive
 * @param {string} integrity as in a lock file: `sha512-` and Base64
 * @throws {Error} when the bytes are others
 */
export function checkIntegrity(name, bytes, integrity) {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${name} is not the expected package: ${found} instead of ${integrity}`);
}
