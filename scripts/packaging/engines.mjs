/** The engines of other platforms, which npm does not install here: downloaded once, and only as package-lock.json has them. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { withPackage } from '../lib/npmArchive.mjs';
import { downloads, inRepo } from '../lib/paths.mjs';
import { enginePackage } from './targets.mjs';

const folder = path.join(downloads, 'engines');

/** A package's entry in the lock file. */
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
 * @throws {Error} when npm cannot get it, or the lock file has another hash
 */
export async function fetchEngine(platform) {
  if (findEngine(platform)) return;
  const name = enginePackage(platform);
  const { version, integrity } = locked(name);
  await withPackage(
    { name: `${name}@${version}`, integrity },
    unpacked => {
      const engine = fs.readdirSync(unpacked).find(file => file.endsWith('.node'));
      if (!engine) throw new Error(`${name} does not contain an engine.`);
      fs.renameSync(path.join(unpacked, engine), downloadedFile(name));
    },
    folder,
  );
}
