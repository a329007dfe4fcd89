/** Files of npm packages that npm does not install here, such as those for other platforms. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { run } from './command.mjs';
import { npm } from './npm.mjs';

/**
 * Downloads a package and unpacks it, or a part of it.
 * @param {{ name: string, integrity: string }} wanted with its version; the integrity is as in a lock file
 * @param {string} folder an empty one; it is made
 * @param {string} [part] of the package
 * @returns {Promise<string>} where the part is
 * @throws {Error} when npm cannot get it, or it is another one
 */
export async function unpackedPackage({ name, integrity }, folder, part = '.') {
  fs.mkdirSync(folder, { recursive: true });
  console.log(`redline: downloading ${name}`);
  await npm(['pack', name, '--silent'], { cwd: folder, quiet: true });
  const [archive] = fs.readdirSync(folder).filter(file => file.endsWith('.tgz'));
  checkIntegrity(name, fs.readFileSync(path.join(folder, archive)), integrity);
  const inside = path.posix.join('package', part);
  // By a relative path: tar takes the drive letter of a Windows path for the name of a host.
  if ((await run('tar', ['-xzf', archive, inside], { cwd: folder })) !== 0)
    throw new Error(`${archive} cannot be unpacked.`);
  return path.join(folder, inside);
}

/**
 * Downloads a package, as `unpackedPackage` does, for a moment.
 * @param {{ name: string, integrity: string }} wanted
 * @param {(unpacked: string) => void} use is given where the files of the package are
 * @param {string} folder where the work is done; it is made
 */
export async function withPackage(wanted, use, folder) {
  fs.mkdirSync(folder, { recursive: true });
  const work = fs.mkdtempSync(path.join(folder, 'download-'));
  try {
    use(await unpackedPackage(wanted, work));
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
