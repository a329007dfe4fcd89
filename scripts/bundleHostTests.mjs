/** Bundles the host tests without running them, for the launch configuration "Host tests". */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { bundleHostTests } = await import('./stages/hostBundles.mjs');
await bundleHostTests();
