/**
 * Counting the changed lines of a preview, compared with the `diff` package, which it is built on, and with the `diff`
 * program, whose start is part of its time. Interleaved, medians. `npm run bench -- diff`
 */
import { diffLines } from 'diff';
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { diffStat } from '../src/agent/hold/text/lineDiff.ts';
import type { Bench } from './lib/bench.ts';

/** The lines of a large source file, and how many of them are changed. */
const LINES = 10_000;
const CHANGED = 100;
/** The lines of a file that is written anew. With more of them the package alone would take minutes. */
const REWRITTEN = 1_000;

export default async function run(bench: Bench): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-bench-'));
  try {
    const before = lines(LINES, n => n);
    const after = lines(LINES, n => (n % (LINES / CHANGED) === 0 ? -n - 1 : n));
    await compare(bench, `${CHANGED} of ${LINES} lines changed`, folder, before, after);
    const [old, anew] = [lines(REWRITTEN, n => n), lines(REWRITTEN, n => -n - 1)];
    await compare(bench, `all of ${REWRITTEN} lines changed`, folder, old, anew);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function compare(
  bench: Bench,
  what: string,
  folder: string,
  before: string,
  after: string,
): Promise<void> {
  const files = [path.join(folder, 'before.ts'), path.join(folder, 'after.ts')] as const;
  fs.writeFileSync(files[0], before);
  fs.writeFileSync(files[1], after);
  const ours = async (): Promise<undefined> => {
    const { exact } = await diffStat(before, after);
    if (!exact) throw new Error('The texts were not compared line by line');
  };
  const bare = async (): Promise<undefined> => void diffLines(before, after);
  const program = (): Promise<undefined> => runDiff(files);
  // Windows has no such program.
  const hasProgram = await program().then(
    () => true,
    () => false,
  );
  for (const each of [ours, bare]) await each(); // loads what is loaded on first use
  const rounds = bench.rounds * 3;
  const samples = await bench.interleaved({ ours, bare, program: hasProgram ? program : bare }, rounds);
  bench.against(`diff, ${what}`, samples.ours, { name: 'diff package', times: samples.bare }, 1);
  if (hasProgram)
    bench.against(`diff, ${what}`, samples.ours, { name: 'diff program', times: samples.program }, 1);
}

/** Runs the program. Its status is 1 when the files differ. */
function runDiff(files: readonly [string, string]): Promise<undefined> {
  return new Promise((resolve, reject) => {
    execFile('diff', files, { maxBuffer: 1e9 }, error => {
      if (error && error.code !== 1) reject(new Error('diff failed', { cause: error }));
      else resolve(undefined);
    });
  });
}

function lines(count: number, numberOf: (n: number) => number): string {
  return Array.from({ length: count }, (_, n) => `const value${n} = compute(${numberOf(n)});\n`).join('');
}
