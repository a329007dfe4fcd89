/** `npm run test:kill-apply [-- <times>]`: kills a process at random moments of an apply, 120 times by default. */
import { bootstrap } from './lib/bootstrap.mjs';

/** All kills are one test. */
const HOURS_MS = 4 * 3_600_000;

await bootstrap();
const { runFiles } = await import('./stages/fileLanes.mjs');
const { failed } = await runFiles('kill-apply', ['test/soak/killApply.test.ts'], {
  lanes: 1,
  env: { REDLINE_KILLS: process.argv[2] ?? '120' },
  quiet: HOURS_MS,
});
process.exitCode = failed === 0 ? 0 : 1;
