/**
 * `npm run test:kill-sandbox [-- <times>]`: kills a process at random moments of commands in the sandbox, 100 times by default;
 * `-- hostile [<times>]`: runs commands that do not want to end, 1,000 times by default.
 */
import { bootstrap } from './lib/bootstrap.mjs';

/** All kills are one test. */
const HOURS_MS = 4 * 3_600_000;

await bootstrap();
const { runFiles } = await import('./stages/fileLanes.mjs');
const [mode, times] = process.argv.slice(2);
const isHostile = mode === 'hostile';
const file = isHostile ? 'test/soak/hostileSandbox.test.ts' : 'test/soak/killSandbox.test.ts';
const { failed } = await runFiles('kill-sandbox', [file], {
  lanes: 1,
  env: isHostile ? { REDLINE_HOSTILE: times ?? '1000' } : { REDLINE_KILLS: mode ?? '100' },
  quiet: HOURS_MS,
});
process.exitCode = failed === 0 ? 0 : 1;
