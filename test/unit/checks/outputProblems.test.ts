import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import assert from 'node:assert/strict';
import { outputProblems } from '../../../src/agent/checks/outputProblems.ts';

const roots = [{ name: 'app', fsPath: '/home/ada/app' }];
const read = (output: string): readonly string[] =>
  outputProblems(output, '/home/ada/app', roots).map(
    ({ path, line, column, message, isWarning }) =>
      `${path}:${line}:${column} ${isWarning ? '(warning) ' : ''}${message}`,
  );

test('the places that compilers, linters and test runners name are found', () => {
  assert.deepEqual(read("src/a.ts(3,5): error TS2322: Type 'x' is wrong."), [
    "src/a.ts:3:5 error TS2322: Type 'x' is wrong.",
  ]);
  assert.deepEqual(read('src/a.ts:3:5 - error TS2322: no'), ['src/a.ts:3:5 error TS2322: no']);
  assert.deepEqual(read('./a.go:7:2: undefined: x'), ['a.go:7:2 undefined: x']);
  assert.deepEqual(read('a.c:3:5: warning: unused'), ['a.c:3:5 (warning) warning: unused']);
  assert.deepEqual(read('error[E0308]: mismatched types\n --> src/main.rs:3:5'), [
    'src/main.rs:3:5 error[E0308]: mismatched types',
  ]);
  assert.deepEqual(read('/home/ada/app/a.js\n  2:7  error  Unexpected var  no-var\n  3:1  warning  x  y\n'), [
    'a.js:2:7 error  Unexpected var  no-var',
    'a.js:3:1 (warning) warning  x  y',
  ]);
  const url = pathToFileURL('/home/ada/app/test/a.test.js').href;
  assert.deepEqual(read(`AssertionError: 1 != 2\n    at f (${url}:3:5)`), [
    'test/a.test.js:3:5 AssertionError: 1 != 2',
  ]);
  assert.deepEqual(read('  File "a.py", line 3, in f\n    x\nValueError: no'), [
    'a.py:3:1 The check fails here.',
  ]);
});

test('places outside the workspace, in packages and in ordinary text are not', () => {
  assert.deepEqual(
    read('/etc/passwd:1:1: x\nnode_modules/a/b.js:1:1: x\nat 12:30 all was well\nhttp://a:1: x'),
    [],
  );
  assert.deepEqual(
    read('    at run (node:internal/modules/esm/module_job:413:25)\n    at (webpack://app/a.js:1:1)'),
    [],
  );
});

test('a line of a file is named once, and no output makes more than 200', () => {
  assert.deepEqual(read('a.ts:1:1: one\na.ts:1:9: two'), ['a.ts:1:1 one']);
  assert.equal(read(Array.from({ length: 1_000 }, (_, n) => `a.ts:${n + 1}:1: x`).join('\n')).length, 200);
});

test('of several folders, paths begin with the name of the folder', () => {
  const two = [...roots, { name: 'lib', fsPath: '/home/ada/lib' }];
  assert.deepEqual(
    outputProblems('../lib/a.ts:1:2: x', '/home/ada/app', two).map(({ path }) => path),
    ['lib/a.ts'],
  );
});
