/** Runs the test stages, two at a time where they allow it, and adds up their results. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import { cleanUp } from '../lib/cleanup.mjs';
import { runNode } from '../lib/command.mjs';
import { inRepo } from '../lib/paths.mjs';
import { withPrinter } from './lanes.mjs';

/**
 * @typedef {{ passed: number, failed: number, skipped: number, failures?: string[], notRun?: string }} Counts `failures`
 *   has a line for each, `notRun` says why a stage was not run
 * @typedef {(options: { grep?: string }) => Promise<Counts>} Stage each is exported by the module of its name, or by `module`
 */

/** In the order of the report. A stage that `needs` another runs only if that one passed. */
const STAGES = {
  check: {},
  build: {},
  unit: {},
  host: { needs: 'build' },
  ui: { needs: 'build' },
  rest: { needs: 'build', module: 'ui' },
  hostRest: { needs: 'build', module: 'host' },
  unitRest: { module: 'unit' },
  rounds: { module: 'unit' },
  long: { needs: 'build', module: 'ui' },
};
/** The stages of a run that names none. */
const USUAL = ['check', 'build', 'unit', 'host', 'ui'];
/** All tests, once each; `rounds` runs some of `unit` again. */
const EVERYTHING = [...USUAL, 'rest', 'hostRest', 'unitRest'];

/** How much of a failure the summary repeats, in lines. */
const FAILURE_LINES = 20;

/**
 * The lanes of a round run side by side, the stages of a lane one after the other. `check` is one process and gives way to
 * windows; unit tests then take the processors that those leave, so that both lanes end at about the same time.
 */
const ROUNDS = [
  [
    ['check', 'unit'],
    ['build', 'host', 'ui'],
  ],
  [['rest', 'hostRest', 'unitRest', 'rounds', 'long']],
];

/**
 * Runs the stages and prints a summary, whose last line is `N passed, N failed`.
 * @param {{ only?: string[], grep?: string, all?: boolean }} options the {@link USUAL} stages run when `only` and `all` are
 *   omitted
 * @returns {Promise<number>} the exit status: 0 when everything passed, else 1
 */
export async function runStages({ only, grep, all = false }) {
  const names = Object.keys(STAGES);
  const unknown = only?.filter(name => !names.includes(name)) ?? [];
  if (unknown.length > 0) {
    console.error(`There is no stage ${unknown.join(', ')}. Stages: ${names.join(', ')}.`);
    return 1;
  }
  const needed = only?.flatMap(name => [name, STAGES[name].needs]) ?? (all ? EVERYTHING : USUAL);
  const wanted = names.filter(name => needed.includes(name));
  /** @type {Map<string, Counts & { seconds: number }>} */
  const results = new Map();
  const runLane = async lane => {
    for (const name of lane.filter(each => wanted.includes(each))) {
      const started = Date.now();
      const { needs } = STAGES[name];
      const blocked = needs !== undefined && results.get(needs).failed > 0;
      const counts = await withPrinter(`${name.padEnd(8)} │ `, async print =>
        blocked ? cannotRun(`needs ${needs}, which failed`, print) : runStage(name, grep, print),
      );
      results.set(name, { ...counts, seconds: (Date.now() - started) / 1000 });
    }
  };
  for (const lanes of ROUNDS) {
    if (os.availableParallelism() > 1) await Promise.all(lanes.map(runLane));
    else for (const lane of lanes) await runLane(lane);
  }
  await cleanUp();
  const ran = wanted.some(name => !['check', 'build'].includes(name) && results.get(name).passed > 0);
  return summarize(wanted, results) && (ran || !grep) ? 0 : 1;
}

/** Runs a stage in a process of its own, so that its output can be told from that of another. */
async function runStage(name, grep, print) {
  const file = inRepo('out', `${name}-stage.json`);
  fs.mkdirSync(inRepo('out'), { recursive: true });
  fs.rmSync(file, { force: true });
  const { module = name } = STAGES[name];
  const args = [inRepo('scripts', 'stages', 'runOne.mjs'), module, name, file, ...(grep ? [grep] : [])];
  const status = await runNode(args, {
    env: process.stdout.isTTY ? { FORCE_COLOR: '1' } : {},
    onOutput: print,
  });
  if (status !== 0 || !fs.existsSync(file)) return cannotRun(`ended with status ${status}`, print);
  const counts = JSON.parse(fs.readFileSync(file, 'utf8'));
  if (counts.passed + counts.failed > 0 || counts.notRun) return counts;
  return grep ? { ...counts, notRun: 'no test has that name' } : cannotRun('no test ran', print);
}

function cannotRun(reason, print) {
  print(`✖ ${reason}\n`);
  return { passed: 0, failed: 1, skipped: 0, failures: [reason] };
}

/** Prints the failures and the results, at the end, where a log that was cut off still has them. Returns whether everything passed. */
function summarize(names, results) {
  let passed = 0;
  let failed = 0;
  console.log('\n━━ summary ━━');
  for (const name of names) {
    for (const failure of results.get(name).failures ?? []) console.log(`✖ ${name}: ${shortened(failure)}`);
  }
  for (const name of names) {
    const counts = results.get(name);
    passed += counts.passed;
    failed += counts.failed;
    const skipped = counts.skipped ? `, ${counts.skipped} skipped` : '';
    const result = counts.notRun ?? `${counts.passed} passed, ${counts.failed} failed${skipped}`;
    console.log(`${name.padEnd(8)} ${result} (${counts.seconds.toFixed(0)} s)`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0;
}

function shortened(failure) {
  const lines = failure.split('\n');
  return lines.length > FAILURE_LINES ? [...lines.slice(0, FAILURE_LINES), '…'].join('\n') : failure;
}
