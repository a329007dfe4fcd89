/**
 * `npm run package`: builds the extension and packages it as out/redline.vsix, for the platform that it runs on.
 * `npm run package -- --target=darwin-arm64` packages it for another one, as out/packages/redline-darwin-arm64.vsix;
 * several are separated by commas, `universal` is for all platforms in one, and `all` is everything.
 */
import * as fs from 'node:fs';
import { bootstrap } from './lib/bootstrap.mjs';
import { inRepo } from './lib/paths.mjs';

await bootstrap();
const { buildFor, packageFor } = await import('./packaging/packageExtension.mjs');
const { askedTargets, ownTarget, TARGETS } = await import('./packaging/targets.mjs');
const { build } = await import('./stages/build.mjs');
try {
  const targets = askedTargets(process.argv.slice(2));
  if (targets) await packageAll(targets, ownTarget());
  else process.exitCode = (await build({ isSmall: true })).failed;
} catch (error) {
  console.error(`redline: ${error.message}`);
  process.exitCode = 1;
}

/** Writes a package for each target, prints their sizes, and leaves dist/ as it is for this machine. */
async function packageAll(targets, own) {
  fs.rmSync(inRepo('out', 'packages'), { recursive: true, force: true });
  const sizes = [];
  for (const target of targets) {
    if (!(await buildFor(target, true))) throw new Error(`The build for ${target} failed.`);
    const name = `redline-${target}.vsix`;
    const file = inRepo('out', 'packages', name);
    await packageFor(target, file, true);
    sizes.push(`${name.padEnd(28)} ${(fs.statSync(file).size / 1024 / 1024).toFixed(2).padStart(6)} MB`);
  }
  if (own in TARGETS && targets.at(-1) !== own && !(await buildFor(own, false)))
    throw new Error(`The build for ${own} failed.`);
  console.log(sizes.join('\n'));
}
