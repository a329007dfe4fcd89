/**
 * `npm run test:mutations`: applies faults of ours to a copy of the source, one at a time, and plays random histories until
 * they find it. Prints after how many; fails if a fault survives them all, or no longer fits the source.
 *
 *   RUNS=50000 npm run test:mutations              plays more histories before a fault counts as survived
 *   SEED=… npm run test:mutations -- 'plan mode'   other histories; only rules that contain this text
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { availableParallelism } from 'node:os';
import * as path from 'node:path';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { atExit, cleanUp, temporaryFolder } = await import('./lib/cleanup.mjs');
const { mutations } = await import('./mutations/mutations.mjs');
const { inRepo } = await import('./lib/paths.mjs');

const runs = process.env.RUNS ?? '30000';
const seed = process.env.SEED ?? '1';
const wanted = mutations.filter(({ rule }) => rule.includes(process.argv[2] ?? ''));
const results = new Map();

await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, (_, n) => work(n)));
await cleanUp();
for (const { rule } of wanted) console.log(`${results.get(rule).padStart(24)}  ${rule}`);
console.log(`${results.get('').padStart(24)}  (the source as it is)`);
const failed = [...results.values()].filter(result => !result.startsWith('found')).length;
console.log(`mutations: ${wanted.length - failed} of ${wanted.length} found`);
process.exitCode = failed === 0 && wanted.length > 0 ? 0 : 1;

/** Takes one fault after the other until none is left. Each worker has a copy of the source of its own. */
async function work(n) {
  const copy = temporaryFolder('redline-mutations-');
  for (const name of [
    'src',
    'scripts',
    'test/histories',
    'test/support',
    'test/unit/sandbox',
    'package.json',
    'tsconfig.json',
  ])
    fs.cpSync(inRepo(name), path.join(copy, name), { recursive: true });
  fs.symlinkSync(fs.realpathSync(inRepo('node_modules')), path.join(copy, 'node_modules'), 'junction');
  if (n === 0) {
    // Else faults of the source as it is would count as found.
    results.set('', 'found nothing');
    for (const histories of new Set(wanted.map(each => each.test ?? each.histories))) {
      const result = await play(copy, 0, histories);
      console.log(`mutations: the source as it is, by ${histories ?? 'runtimeSteps'}: ${result}`);
      if (!result.startsWith('SURVIVED')) results.set('', `NOT SOUND: ${result}`);
    }
  }
  for (let at = n; at < wanted.length; at += Math.min(2, availableParallelism())) {
    const mutation = wanted[at];
    const result = await find(copy, mutation);
    results.set(mutation.rule, result.split(': ', 1)[0]);
    console.log(`mutations: ${mutation.rule}: ${result}`);
  }
}

async function find(copy, { file, from, to, and = [], runs: needed = 0, test, histories = test }) {
  const target = path.join(copy, 'src', 'agent', file);
  const source = fs.readFileSync(target, 'utf8');
  let mutated = source;
  for (const one of [{ from, to }, ...and]) {
    if (mutated.split(one.from).length !== 2) return 'OUT OF DATE';
    mutated = mutated.replace(one.from, () => one.to);
  }
  fs.writeFileSync(target, mutated);
  try {
    return await play(copy, needed, histories);
  } finally {
    fs.writeFileSync(target, source);
  }
}

/**
 * Plays histories in a process of its own.
 * @param needed plays at least this many.
 * @param histories the file in test/histories that makes and plays them, or the file of tests below test/unit that runs instead
 * @returns the outcome, for people
 */
function play(copy, needed = 0, histories = 'runtimeSteps') {
  const isTest = histories.endsWith('.test.ts');
  return new Promise(resolve => {
    const args = [
      '--disable-warning=ExperimentalWarning',
      ...(isTest
        ? ['--test', '--test-reporter=tap', path.join(copy, 'test', 'unit', histories)]
        : [inRepo('scripts', 'mutations', 'playHistories.mjs'), copy, histories]),
    ];
    const env = { ...process.env, RUNS: String(Math.max(Number(runs), needed)), SEED: seed };
    const child = spawn(process.execPath, args, { cwd: copy, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const unregister = atExit(() => child.kill('SIGKILL'));
    let output = '';
    let complaint = '';
    child.stdout.on('data', data => (output += data));
    child.stderr.on('data', data => (complaint = `${complaint}${data}`.slice(-2_000)));
    child.once('close', () => {
      void unregister();
      if (isTest) return resolve(resultOfTest(output));
      const [, found, played, violation] = /^(found|survived) (\d+) ?(.*)$/m.exec(output) ?? [];
      if (found === 'found') resolve(`found after ${played}: ${violation}`);
      else
        resolve(
          found === undefined ? `BROKEN: ${complaint.trim().split('\n').at(-1)}` : `SURVIVED ${played}`,
        );
    });
  });
}

/** @returns as {@link play}; a file that cannot be loaded, or has no test, finds nothing */
function resultOfTest(tap) {
  const [, count = '0'] = /^# tests (\d+)$/m.exec(tap) ?? [];
  const [, failed] = /^ *not ok \d+ - (?!.*\.test\.ts$)(.*)$/m.exec(tap) ?? [];
  if (failed !== undefined) return `found after ${count}: ${failed}`;
  const isGreen = count !== '0' && /^# fail 0$/m.test(tap);
  return isGreen ? `SURVIVED ${count}` : `BROKEN: ${tap.trim().split('\n').at(-1)}`;
}
