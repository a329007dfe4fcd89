/**
 * Runs in the Windows Node that Wine runs: test files in lanes, which are Windows processes, too. Their output and the
 * results go into files, because the consoles of Wine lose output.
 *
 *   node.exe inWine.mjs <file with a job>
 */
import * as fs from 'node:fs';
import { runFiles } from '../stages/fileLanes.mjs';

/** @typedef {{ files: string[], first: string[], alone: string[], lanes: number, grep?: string, quiet: number, output: string, results: string }} Job */

/** @type {Job} */
const job = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const output = fs.openSync(job.output, 'w');
const results = fs.openSync(job.results, 'w');
await runFiles(job.files, {
  ...job,
  onTest: test => fs.writeSync(results, `${JSON.stringify(test)}\n`),
  write: text => fs.writeSync(output, text),
});
fs.writeSync(results, 'null\n');
