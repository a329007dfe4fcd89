import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import assert from 'node:assert/strict';
import { outputProblems } from '../../../../src/agent/sandbox/checks/outputProblems.ts';

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

test('each of these tools tells its place and its message', () => {
  const samples: Readonly<Record<string, readonly [output: string, expected: readonly string[]]>> = {
    'tsc, with brackets and blanks in names': [
      'app/(auth)/page.tsx(3,5): error TS2322: wrong\nmy dir/a b.ts(4,1): warning TS1: x\npages/[id].tsx:5:2 - error TS3: no\n',
      [
        'app/(auth)/page.tsx:3:5 error TS2322: wrong',
        'my dir/a b.ts:4:1 (warning) warning TS1: x',
        'pages/[id].tsx:5:2 error TS3: no',
      ],
    ],
    'colours and CRLF': [
      '\x1b[96msrc/a.ts\x1b[0m:\x1b[93m3\x1b[0m:\x1b[93m5\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS1: \x1b[0mbad\r\nb.ts(2,1): error TS2: no\r\n',
      ['src/a.ts:3:5 error TS1: bad', 'b.ts:2:1 error TS2: no'],
    ],
    Vitest: [
      ' FAIL  src/a.test.ts > adds\nAssertionError: expected 3 to be 4\n ❯ sum src/a.ts:2:3\n ❯ src/a.test.ts:10:20\n',
      [
        'src/a.ts:2:3 AssertionError: expected 3 to be 4',
        'src/a.test.ts:10:20 AssertionError: expected 3 to be 4',
      ],
    ],
    Biome: [
      'src/a.ts:3:5 lint/style/useConst  FIXABLE  ━━━━━━━━━━\n\n  × Use a constant here.\n\nsrc/b.ts:1:1 parse ━━━━━\n\n  ✖ Not closed.\n\nc.ts:4:2 lint/x/y ━━━\n\n  ! Perhaps.\n',
      ['src/a.ts:3:5 Use a constant here.', 'src/b.ts:1:1 Not closed.', 'c.ts:4:2 (warning) Perhaps.'],
    ],
    esbuild: [
      '✘ [ERROR] Expected ";" but found "x"\n\n    src/a.ts:3:5:\n      3 │ let x x\n▲ [WARNING] Twice [again]\n\n    src/b.ts:1:2:\n',
      ['src/a.ts:3:5 Expected ";" but found "x"', 'src/b.ts:1:2 (warning) Twice [again]'],
    ],
    Vite: [
      'error during build:\nsrc/main.ts (1:9): "x" is not exported by "src/b.ts".\nfile: /home/ada/app/src/main.ts:1:9\n/home/ada/app/src/c.ts:3:5: ERROR: Expected ")"\n',
      ['src/main.ts:1:9 "x" is not exported by "src/b.ts".', 'src/c.ts:3:5 ERROR: Expected ")"'],
    ],
    Cargo: [
      "thread 'tests::adds' (71) panicked at src/lib.rs:12:9:\nassertion `left == right` failed\nwarning: unused variable\n  --> src/b.rs:2:7\n",
      ['src/lib.rs:12:9 assertion `left == right` failed', 'src/b.rs:2:7 (warning) warning: unused variable'],
    ],
    Maven: [
      '[ERROR] /home/ada/app/src/A.java:[3,5] cannot find symbol\n[WARNING] /home/ada/app/B.java:[4,1] unchecked\n',
      ['src/A.java:3:5 cannot find symbol', 'B.java:4:1 (warning) unchecked'],
    ],
    Kotlin: [
      "e: file:///home/ada/app/A%20b.kt:3:5 Unresolved reference 'x'.\nw: /home/ada/app/B.kt: (4, 7): Never used\nsrc/C.kt:1:2: error: no\n",
      [
        ...(process.platform === 'win32' ? [] : ["A b.kt:3:5 Unresolved reference 'x'."]),
        'B.kt:4:7 (warning) Never used',
        'src/C.kt:1:2 error: no',
      ],
    ],
    RSpec: [
      "  1) A adds\n     Failure/Error: expect(1).to eq 2\n     # ./spec/a_spec.rb:5:in `block (2 levels) in <top>'\n\nrspec ./spec/a_spec.rb:3 # A adds\n",
      ['spec/a_spec.rb:5:1 Failure/Error: expect(1).to eq 2', 'spec/a_spec.rb:3:1 A adds'],
    ],
    PHPUnit: [
      '1) ATest::testX\nFailed asserting that 1 is 2.\n\n/home/ada/app/tests/ATest.php:12\n',
      ['tests/ATest.php:12:1 Failed asserting that 1 is 2.'],
    ],
    'a stack, with brackets and blanks in names': [
      'Error: no\n    at page (/home/ada/app/app/(auth)/my page.tsx:3:5)\n    at async /home/ada/app/b.js:2:1\n',
      ['app/(auth)/my page.tsx:3:5 Error: no', 'b.js:2:1 Error: no'],
    ],
  };
  for (const [name, [output, expected]] of Object.entries(samples))
    assert.deepEqual(read(output), expected, name);
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
