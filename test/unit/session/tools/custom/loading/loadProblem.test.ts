import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  errorPlace,
  isThrownIn,
  placeOfText,
} from '../../../../../../src/agent/session/tools/custom/loading/loadProblem.ts';

const FILE = '/project/tool.ts';
const SOURCE = "import a from './a';\n  call(a);\nname: 'x'\n";
const withStack = (message: string, ...frames: string[]): Error =>
  Object.assign(new Error(message), { stack: [`Error: ${message}`, ...frames].join('\n') });

test('a syntax error names its place at the end of its message', () => {
  const error = new Error(`ParseError: Unexpected token  \n ${FILE}:2:12`);
  assert.deepEqual(errorPlace(error, FILE, SOURCE), {
    message: 'ParseError: Unexpected token',
    line: 1,
    column: 12,
  });
});

test('an error is at the line of the innermost frame in the file, after its indentation', () => {
  const error = withStack(
    'boom',
    '    at inner (/project/other.ts:9:1)',
    `    at outer (${FILE}:2:99)`,
    `    at ${FILE}:3:1`,
  );
  assert.deepEqual(errorPlace(error, FILE, SOURCE), { message: 'boom', line: 1, column: 2 });
  assert.equal(isThrownIn(error, FILE), true);
  assert.equal(isThrownIn(error, '/project/tool.t'), false);
  assert.equal(isThrownIn('boom', FILE), false);
});

test('on Windows a path is found however its slashes lean', () => {
  const file = 'C:\\project\\tool.ts';
  for (const written of [file, 'C:/project/tool.ts']) {
    const error = withStack('boom', `    at run (${written}:2:1)`);
    assert.deepEqual(errorPlace(error, file, SOURCE), { message: 'boom', line: 1, column: 2 });
  }
});

test('a missing module is located at its import; any other error at the start of the file', () => {
  const missing = new Error("Cannot find module './a'\nRequire stack:\n- /project/tool.ts");
  assert.deepEqual(errorPlace(missing, FILE, SOURCE), {
    message: "Cannot find module './a'",
    line: 0,
    column: 14,
  });
  assert.deepEqual(errorPlace('text', FILE, SOURCE), { message: 'text', line: 0, column: 0 });
  assert.deepEqual(placeOfText(SOURCE, 'x'), { line: 2, column: 6 });
  assert.deepEqual(placeOfText(SOURCE, 'y'), { line: 0, column: 0 });
});
