import * as fs from 'node:fs';
import * as path from 'node:path';
import { build } from 'esbuild';
import { nativeEngine } from '../../scripts/packaging/nativeEngine.mjs';

/**
 * Builds the worker of the structural search as it is packaged, without native files.
 * @param folder that is made the extension's
 * @returns the worker's script
 */
export async function packageWorker(folder: string): Promise<string> {
  const file = path.join(folder, 'dist', 'astWorker.js');
  await build({
    entryPoints: ['src/agent/session/tools/ast/worker/worker.ts'],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    plugins: [nativeEngine],
  });
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  return file;
}
