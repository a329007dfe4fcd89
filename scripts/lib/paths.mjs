/**
 * Where things are. Everything the scripts make goes under `out/` (results), `dist/` (the bundle) or
 * `.vscode-test/` (downloads that survive between runs); all three are ignored by git.
 */
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout's top folder, absolute. */
export const repoRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** An absolute path inside the checkout. */
export const inRepo = (...parts) => path.join(repoRoot, ...parts);

/** The packaged extension. */
export const vsixPath = inRepo('out', 'redline.vsix');

/** The example workspace; opened only as a copy, see workspaceCopy.mjs. */
export const exampleWorkspace = inRepo('examples', 'workspace');

/** Downloads that survive between runs. */
export const downloads = inRepo('.vscode-test');
