/** `npm run test:kill-sandbox [-- <times>]`: kills a process at random moments of commands in the sandbox, 100 times by default. */
import { bootstrap } from './lib/bootstrap.mjs';

/** All kills are one test. */
const HOURS_MS = 4 * 3_600_000;

await bootstrap();
const { runFiles } = await import('./stages/fileLanes.mjs');
const { failed } = await runFiles('kill-sandbox', ['test/soak/killSandbox.test.ts'], {
  lanes: 1,
  env: { REDLINE_KILLS: process.argv[2] ?? '100' },
  quiet: HOURS_MS,
});
process.exitCode = failed === 0 ? 0 : 1;
