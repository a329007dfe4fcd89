/** What F5 needs before "Host tests": bundles them, without running them. */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { bundleHostTests } = await import('./lib/hostBundles.mjs');
await bundleHostTests();
