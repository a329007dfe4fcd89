/** One process of `npm run test:fuzz`: plays worlds until it has made enough calls, and prints what it found. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { emptyReport, fuzz, LIMIT_MS } from '../support/fuzz/fuzz.ts';
import { ownTime } from '../support/fuzz/eventLoop.ts';
import { buildWorkers, downloadedVsCode } from '../support/fuzz/fuzzWorld.ts';

/** A fresh sandbox and process state after this many calls. */
const WORLD_CALLS = 2_000;

/** Between the seeds of two worlds of this process: those that run beside it have the seeds in between. */
const STEP = 1_000_003;

const total = Number(process.env['RUNS']);
const folder = path.resolve('out', 'fuzz', String(process.pid));
const workers = await buildWorkers(folder);
const report = emptyReport();
for (let n = 0; report.calls < total; n++) {
  const seed = Number(process.env['SEED']) + n * STEP;
  const calls = Math.min(WORLD_CALLS, total - report.calls);
  const known = report.violations.length;
  const blocked = report.blockages.length;
  // Every other world has ripgrep, as in VS Code; the others search in this process.
  await fuzz({ seed, calls, workers, appRoot: n % 2 === 0 ? downloadedVsCode() : undefined }, report);
  for (const violation of report.violations.slice(known)) console.log(`✖ ${violation}`);
  for (const blockage of report.blockages.slice(blocked)) {
    const { wall, cpu, gc, others, functions, during } = blockage;
    const mark = ownTime(blockage) > LIMIT_MS ? '✖' : '·';
    const [all, computed, collected, other] = [wall, cpu, gc, others].map(ms => ms.toFixed(0));
    const parts = `${all} ms, of which it computed ${computed}, collected garbage ${collected}, and ${other} went to the test and to starting processes`;
    console.log(
      `${mark} [SEED=${seed}] blocked ${parts}: ${functions.join(' < ')} in ${during.slice(0, 300)}`,
    );
  }
  console.log(`fuzz: ${report.calls} calls, ${report.applied} applied (SEED=${seed})`);
}
fs.rmSync(folder, { recursive: true, force: true });
const tools = [...report.tools].filter(([, { calls }]) => calls > total / 100);
console.log(tools.map(([name, { calls, errors }]) => `${name} ${calls} (${errors} refused)`).join(', '));
const ours = report.blockages.filter(blockage => ownTime(blockage) > LIMIT_MS).length;
console.log(
  `fuzz: ${report.calls} calls, ${report.violations.length} violations, ${ours} blockages of our own over ${LIMIT_MS} ms ` +
    `(${report.blockages.length - ours} others waited for the disk, other processes, garbage collection or the test, or started a process)`,
);
process.exitCode = report.violations.length + ours > 0 ? 1 : 0;
