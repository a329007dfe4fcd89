/** Which files of the bundle VS Code loads when it activates the extension. */

/** The entry of the bundle. */
export const ENTRY = 'dist/extension.js';

/**
 * The entry and every file that it imports statically, directly or not.
 * @param {Record<string, { imports: readonly { path: string, kind: string }[] }>} outputs of esbuild's metafile
 * @returns {string[]} relative to the repository's root
 */
export function eagerOutputs(outputs) {
  const eager = new Set([ENTRY]);
  // The loop also visits outputs that are added to the set meanwhile.
  for (const file of eager)
    for (const imported of outputs[file].imports)
      if (imported.kind === 'import-statement' && imported.path in outputs) eager.add(imported.path);
  return [...eager];
}
