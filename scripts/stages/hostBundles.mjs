/** Bundles the host tests for the extension host: as CommonJS, the runner and each test file separately. */
import { build } from 'esbuild';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { inRepo, repoRoot } from '../lib/paths.mjs';

/** Contains `runner.cjs`, and the test files in `suite/`. */
export const hostBundles = inRepo('out', 'test-host');

/** Makes the folder `hostBundles` anew. */
export async function bundleHostTests() {
  fs.rmSync(hostBundles, { recursive: true, force: true });
  const common = {
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    external: ['vscode', 'mocha'],
    sourcemap: 'inline',
    outExtension: { '.js': '.cjs' },
    logLevel: 'warning',
    absWorkingDir: repoRoot,
  };
  await build({ ...common, entryPoints: { runner: 'test/host/runner/index.ts' }, outdir: hostBundles });
  await build({
    ...common,
    entryPoints: ['test/host/suite/**/*.test.ts'],
    outbase: 'test/host/suite',
    outdir: path.join(hostBundles, 'suite'),
  });
}
