/**
 * Where files are. Scripts write only to `out/` (results), `dist/` (the bundle) and `.vscode-test/` (downloads, which are
 * kept between runs); git ignores all three.
 */
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The absolute path of the repository's root. */
export const repoRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The absolute path of a file in the repository. */
export const inRepo = (...parts) => path.join(repoRoot, ...parts);

/** The packaged extension. */
export const vsixPath = inRepo('out', 'redline.vsix');

/** Downloads that are kept between runs. */
export const downloads = inRepo('.vscode-test');
