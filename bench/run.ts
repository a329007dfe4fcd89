/**
 * Runs one benchmark, in a process that has just started: `run.ts <name> [all]`. Writes its figures and their samples
 * to out/bench/<name>.json. With `all`, it is one of all benchmarks. `scripts/bench.mjs` starts it.
 */
import * as fs from 'node:fs';
import { inRepo } from '../scripts/lib/paths.mjs';
import { Bench } from './lib/bench.ts';

const [name = '', all] = process.argv.slice(2);
const bench = new Bench({
  name,
  home: inRepo('.bench'),
  isOneOfAll: all !== undefined,
});
try {
  const benchmark = (await import(`./${name}.bench.ts`)) as { default: (on: Bench) => Promise<void> };
  await benchmark.default(bench);
} finally {
  fs.mkdirSync(inRepo('out', 'bench'), { recursive: true });
  fs.writeFileSync(inRepo('out', 'bench', `${name}.json`), `${JSON.stringify(bench.report(), null, 2)}\n`);
}
