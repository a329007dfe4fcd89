/**
 * `npm run bench`: measures. Each `bench/<name>.bench.ts` exports a function by default that gets the tools to measure
 * with and tells its tables; they go to the terminal and, as JSON, to out/bench/<name>.json.
 *
 *   npm run bench                        all of them
 *   npm run bench -- ast-edit            those that are named
 *   npm run bench -- ast-edit --rounds=7 with more rounds
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
  console.error(`There is no benchmark ${unknown.join(', ')}. Known: ${known.join(', ')}.`);
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
