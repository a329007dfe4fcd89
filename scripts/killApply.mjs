/** `npm run test:kill-apply [-- <times>]`: kills a process at random moments of an apply, 120 times by default. */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { runNodeTests } = await import('./lib/nodeTests.mjs');
const { failed } = await runNodeTests('kill-apply', 'test/soak/killApply.test.ts', {
  env: { REDLINE_KILLS: process.argv[2] ?? '120' },
});
process.exitCode = failed === 0 ? 0 : 1;
