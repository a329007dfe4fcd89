/** Builds dist/ for a target and packages it. */
import { createVSIX } from '@vscode/vsce';
import JSZip from 'jszip';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { runNode } from '../lib/command.mjs';
import { inRepo, repoRoot } from '../lib/paths.mjs';
import { wrongContents, wrongPlatform, wrongSize } from './contents.mjs';
import { compiledLanguages } from './packNative.mjs';
import { fetchEngine } from './engines.mjs';
import { platformsOf, TARGETS } from './targets.mjs';

/**
 * Builds dist/ with the native files of a target. Engines that are not here are downloaded.
 * @param {boolean} isSmall compressed as it is shipped, see `packNativeFiles`
 * @returns {Promise<boolean>} whether it worked; failures were printed
 */
export async function buildFor(target, isSmall) {
  for (const platform of platformsOf(target)) await fetchEngine(platform);
  return (
    (await runNode([inRepo('esbuild.mjs'), `--target=${target}`, ...(isSmall ? ['--small'] : [])])) === 0
  );
}

/**
 * Packages the files of dist/ that .vscodeignore lets through, and compares them with those that the target's package must contain.
 * @param {string} target that dist/ was built for
 * @param {string} file to write
 * @param {boolean} isSmall that dist/ was built so; only then the size is checked
 * @throws {Error} that names the faults
 */
export async function packageFor(target, file, isSmall) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.rmSync(file, { force: true });
  const { repository } = JSON.parse(fs.readFileSync(inRepo('package.json'), 'utf8'));
  await createVSIX({
    cwd: repoRoot,
    packagePath: file,
    target: target in TARGETS ? target : undefined,
    // They are all bundled.
    dependencies: false,
    allowMissingRepository: true,
    // VS Code shows pictures of a README from the web only: without a public home, their text alternatives.
    rewriteRelativeLinks: Boolean(repository),
  });
  if (!fs.existsSync(file)) throw new Error('The package was not written.');
  await zipAnew(file);
  const archive = await JSZip.loadAsync(fs.readFileSync(file));
  const files = Object.keys(archive.files).flatMap(name => /^extension\/(.*[^/])$/.exec(name)?.[1] ?? []);
  const manifest = (await archive.file('extension.vsixmanifest')?.async('text')) ?? '';
  const wrong = [
    ...wrongPlatform(manifest, target),
    ...wrongContents(files, target, compiledLanguages),
    ...(isSmall ? wrongSize(fs.statSync(file).size, target) : []),
  ];
  if (wrong.length > 0)
    throw new Error(`The package for ${target} is not as it must be:\n${wrong.join('\n')}`);
}

/** Zips the files of a package anew: slower than vsce, whose zip library cannot be told to, and 3 % smaller. */
async function zipAnew(file) {
  const old = await JSZip.loadAsync(fs.readFileSync(file));
  const zip = new JSZip();
  for (const { name, date, unixPermissions } of Object.values(old.files)) {
    const data = await old.file(name).async('nodebuffer');
    zip.file(name, data, { date, unixPermissions, createFolders: false });
  }
  const compressionOptions = { level: 9 };
  const options = { type: 'nodebuffer', platform: 'UNIX', compression: 'DEFLATE', compressionOptions };
  fs.writeFileSync(file, await zip.generateAsync(options));
}
