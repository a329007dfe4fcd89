/**
 * `npm run test:soak`: checks the properties of the runtime with 200,000 random histories, on all processors;
 * `npm run test:soak -- checks`: the same for checks, and what they let land;
 * `npm run test:soak -- proofs`: compares checks in the sandbox with a full copy, in 20,000 histories for each engine;
 * `npm run test:soak -- sandbox`: the same with commands in the sandbox;
 * `npm run test:soak -- faults`: 10,000 histories on a real folder in which a call that changes the disk fails, or the process dies there;
 * `npm run test:soak -- disk`: 10,000 histories on a model disk that loses what is not synced, whose power is cut six times each;
 * `npm run test:soak -- editors`: 1,000 rounds in a real VS Code, in which a person types while something is applied;
 * `npm run test:soak -- rewrites`: compares 2,000 random rewrites of `ast_edit` with the ast-grep CLI;
 * `npm run test:soak -- patches`: compares 2,000 random patches with what `git apply` makes of them;
 * `npm run test:soak -- checkouts`: compares 1,000 random states of a repository, held back, with what `git checkout` writes.
 *
 *   RUNS=20000 npm run test:soak            plays another number of histories
 *   SEED=… PATH_=… npm run test:soak        replays a failure, whose report says both values
 */
import { availableParallelism } from 'node:os';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { runNode } = await import('./lib/command.mjs');
const { cleanUp } = await import('./lib/cleanup.mjs');
const { inRepo } = await import('./lib/paths.mjs');

const subjects = {
  histories: { file: 'test/unit/runtime/properties.test.ts', runs: 200_000 },
  checks: { file: 'test/unit/sandbox/checks/checkProperties.test.ts', runs: 200_000 },
  proofs: { file: 'test/unit/sandbox/checks/fullCopy.test.ts', runs: 20_000 },
  sandbox: { file: 'test/unit/sandbox/view/histories.test.ts', runs: 200_000 },
  patches: { file: 'test/unit/hold/external/randomPatches.test.ts', runs: 2_000 },
  checkouts: { file: 'test/unit/hold/external/randomHoldBack.test.ts', runs: 1_000 },
  faults: { file: 'test/unit/hold/preview/commit/faultHistories.test.ts', runs: 10_000 },
  disk: { file: 'test/unit/hold/preview/commit/powerHistories.test.ts', runs: 10_000 },
  editors: { host: 'appliedStays.test.cjs', runs: 1_000 },
  rewrites: { file: 'test/unit/session/tools/ast/engine/randomRewrites.test.ts', runs: 2_000 },
};
const subject = subjects[process.argv[2] ?? 'histories'];
if (!subject) throw new Error(`There is only: ${Object.keys(subjects).join(', ')}`);
const { SEED, PATH_ } = process.env;
const runs = Number(process.env.RUNS ?? subject.runs);
const processes = PATH_ === undefined ? Math.max(1, availableParallelism()) : 1;
const first = SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(SEED);
const started = Date.now();
if (subject.host) {
  await (await import('./stages/build.mjs')).build({});
  await (await import('./stages/hostBundles.mjs')).bundleHostTests();
}

const statuses = await Promise.all(
  Array.from({ length: processes }, (_, n) => {
    const env = { RUNS: String(Math.ceil(runs / processes)), SEED: String(first + n) };
    console.log(
      `soak: ${env.RUNS} runs with SEED=${env.SEED}${PATH_ === undefined ? '' : ` PATH_=${PATH_}`}`,
    );
    return subject.host
      ? inHost(subject.host, n, env)
      : runNode(['--test', '--test-reporter=spec', subject.file], { env });
  }),
);
await cleanUp();
const failed = statuses.filter(status => status !== 0).length;
console.log(
  `soak: ${runs} runs in ${((Date.now() - started) / 1000).toFixed(0)} s, ${failed} of ${processes} processes failed`,
);
process.exitCode = failed === 0 ? 0 : 1;

/** Plays rounds in a VS Code of their own. */
function inHost(file, n, { RUNS, SEED }) {
  const lane = ['scripts/stages/hostLane.mjs', inRepo('out', `soak-${n + 1}.json`)];
  return runNode(lane, { env: { SEED, REDLINE_ROUNDS: RUNS, REDLINE_HOST_FILES: file } });
}
