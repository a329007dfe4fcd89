/** Runs the test stages one after the other and adds up. */
import { cleanUp } from './cleanup.mjs';

/**
 * @typedef {{ passed: number, failed: number, skipped: number, left?: string }} Counts `left` says why a stage does
 *   not run on this machine
 * @typedef {(options: { grep?: string }) => Promise<Counts>} Stage
 */

/** Imported only when their turn comes. `needs` are stages without which one cannot run. */
const STAGES = {
  check: { load: async () => (await import('./stages/check.mjs')).check },
  build: { load: async () => (await import('./stages/build.mjs')).build },
  unit: { load: async () => (await import('./stages/unit.mjs')).unit },
  host: { load: async () => (await import('./stages/host.mjs')).host, needs: 'build' },
  ui: { load: async () => (await import('./stages/ui.mjs')).ui, needs: 'build' },
};

/**
 * Runs the stages, shows a summary, and as the very last line `N passed, N failed`.
 * @param {{ only?: string[], grep?: string }} options `only` omitted means all
 * @returns {Promise<number>} 0 when all is well, else 1
 */
export async function runStages({ only, grep }) {
  const unknown = only?.filter(name => !(name in STAGES)) ?? [];
  if (unknown.length > 0) {
    console.error(`There is no stage ${unknown.join(', ')}. There are: ${Object.keys(STAGES).join(', ')}.`);
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
    if (counts.passed + counts.failed > 0 || counts.left) return counts;
    return grep ? { ...counts, left: 'no test has that name' } : cannotRun('no test ran');
  } catch (error) {
    return cannotRun(error.stack ?? String(error));
  }
}

function cannotRun(reason) {
  console.error(`✖ ${reason}`);
  return { passed: 0, failed: 1, skipped: 0 };
}

/** True when all is well. */
function summarize(results) {
  let passed = 0;
  let failed = 0;
  console.log('\n━━ summary ━━');
  for (const [name, counts] of results) {
    passed += counts.passed;
    failed += counts.failed;
    const skipped = counts.skipped ? `, ${counts.skipped} skipped` : '';
    const said = counts.left ?? `${counts.passed} passed, ${counts.failed} failed${skipped}`;
    console.log(`${name.padEnd(6)} ${said} (${counts.seconds.toFixed(0)} s)`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0;
}
