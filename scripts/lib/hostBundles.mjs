/** The host tests as the extension host loads them: CommonJS, one bundle for the runner and one for each test file. */
import { build } from 'esbuild';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { inRepo, repoRoot } from './paths.mjs';

/** `runner.cjs`, and under `suite/` the test files. */
export const hostBundles = inRepo('out', 'test-host');

/** Makes `hostBundles` anew. */
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
