/** The engines of other platforms, which npm does not install here: downloaded once, and only as package-lock.json has them. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { run } from '../lib/command.mjs';
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
    checkIntegrity(name, fs.readFileSync(path.join(work, archive)), integrity);
    // By a relative path: tar takes what is before the colon of a Windows path for the name of a host.
    const unpacked = path.join(work, 'package');
    const status = await run('tar', ['-xzf', archive], { cwd: work });
    const engine = status === 0 && fs.readdirSync(unpacked).find(file => file.endsWith('.node'));
    if (!engine) throw new Error(`${archive} does not contain an engine.`);
    fs.renameSync(path.join(unpacked, engine), downloadedFile(name));
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
