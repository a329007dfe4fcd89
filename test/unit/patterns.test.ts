import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import * as vm from 'node:vm';
import ts from 'typescript';
import { limitMs } from '../../scripts/lib/limits.mjs';
import { rounds } from '../support/rounds.ts';

const SRC = path.join(import.meta.dirname, '../../src');
/** Linear work on a text of this length takes about a millisecond; quadratic work takes many seconds. */
const LENGTH = rounds(40_000, 20_000);
/** For all texts, of the time that this process gets. */
const LIMIT_MS = limitMs(2_000);

/** Texts that a pattern may match repeatedly, and what may come before and after such a run. */
const runs = [
  ' ',
  '\t',
  '\n',
  '\r',
  '/',
  '.',
  '-',
  '_',
  '0',
  'a',
  '`',
  '[',
  '@',
  ':',
  '\u0001',
  ' a',
  '\n ',
  ' ::',
  ' :: ',
  ' =>',
  ' => ',
  ' in',
  ' in ',
  '[n1]',
  ' p1',
];
const befores = ['', 'a', 'a ::', 'a :: b', 'a => b', ':', '#', 'p1', 'n1 a'];
const afters = ['', '\u0002', 'x y'];

/** What one pattern needs to take more than linear time. */
const REPEATS = /[*+]|\{\d+,/;

/** The regular expression literals of a file, as written, that may match a text of any length. */
function patternsOf(file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node) && REPEATS.test(node.text)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(path.join(SRC, file), 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

test('no pattern takes more than linear time on a long run of anything', () => {
  const files = globSync('**/*.ts', { cwd: SRC }).sort();
  const texts = befores.flatMap(before =>
    runs.flatMap(run => afters.map(after => before + run.repeat(LENGTH / run.length) + after)),
  );
  const slow: string[] = [];
  const seen = new Set<string>();
  for (const file of files) {
    for (const pattern of patternsOf(file)) {
      if (!seen.has(pattern) && !isFast(pattern, texts)) slow.push(`${file}: ${pattern}`);
      seen.add(pattern);
    }
  }
  assert.deepEqual(slow, []);
});

/**
 * Whether the pattern gets through all texts in time. Only the timeout of `vm` can interrupt a match, and it counts what other
 * processes take of a busy machine as well: then there is another try with more time.
 */
function isFast(pattern: string, texts: readonly string[]): boolean {
  const source = `for (const text of texts) text.replace(${pattern}, '')`;
  for (let timeout = LIMIT_MS; ; timeout *= 2) {
    const before = process.cpuUsage();
    try {
      vm.runInNewContext(source, { texts }, { timeout });
      return true;
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ERR_SCRIPT_EXECUTION_TIMEOUT', String(error));
    }
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1_000 >= LIMIT_MS) return false;
  }
}
