/** Packages for several targets, one after the other. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { inRepo } from '../lib/paths.mjs';
import { buildFor, packageFor } from './packageExtension.mjs';
import { TARGETS } from './targets.mjs';

/** Where the packages are written. */
const folder = inRepo('out', 'packages');

/**
 * Writes a package for each target and SHA256SUMS of them, prints their sizes, and leaves dist/ as it is for this machine.
 * @param {readonly string[]} targets
 * @param {string} own the target of this machine
 * @throws {Error} when one cannot be built, or does not contain what it must
 */
export async function packageAll(targets, own) {
  fs.rmSync(folder, { recursive: true, force: true });
  const files = [];
  for (const target of targets) {
    if (!(await buildFor(target, true))) throw new Error(`The build for ${target} failed.`);
    const file = path.join(folder, `redline-${target}.vsix`);
    await packageFor(target, file, true);
    files.push(file);
  }
  if (own in TARGETS && targets.at(-1) !== own && !(await buildFor(own, false))) {
    throw new Error(`The build for ${own} failed.`);
  }
  fs.writeFileSync(path.join(folder, 'SHA256SUMS'), checksums(files));
  for (const file of files) {
    const mb = fs.statSync(file).size / 1024 / 1024;
    console.log(`${path.basename(file).padEnd(28)} ${mb.toFixed(2).padStart(6)} MB`);
  }
}

/** A line for each file, as `sha256sum --check` reads it. */
export function checksums(files) {
  return files
    .map(file => {
      const hash = createHash('sha256').update(fs.readFileSync(file)).digest('hex');
      return `${hash}  ${path.basename(file)}\n`;
    })
    .join('');
}
