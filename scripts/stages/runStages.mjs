/** Runs the test stages one after the other and adds up their results. */
import { cleanUp } from '../lib/cleanup.mjs';

/**
 * @typedef {{ passed: number, failed: number, skipped: number, flaky?: number, notRun?: string }} Counts `flaky`
 *   counts the tests among `passed` that failed at first; `notRun` says why a stage was not run
 * @typedef {(options: { grep?: string }) => Promise<Counts>} Stage
 */

/** Each is imported when it is run. A stage that `needs` another runs only if that one passed. */
const STAGES = {
  check: { load: async () => (await import('./check.mjs')).check },
  build: { load: async () => (await import('./build.mjs')).build },
  unit: { load: async () => (await import('./unit.mjs')).unit },
  host: { load: async () => (await import('./host.mjs')).host, needs: 'build' },
  ui: { load: async () => (await import('./ui.mjs')).ui, needs: 'build' },
};

/**
 * Runs the stages and prints a summary, whose last line is `N passed, N failed`.
 * @param {{ only?: string[], grep?: string }} options all stages run when `only` is omitted
 * @returns {Promise<number>} the exit status: 0 when everything passed, else 1
 */
export async function runStages({ only, grep }) {
  const unknown = only?.filter(name => !(name in STAGES)) ?? [];
  if (unknown.length > 0) {
    console.error(`There is no stage ${unknown.join(', ')}. Stages: ${Object.keys(STAGES).join(', ')}.`);
    return 1;
  }
  const needed = only?.flatMap(name => [name, STAGES[name].needs]);
  /** @type {Map<string, Counts & { seconds: number }>} */
  const results = new Map();
  for (const [name, { load, needs }] of Object.entries(STAGES)) {
    if (needed && !needed.includes(name)) continue;
    console.log(`\n━━ ${name} ━━`);
    const started = Date.now();
    const blocked = needs && results.get(needs)?.failed > 0;
    const counts = blocked ? cannotRun(`needs ${needs}, which failed`) : await runStage(load, grep);
    results.set(name, { ...counts, seconds: (Date.now() - started) / 1000 });
  }
  await cleanUp();
  const ran = ['unit', 'host', 'ui'].some(name => results.get(name)?.passed > 0);
  return summarize(results) && (ran || !grep) ? 0 : 1;
}

async function runStage(load, grep) {
  try {
    const counts = await (await load())({ grep });
    if (counts.passed + counts.failed > 0 || counts.notRun) return counts;
    return grep ? { ...counts, notRun: 'no test has that name' } : cannotRun('no test ran');
  } catch (error) {
    return cannotRun(error.stack ?? String(error));
  }
}

function cannotRun(reason) {
  console.error(`✖ ${reason}`);
  return { passed: 0, failed: 1, skipped: 0 };
}

/** Prints the results. Returns whether everything passed. */
function summarize(results) {
  let passed = 0;
  let failed = 0;
  console.log('\n━━ summary ━━');
  for (const [name, counts] of results) {
    passed += counts.passed;
    failed += counts.failed;
    const skipped = counts.skipped ? `, ${counts.skipped} skipped` : '';
    const flaky = counts.flaky ? `, ${counts.flaky} passed only when run again` : '';
    const result = counts.notRun ?? `${counts.passed} passed, ${counts.failed} failed${skipped}${flaky}`;
    console.log(`${name.padEnd(6)} ${result} (${counts.seconds.toFixed(0)} s)`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0;
}
