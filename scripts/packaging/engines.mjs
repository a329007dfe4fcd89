/** The engines of other platforms, which npm does not install here: downloaded once, and only as package-lock.json has them. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { npm } from '../lib/npm.mjs';
import { downloads, inRepo, repoRoot } from '../lib/paths.mjs';
import { enginePackage } from './targets.mjs';

const folder = path.join(downloads, 'engines');

/** What the lock file says of a package. */
function locked(name) {
  const entry = JSON.parse(fs.readFileSync(inRepo('package-lock.json'), 'utf8')).packages[
    `node_modules/${name}`
  ];
  if (!entry?.integrity) throw new Error(`package-lock.json does not have ${name}.`);
  return entry;
}

/**
 * The engine of a platform: among the installed packages, or among the downloads.
 * @returns {string | undefined} an absolute path; `undefined` when it is in neither
 */
export function findEngine(platform) {
  const name = enginePackage(platform);
  const installed = inRepo('node_modules', name);
  const file = fs.existsSync(installed) && fs.readdirSync(installed).find(each => each.endsWith('.node'));
  if (file) return path.join(installed, file);
  const kept = downloadedFile(name);
  return fs.existsSync(kept) ? kept : undefined;
}

function downloadedFile(name) {
  return path.join(folder, `${path.basename(name)}-${locked(name).version}.node`);
}

/**
 * Downloads the engine of a platform unless it is here.
 * @throws {Error} when npm cannot get it, or it is not what the lock file has
 */
export async function fetchEngine(platform) {
  if (findEngine(platform)) return;
  const name = enginePackage(platform);
  const { version, integrity } = locked(name);
  fs.mkdirSync(folder, { recursive: true });
  const work = fs.mkdtempSync(path.join(folder, 'download-'));
  try {
    console.log(`redline: downloading ${name}@${version}`);
    await npm(['pack', `${name}@${version}`, '--pack-destination', work], { cwd: repoRoot, quiet: true });
    const [archive] = fs.readdirSync(work).filter(file => file.endsWith('.tgz'));
    const bytes = fs.readFileSync(path.join(work, archive));
    checkIntegrity(name, bytes, integrity);
    const engine = path.join(work, 'engine.node');
    fs.writeFileSync(engine, nativeFileIn(gunzipSync(bytes)));
    fs.renameSync(engine, downloadedFile(name));
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
    throw new Error(`${name} is not the one of package-lock.json: ${found} instead of ${integrity}`);
}

/**
 * The first file in a tar archive whose name ends with `.node`.
 * @param {Buffer} tar
 * @returns {Buffer}
 * @throws {Error} when there is none
 */
export function nativeFileIn(tar) {
  const field = (at, length) => tar.toString('latin1', at, at + length).replace(/\0.*$/s, '');
  for (let header = 0; header + 512 <= tar.length && tar[header] !== 0;) {
    const size = Number.parseInt(field(header + 124, 12), 8);
    const start = header + 512;
    if (field(header, 100).endsWith('.node')) return tar.subarray(start, start + size);
    header = start + Math.ceil(size / 512) * 512;
  }
  throw new Error('The archive contains no native file.');
}
