import * as fs from 'node:fs';
import * as path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';
import { sha256 } from '../../src/agent/base/hash.ts';

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
    external: ['@ast-grep/napi'],
  });
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  return file;
}

/** A native file as it is in a package: its path, and its content. */
export function packedFile(name: string, content: string | Uint8Array): Record<string, Buffer> {
  const bytes = Buffer.from(content);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 };
  return { [`${name}-${sha256(bytes).slice(0, 16)}.node.br`]: brotliCompressSync(bytes, { params }) };
}
