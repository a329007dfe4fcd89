import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import * as path from 'node:path';

/**
 * Imports a TypeScript or JavaScript file, an ES module or a CommonJS one, with all that it imports from below `root`
 * read anew. Types leave nothing behind, so that a type of a package that is not installed is no error.
 *
 * What cannot be had anew: a native ES module (`.mjs`) that is imported by a file with a top-level `await`.
 * @returns what the module exports.
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
    // Of all modules only these cannot run at once; what they import is not evaluated before that is known.
    if (!(error instanceof SyntaxError && error.message.startsWith('await is only valid'))) throw error;
    return jiti.evalModule(source, { ...module, async: true });
  }
}

/** Has Node forget the CommonJS modules below a folder, packages excepted. */
function forget(root: string): void {
  const { cache } = createRequire(path.join(root, 'any.js'));
  for (const file of Object.keys(cache)) {
    const relative = path.relative(root, file);
    const isBelow = !relative.startsWith('..') && !path.isAbsolute(relative);
    if (isBelow && !relative.split(path.sep).includes('node_modules')) Reflect.deleteProperty(cache, file);
  }
}
