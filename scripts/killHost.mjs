/** `npm run test:kill [-- <times>]`: kills the extension host while it stages and resolves, 50 times by default. */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { runNodeTests } = await import('./lib/nodeTests.mjs');
const { failed } = await runNodeTests('kill', 'test/soak/killHost.test.ts', {
  env: { REDLINE_KILLS: process.argv[2] ?? '50' },
});
process.exitCode = failed === 0 ? 0 : 1;
