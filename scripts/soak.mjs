/**
 * `npm run test:soak [-- <subject> [<runs>]]`: long runs, on all processors: 200,000 random histories of the runtime without
 * a subject, else those of its entry in `subjects` below.
 *
 *   npm run test:soak -- sandbox 20000      plays another number (RUNS=20000 does it, too)
 *   SEED=… PATH_=… npm run test:soak        replays a failure, whose report says both values
 */
import { availableParallelism } from 'node:os';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { runNode } = await import('./lib/command.mjs');
const { cleanUp } = await import('./lib/cleanup.mjs');
const { inRepo } = await import('./lib/paths.mjs');

/**
 * The subjects, each with its files of tests: random histories run in several processes with seeds of their own, a `single` one
 * in one process.
 */
const subjects = {
  histories: { file: 'test/unit/runtime/properties.test.ts', runs: 200_000 },
  // The same for checks, and the changes that they let land.
  checks: { file: 'test/unit/sandbox/checks/checkProperties.test.ts', runs: 200_000 },
  // Checks in the sandbox, compared with a full copy, in so many histories for each engine.
  proofs: { file: 'test/unit/sandbox/checks/fullCopy.test.ts', runs: 20_000 },
  // Histories with commands in the sandbox.
  sandbox: { file: 'test/unit/sandbox/view/histories.test.ts', runs: 200_000 },
  // Compared with the results of `git apply`.
  patches: { file: 'test/unit/hold/external/randomPatches.test.ts', runs: 2_000 },
  // States of a repository, held back, compared with the files of `git checkout`.
  checkouts: { file: 'test/unit/hold/external/randomHoldBack.test.ts', runs: 1_000 },
  // On a real folder: a call that changes the disk fails, or the process dies there.
  faults: { file: 'test/unit/hold/preview/commit/faultHistories.test.ts', runs: 10_000 },
  // On a model disk that loses unsynced writes, whose power is cut six times in each.
  disk: { file: 'test/unit/hold/preview/commit/powerHistories.test.ts', runs: 10_000 },
  // In a real VS Code, in which a person types while something is applied.
  editors: { host: 'appliedStays.test.cjs', runs: 1_000 },
  // Rewrites of `ast_edit`, compared with the ast-grep CLI.
  rewrites: { file: 'test/unit/session/tools/ast/engine/randomRewrites.test.ts', runs: 2_000 },
  // Calls of all tools, valid, half-valid and hostile, in workspaces with links, odd names and large files. Fails if an exception
  // escapes a tool, anything outside changes, a change is in no ledger, or our code blocks for over 50 ms: run it on a quiet machine.
  fuzz: { script: 'test/soak/fuzz.ts', runs: 100_000 },
  // Ended at random moments, and looked at afterwards: the extension host while it stages and resolves, a process that applies,
  // one that runs commands in the sandbox, commands that do not want to end, and the power of a real file system (Linux, root).
  kill: { single: 'test/soak/killHost.test.ts', runs: 50, isPackaged: true },
  'kill-apply': { single: 'test/soak/killApply.test.ts', runs: 120 },
  'kill-sandbox': { single: 'test/soak/killSandbox.test.ts', runs: 100 },
  hostile: { single: 'test/soak/hostileSandbox.test.ts', runs: 1_000 },
  power: { single: 'test/soak/powerCut.test.ts', runs: 200 },
};
const given = process.argv.slice(2);
const name = given.findLast(each => Object.hasOwn(subjects, each)) ?? 'histories';
const [number, ...unknown] = given.filter(each => !Object.hasOwn(subjects, each));
if (unknown.length > 0 || Number.isNaN(Number(number ?? 0)))
  throw new Error(`There is only: ${Object.keys(subjects).join(', ')}`);
const subject = subjects[name];
if (name === 'power' && process.getuid?.() !== 0) throw new Error('Mounting a disk needs root.');
const { SEED, PATH_ } = process.env;
const runs = Number(number ?? process.env.RUNS ?? subject.runs);
const processes = PATH_ === undefined && !subject.single ? availableParallelism() : 1;
const first = SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(SEED);
const started = Date.now();
if (subject.host || subject.isPackaged) await (await import('./stages/build.mjs')).build();
if (subject.host) await (await import('./stages/hostBundles.mjs')).bundleHostTests();

const statuses = await Promise.all(
  Array.from({ length: processes }, (_, n) => {
    const env = { RUNS: String(Math.ceil(runs / processes)), SEED: String(first + n) };
    console.log(
      `soak: ${env.RUNS} runs with SEED=${env.SEED}${PATH_ === undefined ? '' : ` PATH_=${PATH_}`}`,
    );
    if (subject.host) return inHost(subject.host, n, env);
    const file = subject.script ?? subject.single ?? subject.file;
    const tests = subject.script ? [] : ['--test', '--test-reporter=spec'];
    const warnings = '--disable-warning=ExperimentalWarning';
    return runNode([warnings, ...tests, file], { env: { ...env, REDLINE_KILLS: env.RUNS } });
  }),
);
await cleanUp();
const failed = statuses.filter(status => status !== 0).length;
console.log(
  `soak: ${runs} runs in ${((Date.now() - started) / 1000).toFixed(0)} s, ${failed} of ${processes} processes failed`,
);
process.exitCode = failed === 0 ? 0 : 1;

/** Plays rounds in a VS Code of their own. */
async function inHost(file, n, { RUNS, SEED }) {
  const { runHostTests } = await import('./stages/host.mjs');
  const failure = await runHostTests([file], inRepo('out', `soak-${n + 1}.json`), {
    env: { SEED, REDLINE_ROUNDS: RUNS },
  });
  if (failure) console.error(failure);
  return failure ? 1 : 0;
}
