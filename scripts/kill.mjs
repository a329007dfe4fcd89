/**
 * Ends at random moments what writes, and looks at what is there afterwards:
 * `npm run test:kill-apply [-- <times>]`: a process that applies, 120 times by default;
 * `npm run test:kill [-- <times>]`: the extension host while it stages and resolves, 50 times;
 * `npm run test:kill-sandbox [-- <times>]`: a process that runs commands in the sandbox, 100 times;
 * `npm run test:kill-sandbox -- hostile [<times>]`: commands that do not want to end, 1,000 times;
 * `npm run test:power [-- <times>]`: the power of a real file system, 200 times. Linux, root only.
 */
import { bootstrap } from './lib/bootstrap.mjs';

/** All kills are one test. */
const HOURS_MS = 4 * 3_600_000;

const subjects = {
  'kill-apply': { file: 'killApply', times: 120 },
  kill: { file: 'killHost', times: 50 },
  'kill-sandbox': { file: 'killSandbox', times: 100 },
  hostile: { file: 'hostileSandbox', times: 1_000 },
  power: { file: 'powerCut', times: 200 },
};
const [name, ...given] = process.argv.slice(2);
const subject = subjects[given[0]] ?? subjects[name];
const times = given.find(each => !Object.hasOwn(subjects, each)) ?? String(subject.times);
if (subject === subjects.power && process.getuid?.() !== 0) throw new Error('Mounting a disk needs root.');
await bootstrap();
const { runFiles } = await import('./stages/fileLanes.mjs');
const { failed } = await runFiles(name, [`test/soak/${subject.file}.test.ts`], {
  lanes: 1,
  env: { REDLINE_KILLS: times },
  quiet: HOURS_MS,
});
process.exitCode = failed === 0 ? 0 : 1;
