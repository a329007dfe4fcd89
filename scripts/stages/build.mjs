/** Stage "build": the bundle in dist/ and the package, which the later stages run. Each counts as one check. */
import { createVSIX } from '@vscode/vsce';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { runNode } from '../lib/command.mjs';
import { inRepo, repoRoot, vsixPath } from '../lib/paths.mjs';

export async function build() {
  if ((await runNode([inRepo('esbuild.mjs')])) !== 0) return { passed: 0, failed: 1, skipped: 0 };
  try {
    await packageExtension();
    return { passed: 2, failed: 0, skipped: 0 };
  } catch (error) {
    console.error(error.message);
    return { passed: 1, failed: 1, skipped: 0 };
  }
}

/** Writes out/redline.vsix with what .vscodeignore lets through. */
async function packageExtension() {
  fs.mkdirSync(path.dirname(vsixPath), { recursive: true });
  fs.rmSync(vsixPath, { force: true });
  const manifest = JSON.parse(fs.readFileSync(inRepo('package.json'), 'utf8'));
  await createVSIX({
    cwd: repoRoot,
    packagePath: vsixPath,
    // It contains the structural engine, which is native code for this platform.
    target: `${process.platform}-${process.arch}`,
    // They are all bundled.
    dependencies: false,
    allowMissingRepository: true,
    // VS Code shows pictures of a README from the web only: without a public home, their text alternatives.
    rewriteRelativeLinks: Boolean(manifest.repository),
  });
  if (!fs.existsSync(vsixPath)) throw new Error('The package was not written.');
}
