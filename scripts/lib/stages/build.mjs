/** Stage "build": the bundle and the package, which the later stages run. Each counts as one check. */
import { runNode } from '../command.mjs';
import { packageExtension } from '../packageExtension.mjs';
import { inRepo } from '../paths.mjs';

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
