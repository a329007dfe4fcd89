import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { isInside } from '../../../../base/system/realPath.ts';

/**
 * Imports a TypeScript or JavaScript file, an ES module or CommonJS. The file and everything that it imports from below
 * `root` is read from disk again, except a native ES module (`.mjs`) that is imported by a file with a top-level `await`.
 * Types are erased, so a type import from a package that is not installed is not an error.
 * @returns the exports of the module
 */
export async function importFile(file: string, root: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const source = await readFile(file, 'utf8');
  forget(root);
  const jiti = createJiti(file, {
    fsCache: false,
    moduleCache: false,
    sourceMaps: false,
    tryNative: false,
    interopDefault: true,
    debug: false,
  });
  const module = { id: file, filename: file, ext: path.extname(file), forceTranspile: true };
  try {
    return jiti.evalModule(source, { ...module, async: false });
  } catch (error) {
    // Only a module with a top-level await needs this. The error occurs before any of its imports is evaluated.
    if (!(error instanceof SyntaxError && error.message.startsWith('await is only valid'))) throw error;
    return jiti.evalModule(source, { ...module, async: true });
  }
}

/** Removes the CommonJS modules below a folder from Node's cache, except packages. */
function forget(root: string): void {
  const { cache } = createRequire(path.join(root, 'any.js'));
  for (const file of Object.keys(cache)) {
    const relative = path.relative(root, file);
    if (isInside(file, root) && !relative.split(path.sep).includes('node_modules'))
      Reflect.deleteProperty(cache, file);
  }
}
