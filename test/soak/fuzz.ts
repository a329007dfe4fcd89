/** One process of `npm run test:fuzz`: plays worlds until it has made enough calls, and prints what it found. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { emptyReport, fuzz, LIMIT_MS } from '../support/fuzz/fuzz.ts';
import { buildWorkers, downloadedVsCode } from '../support/fuzz/fuzzWorld.ts';

/** A fresh sandbox and process state after this many calls. */
const WORLD_CALLS = 2_000;

const { CALLS, SEED, STEP = '1', AT = '0' } = process.env;
const total = Number(CALLS);
const folder = path.resolve('out', 'fuzz', String(process.pid));
const workers = await buildWorkers(folder);
const report = emptyReport();
for (let n = 0; report.calls < total; n++) {
  const seed = Number(SEED) + Number(AT) + n * Number(STEP);
  const calls = Math.min(WORLD_CALLS, total - report.calls);
  const known = report.violations.length;
  const blocked = report.blockages.length;
  // Every other world has ripgrep, as in VS Code; the others search in this process.
  await fuzz({ seed, calls, workers, appRoot: n % 2 === 0 ? downloadedVsCode() : undefined }, report);
  for (const violation of report.violations.slice(known)) console.log(`✖ ${violation}`);
  for (const { wall, cpu, gc, functions, during } of report.blockages.slice(blocked)) {
    const mark = cpu - gc > LIMIT_MS ? '✖' : '·';
    const parts = `${wall.toFixed(0)} ms, of which it computed ${cpu.toFixed(0)} and collected garbage ${gc.toFixed(0)}`;
    console.log(
      `${mark} [SEED=${seed}] blocked ${parts}: ${functions.slice(0, 3).join(' < ')} in ${during.slice(0, 300)}`,
    );
  }
  console.log(`fuzz: ${report.calls} calls, ${report.applied} applied (SEED=${seed})`);
}
fs.rmSync(folder, { recursive: true, force: true });
const tools = [...report.tools].filter(([, { calls }]) => calls > total / 100);
console.log(tools.map(([name, { calls, errors }]) => `${name} ${calls} (${errors} refused)`).join(', '));
const ours = report.blockages.filter(({ cpu, gc }) => cpu - gc > LIMIT_MS).length;
console.log(
  `fuzz: ${report.calls} calls, ${report.violations.length} violations, ${ours} blockages of our own over ${LIMIT_MS} ms ` +
    `(${report.blockages.length - ours} others waited for the disk, other processes or garbage collection)`,
);
process.exitCode = report.violations.length + ours > 0 ? 1 : 0;
