/**
 * `npm run test:mutations`: applies faults of ours to a copy of the source, one at a time, and plays random histories until
 * they find it. Prints after how many; fails if a fault survives them all, or no longer fits the source.
 *
 *   RUNS=50000 npm run test:mutations              plays more histories before a fault counts as survived
 *   SEED=… npm run test:mutations -- 'plan mode'   other histories; only rules that contain this text
 */
import * as fs from 'node:fs';
import { availableParallelism } from 'node:os';
import * as path from 'node:path';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { cleanUp, temporaryFolder } = await import('./lib/cleanup.mjs');
const { runNode } = await import('./lib/command.mjs');
const { mutations } = await import('../test/mutations/mutations.mjs');
const { inRepo } = await import('./lib/paths.mjs');

const runs = Number(process.env.RUNS ?? '30000');
const seed = process.env.SEED ?? '1';
/** How many are played at most of those that take a tenth of a second each. */
const MOST = { powerHistories: 2_000 };
const wanted = mutations.filter(({ rule }) => rule.includes(process.argv[2] ?? ''));
const results = new Map();

const WORKERS = Math.min(2, availableParallelism());
await Promise.all(Array.from({ length: WORKERS }, (_, n) => work(n)));
await cleanUp();
for (const { rule } of wanted) console.log(`${results.get(rule).padStart(24)}  ${rule}`);
console.log(`${results.get('').padStart(24)}  (the source as it is)`);
const failed = [...results.values()].filter(result => !result.startsWith('found')).length;
console.log(`mutations: ${wanted.length - failed} of ${wanted.length} found`);
process.exitCode = failed === 0 && wanted.length > 0 ? 0 : 1;

/** Takes one fault after the other until none is left. Each worker has a copy of the source of its own. */
async function work(n) {
  const copy = temporaryFolder('redline-mutations-');
  for (const name of ['src', 'scripts', 'test', 'package.json', 'tsconfig.json'])
    fs.cpSync(inRepo(name), path.join(copy, name), { recursive: true });
  fs.symlinkSync(fs.realpathSync(inRepo('node_modules')), path.join(copy, 'node_modules'), 'junction');
  if (n === 0) {
    // Else faults of the source as it is would count as found.
    results.set('', 'found nothing');
    for (const [by, { test, histories }] of new Map(
      wanted.map(each => [each.test ?? each.histories, each]),
    )) {
      const result = await play(copy, { test, histories });
      console.log(`mutations: the source as it is, by ${by ?? 'runtimeSteps'}: ${result}`);
      if (!result.startsWith('SURVIVED')) results.set('', `NOT SOUND: ${result}`);
    }
  }
  for (let at = n; at < wanted.length; at += WORKERS) {
    const mutation = wanted[at];
    const result = await find(copy, mutation);
    results.set(mutation.rule, result.split(': ', 1)[0]);
    console.log(`mutations: ${mutation.rule}: ${result}`);
  }
}

async function find(copy, { file, from, to, and = [], ...player }) {
  const target = path.join(copy, 'src', 'agent', file);
  const source = fs.readFileSync(target, 'utf8');
  let mutated = source;
  for (const one of [{ from, to }, ...and]) {
    if (mutated.split(one.from).length !== 2) return 'OUT OF DATE';
    mutated = mutated.replace(one.from, () => one.to);
  }
  fs.writeFileSync(target, mutated);
  try {
    return await play(copy, player);
  } finally {
    fs.writeFileSync(target, source);
  }
}

/**
 * Plays histories in a process of its own, or runs the file of tests below test/unit that a fault names instead.
 * @returns the outcome, for people; a file that cannot be loaded, or has no test, finds nothing
 */
async function play(copy, { runs: needed = 0, test, histories = 'runtimeSteps' }) {
  const args = test
    ? ['--test', '--test-reporter=tap', path.join(copy, 'test', 'unit', test)]
    : [inRepo('test', 'mutations', 'playHistories.mjs'), copy, histories];
  let output = '';
  await runNode(['--disable-warning=ExperimentalWarning', ...args], {
    cwd: copy,
    env: { RUNS: String(Math.max(Math.min(runs, MOST[histories] ?? runs), needed)), SEED: seed },
    onOutput: data => (output += data),
  });
  const [told] = /^(?:found after|SURVIVED) \d+.*$/m.exec(output) ?? [];
  if (told !== undefined) return told;
  const [, count = '0'] = /^# tests (\d+)$/m.exec(output) ?? [];
  const [, failed] = /^ *not ok \d+ - (?!.*\.test\.ts$)(.*)$/m.exec(output) ?? [];
  if (failed !== undefined) return `found after ${count}: ${failed}`;
  const isGreen = count !== '0' && /^# fail 0$/m.test(output);
  return isGreen ? `SURVIVED ${count}` : `BROKEN: ${output.trim().split('\n').at(-1)}`;
}
