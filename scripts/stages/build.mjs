/** Stage "build": the bundle in dist/ and the package, which the later stages run. Each counts as one check. */
import { vsixPath } from '../lib/paths.mjs';
import { buildFor, packageFor } from '../packaging/packageExtension.mjs';
import { ownTarget } from '../packaging/targets.mjs';

/** @param {{ isSmall?: boolean }} [options] `isSmall`: the package as it is shipped, which takes a minute longer */
export async function build({ isSmall = false } = {}) {
  const target = ownTarget();
  if (!(await buildFor(target, isSmall)))
    return { passed: 0, failed: 1, skipped: 0, failures: ['the bundles'] };
  try {
    await packageFor(target, vsixPath, isSmall);
    return { passed: 2, failed: 0, skipped: 0 };
  } catch (error) {
    console.error(error.message);
    return { passed: 1, failed: 1, skipped: 0, failures: [`the package: ${error.message}`] };
  }
}
