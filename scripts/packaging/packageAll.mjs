/** Packages for several targets, one after the other. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { inRepo } from '../lib/paths.mjs';
import { buildFor, packageFor } from './packageExtension.mjs';
import { TARGETS } from './targets.mjs';

/** Where the packages are written. */
const folder = inRepo('out', 'packages');

/**
 * Writes a package for each target, prints their sizes, and leaves dist/ as it is for this machine.
 * @param {readonly string[]} targets
 * @param {string} own the target of this machine
 * @throws {Error} when one cannot be built, or does not contain what it must
 */
export async function packageAll(targets, own) {
  fs.rmSync(folder, { recursive: true, force: true });
  const sizes = [];
  for (const target of targets) {
    if (!(await buildFor(target, true))) throw new Error(`The build for ${target} failed.`);
    const name = `redline-${target}.vsix`;
    await packageFor(target, path.join(folder, name), true);
    sizes.push([name, fs.statSync(path.join(folder, name)).size / 1024 / 1024]);
  }
  if (own in TARGETS && targets.at(-1) !== own && !(await buildFor(own, false))) {
    throw new Error(`The build for ${own} failed.`);
  }
  for (const [name, mb] of sizes) console.log(`${name.padEnd(28)} ${mb.toFixed(2).padStart(6)} MB`);
}
