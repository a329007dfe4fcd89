/**
 * `npm run bench`: runs benchmarks. The default export of each `bench/<name>.bench.ts` is a function that measures with the
 * given `Bench`. The results are printed and, as JSON, written to out/bench/<name>.json.
 *
 *   npm run bench                        runs all benchmarks
 *   npm run bench -- ast-edit            runs the named ones
 *   npm run bench -- ast-edit --rounds=7 measures more rounds (5)
 */
import * as fs from 'node:fs';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { bootstrap } from './lib/bootstrap.mjs';
import { inRepo } from './lib/paths.mjs';

await bootstrap();
const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string' } },
  allowPositionals: true,
});
const suffix = '.bench.ts';
const known = fs
  .readdirSync(inRepo('bench'))
  .filter(file => file.endsWith(suffix))
  .map(file => file.slice(0, -suffix.length));
const unknown = positionals.filter(name => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. Benchmarks: ${known.join(', ')}.`);
  process.exit(1);
}
const { Bench } = await import(pathToFileURL(inRepo('bench', 'lib', 'bench.ts')).href);
let missed = 0;
for (const name of positionals.length > 0 ? positionals : known) {
  console.log(`\n# ${name}\n`);
  const bench = new Bench({ name, home: inRepo('.bench'), rounds: Number(values.rounds ?? 5) });
  const { default: run } = await import(pathToFileURL(inRepo('bench', `${name}${suffix}`)).href);
  await run(bench);
  fs.mkdirSync(inRepo('out', 'bench'), { recursive: true });
  fs.writeFileSync(inRepo('out', 'bench', `${name}.json`), `${JSON.stringify(bench.report(), null, 2)}\n`);
  missed += bench.missed;
}
console.log(missed === 0 ? '\nEvery target was met.' : `\n${missed} targets were missed.`);
process.exitCode = missed === 0 ? 0 : 1;
