/**
 * `npm run package`: builds the extension and packages it as out/redline.vsix, for the platform that it runs on.
 * `npm run package -- --target=darwin-arm64` packages it for another one, as out/packages/redline-darwin-arm64.vsix;
 * several are separated by commas, `universal` is for all platforms in one, and `all` is everything.
 */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { askedTargets, ownTarget } = await import('./packaging/targets.mjs');
try {
  const targets = askedTargets(process.argv.slice(2));
  if (targets) {
    const { packageAll } = await import('./packaging/packageAll.mjs');
    await packageAll(targets, ownTarget());
  } else {
    const { build } = await import('./stages/build.mjs');
    process.exitCode = (await build({ isSmall: true })).failed;
  }
} catch (error) {
  console.error(`redline: ${error.message}`);
  process.exitCode = 1;
}
