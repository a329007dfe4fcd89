/**
 * `npm run bench`: runs benchmarks. The default export of each `bench/<name>.bench.ts` is a function that measures with the
 * given `Bench`. All figures are printed as one table at the end, and written as JSON, with their samples, to
 * out/bench/<name>.json.
 *
 *   npm run bench                        runs all benchmarks, in at most ten minutes on two cores; it writes
 *                                        bench/results.json, and docs/performance.svg and .md from it
 *   npm run bench -- ast-edit            runs the named ones
 *
 * The exit status is 1 if a goal was missed, or a benchmark failed.
 */
import * as fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { bootstrap } from './lib/bootstrap.mjs';
import { runNode } from './lib/command.mjs';
import { inRepo, repoRoot } from './lib/paths.mjs';

await bootstrap();
const named = process.argv.slice(2);
const suffix = '.bench.ts';
const known = fs
  .readdirSync(inRepo('bench'))
  .filter(file => file.endsWith(suffix))
  .map(file => file.slice(0, -suffix.length));
const unknown = named.filter(name => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. Benchmarks: ${known.join(', ')}.`);
  process.exit(1);
}
const load = file => import(pathToFileURL(inRepo('bench', 'lib', file)).href);
const { published, resultsOf, tableOf, withResults } = await load('results.ts');
const isWhole = named.length === 0;
const begun = performance.now();
const figures = [];
const failed = [];
for (const name of isWhole ? known : named) {
  console.log(`\n# ${name}\n`);
  const started = performance.now();
  const report = inRepo('out', 'bench', `${name}.json`);
  fs.rmSync(report, { force: true });
  // In a process of its own: the memory of one, and the folders that it clears away, are of no concern to the next.
  const status = await runNode([inRepo('bench', 'run.ts'), name, ...(isWhole ? ['all'] : [])]);
  if (status !== 0) failed.push(name);
  const { rows } = fs.existsSync(report) ? JSON.parse(fs.readFileSync(report, 'utf8')) : { rows: [] };
  figures.push(...rows.map(row => published(name, row)));
  console.log(`  (${((performance.now() - started) / 1_000).toFixed(0)} s)`);
}
const seconds = (performance.now() - begun) / 1_000;
console.log(`\n${tableOf(figures)}\n`);
// A part, or a run that broke off, would take the place of a whole one.
if (isWhole && failed.length === 0) await publish();
const missed = figures.filter(({ met }) => met === false);
for (const { figure, ours, ratio, goal } of missed)
  console.log(`Missed: ${figure}: ${ratio ?? ours}, goal ${goal}`);
if (failed.length > 0) console.log(`Failed: ${failed.join(', ')}`);
if (missed.length + failed.length === 0) console.log('Every goal was met.');
process.exitCode = missed.length + failed.length === 0 ? 0 : 1;

/** Writes the results where docs/performance.md shows them. */
async function publish() {
  const { chartOf } = await load('chart.ts');
  const { headlessVersion } = await import('./headless/install.mjs');
  const { format } = await import('prettier');
  const results = resultsOf(figures, { root: repoRoot, seconds, vscode: headlessVersion() });
  const json = await format(JSON.stringify(results), { parser: 'json', printWidth: 110 });
  fs.writeFileSync(inRepo('bench', 'results.json'), json);
  fs.writeFileSync(inRepo('docs', 'performance.svg'), chartOf(figures));
  const page = inRepo('docs', 'performance.md');
  fs.writeFileSync(page, withResults(fs.readFileSync(page, 'utf8'), results));
}
