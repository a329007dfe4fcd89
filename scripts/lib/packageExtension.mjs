/** Packages what `npm run build` left in dist/, with what .vscodeignore lets through. */
import { createVSIX } from '@vscode/vsce';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { repoRoot, vsixPath } from './paths.mjs';

/**
 * Writes out/redline.vsix.
 * @returns {Promise<string>} its path
 * @throws {Error} when there is no bundle or the manifest is refused
 */
export async function packageExtension() {
  const manifest = JSON.parse(fs.readFileSync(path.join(repoRoot, 'package.json'), 'utf8'));
  if (!fs.existsSync(path.join(repoRoot, manifest.main)))
    throw new Error(`${manifest.main} is missing: build first.`);
  fs.mkdirSync(path.dirname(vsixPath), { recursive: true });
  fs.rmSync(vsixPath, { force: true });
  await createVSIX({
    cwd: repoRoot,
    packagePath: vsixPath,
    // The structural engine in it is native code of this platform.
    target: `${process.platform}-${process.arch}`,
    // The bundle has them all.
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
  });
  if (!fs.existsSync(vsixPath)) throw new Error('The package was not written.');
  return vsixPath;
}
