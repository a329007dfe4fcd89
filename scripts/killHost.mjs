/** `npm run test:kill [-- <times>]`: kills the extension host while it stages and resolves, 50 times by default. */
import { bootstrap } from './lib/bootstrap.mjs';

/** All kills are one test. */
const HOURS_MS = 4 * 3_600_000;

await bootstrap();
const { runFiles } = await import('./stages/fileLanes.mjs');
const { failed } = await runFiles('kill', ['test/soak/killHost.test.ts'], {
  lanes: 1,
  env: { REDLINE_KILLS: process.argv[2] ?? '50' },
  quiet: HOURS_MS,
});
process.exitCode = failed === 0 ? 0 : 1;
