/** `npm run test:kill`: ends the extension host with SIGKILL 50 times, or as often as told, while it stages and resolves. */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { runNodeTests } = await import('./lib/nodeTests.mjs');
const { failed } = await runNodeTests('kill', 'test/soak/killHost.test.ts', {
  env: { REDLINE_KILLS: process.argv[2] ?? '50' },
});
process.exitCode = failed === 0 ? 0 : 1;
