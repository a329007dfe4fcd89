/** `npm run test:power [-- <cuts>]`: cuts the power of a real file system at random moments, 200 times by default. Linux, root only. */
import { bootstrap } from './lib/bootstrap.mjs';

/** All cuts are one test. */
const HOURS_MS = 4 * 3_600_000;

if (process.getuid?.() !== 0) throw new Error('Mounting a disk needs root.');
await bootstrap();
const { runFiles } = await import('./stages/fileLanes.mjs');
const { failed } = await runFiles('power', ['test/soak/powerCut.test.ts'], {
  lanes: 1,
  env: { REDLINE_POWER_CUTS: process.argv[2] ?? '200' },
  quiet: HOURS_MS,
});
process.exitCode = failed === 0 ? 0 : 1;
