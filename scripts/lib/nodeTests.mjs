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
  const counts = inRepo('out', `${name}-counts.json`);
  fs.mkdirSync(inRepo('out'), { recursive: true });
  fs.rmSync(counts, { force: true });
  const status = await runNode(
    [
      ...['--disable-warning=ExperimentalWarning', '--test'],
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...[`--test-reporter=${reporter}`, `--test-reporter-destination=${counts}`],
      ...(concurrency ? [`--test-concurrency=${concurrency}`] : []),
      ...(grep ? [`--test-name-pattern=${grep}`] : []),
      pattern,
    ],
    { env: { ...COMPILED, ...env } },
  );
  const text = fs.existsSync(counts) ? fs.readFileSync(counts, 'utf8') : '';
  if (!text.trim()) {
    console.error(`node --test ended with status ${status} and counted nothing`);
    return { passed: 0, failed: 1, skipped: 0, failures: [] };
  }
  const { passed, failed, skipped, ended, failures: named } = JSON.parse(text);
  const unfinished = fs.globSync(pattern, { cwd: repoRoot }).filter(file => !ended.includes(inRepo(file)));
  for (const file of unfinished) console.error(`✖ ${file} has no tests, or exited before they were done`);
  const failures = failed + unfinished.length;
  return { passed, failed: status !== 0 && failures === 0 ? 1 : failures, skipped, failures: named };
}
