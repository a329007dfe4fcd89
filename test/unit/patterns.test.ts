import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import * as vm from 'node:vm';
import ts from 'typescript';

const SRC = path.join(import.meta.dirname, '../../src');
/** Linear work on these texts takes about a millisecond; quadratic work takes many seconds. */
const LENGTH = 40_000;
const LIMIT_MS = 2_000;

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

/** The regular expression literals of a file, as written. */
function patternsOf(file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push(node.text);
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
  for (const file of files) {
    for (const pattern of new Set(patternsOf(file))) {
      // A busy machine may take the time from a linear pattern once, but hardly three times.
      if (!isFast(pattern, texts) && !isFast(pattern, texts) && !isFast(pattern, texts))
        slow.push(`${file}: ${pattern}`);
    }
  }
  assert.deepEqual(slow, []);
});

/** Whether the pattern gets through all texts in time. Only the timeout of `vm` can interrupt a match. */
function isFast(pattern: string, texts: readonly string[]): boolean {
  try {
    vm.runInNewContext(
      `for (const text of texts) text.replace(${pattern}, '')`,
      { texts },
      { timeout: LIMIT_MS },
    );
    return true;
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ERR_SCRIPT_EXECUTION_TIMEOUT', String(error));
    return false;
  }
}
