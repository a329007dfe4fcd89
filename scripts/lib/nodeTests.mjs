/** Runs test files with `node --test` and counts the results. */
import * as fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runNode } from './command.mjs';
import { inRepo, repoRoot } from './paths.mjs';

const reporter = fileURLToPath(new URL('./countReporter.mjs', import.meta.url));

/** Each test file is a process that imports much the same: the first to compile a module does it for the others. */
const COMPILED = { NODE_COMPILE_CACHE: inRepo('out', 'compile-cache') };

/**
 * @param {string} name of the file that the counts are written to, `out/<name>-counts.json`
 * @param {string} pattern a glob, relative to the repository's root
 * @param {{ grep?: string, concurrency?: number, env?: Record<string, string> }} [options]
 * @returns {Promise<TestCounts>} a run that exits early counts as a failure
 *
 * @typedef {{ passed: number, failed: number, skipped: number, failures: readonly string[] }} TestCounts `failures`
 *   names the failed tests, without files that failed as a whole
 */
export async function runNodeTests(name, pattern, { grep, concurrency, env } = {}) {
  const args = [
    '--test',
    ...(concurrency ? [`--test-concurrency=${concurrency}`] : []),
    ...(grep ? [`--test-name-pattern=${grep}`] : []),
    pattern,
  ];
  const { status, ended, ...counts } = await countTests(name, args, { env });
  return countUnfinished(
    fs.globSync(pattern, { cwd: repoRoot }).filter(file => !ended.includes(inRepo(file))),
    counts,
    status,
  );
}

/**
 * Runs Node on something with tests.
 * @param {string} name as above
 * @param {readonly string[]} args
 * @param {Parameters<typeof runNode>[1]} options
 * @returns {Promise<TestCounts & { status: number, ended: readonly string[] }>} `countReporter.mjs` says which files
 *   `ended` lists
 */
export async function countTests(name, args, options = {}) {
  const file = inRepo('out', `${name}-counts.json`);
  fs.mkdirSync(inRepo('out'), { recursive: true });
  fs.rmSync(file, { force: true });
  const reporters = [
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...[`--test-reporter=${reporter}`, `--test-reporter-destination=${file}`],
  ];
  const status = await runNode(['--disable-warning=ExperimentalWarning', ...reporters, ...args], {
    ...options,
    env: { ...COMPILED, ...options.env },
  });
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  if (text.trim()) return { status, ...JSON.parse(text) };
  console.error(`The tests ended with status ${status} and counted nothing`);
  return { status, passed: 0, failed: 1, skipped: 0, failures: [], ended: [] };
}

/**
 * Counts each file that was not run to its end as a failure.
 * @param {readonly string[]} unfinished
 * @param {TestCounts} counts
 * @param {number} status of the process that ran the tests
 * @returns {TestCounts}
 */
export function countUnfinished(unfinished, counts, status) {
  for (const file of unfinished) console.error(`✖ ${file} has no tests, or exited before they were done`);
  const failed = counts.failed + unfinished.length;
  return { ...counts, failed: status !== 0 && failed === 0 ? 1 : failed };
}
