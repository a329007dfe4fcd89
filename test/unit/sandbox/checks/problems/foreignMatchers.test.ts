import { test } from 'node:test';
import assert from 'node:assert/strict';
import { outputProblems } from '../../../../../src/agent/sandbox/checks/outputProblems.ts';
import { ForeignMatchers } from '../../../../../src/agent/sandbox/checks/problems/foreignMatchers.ts';

const worker = new URL('../../../../../src/views/chat/search/lineWorker.ts', import.meta.url);
/** As an extension's manifest has them. */
const contributions = [
  undefined,
  { problemMatchers: 'none' },
  {
    problemPatterns: [
      { name: 'tool', regexp: '^@(\\S+) (\\d+) (\\w+) (.*)$', file: 1, location: 2, severity: 3, message: 4 },
      {
        name: 'block',
        patterns: [
          { regexp: '^== (.*)$', file: 1 },
          { regexp: '^(\\d+): (.*)$', line: 1, message: 2, loop: true },
        ],
      },
      { name: 'broken', regexp: '(' },
    ],
    problemMatchers: [
      { name: 'tool', owner: 'tool', pattern: '$tool', fileLocation: ['relative', '${workspaceFolder}/sub'] },
      { name: 'block', pattern: '$block', severity: 'warning' },
      { name: 'derived', base: '$block', severity: 'error' },
      { name: 'broken', pattern: '$broken' },
    ],
  },
];

async function read(
  output: string,
  problemMatcher?: unknown,
  timeLimitMs = 60_000,
): Promise<readonly string[]> {
  const found = await new ForeignMatchers({ contributions: () => contributions, worker, timeLimitMs }).find(
    output,
    problemMatcher,
  );
  const withoutOwn = problemMatcher !== undefined;
  return outputProblems(output, '/app/sub', [{ name: 'app', fsPath: '/app' }], { found, withoutOwn }).map(
    ({ path, line, column, message, isWarning }) =>
      `${path}:${line}:${column} ${isWarning ? '(warning) ' : ''}${message}`,
  );
}

test('matchers that extensions contribute find problems that Redline has no pattern for, and come first', async () => {
  assert.deepEqual(await read('@a.x 7 warning odd\n== b.x\n1: one\n2: two\nno\n3: three\nc.ts:3:5: own'), [
    'sub/a.x:7:1 (warning) odd',
    'sub/b.x:1:1 (warning) one',
    'sub/b.x:2:1 (warning) two',
    'sub/c.ts:3:5 own',
  ]);
});

test('a check names its matchers as a task does: by name, as an object, as a list; then no other is used', async () => {
  const output = '== b.x\n1: one\na.x|4|bad\nc.ts:3:5: own';
  assert.deepEqual(await read(output, '$derived'), ['sub/b.x:1:1 one']);
  const own = { pattern: { regexp: '^(\\S+)\\|(\\d+)\\|(.*)$', message: 3 }, fileLocation: 'autoDetect' };
  assert.deepEqual(await read(output, own), ['sub/a.x:4:1 bad']);
  assert.deepEqual(await read(output, ['$block', own]), ['sub/b.x:1:1 (warning) one', 'sub/a.x:4:1 bad']);
  assert.deepEqual(await read(output, []), []);
  assert.deepEqual(await read('a.ts\n  3:5  error  x  y\n', '$eslint-stylish'), ['sub/a.ts:3:5 error  x  y']);
  const file = { pattern: { regexp: '^broken: (.*)$', kind: 'file' } };
  assert.deepEqual(await read('broken: d.x', file), ['sub/d.x:1:1 broken: d.x']);
});

test('a matcher that there is not, or that is none, is told', async () => {
  await assert.rejects(read('x', '$gone'), /There is no problem matcher "\$gone"/);
  await assert.rejects(read('x', ['$block', { pattern: { regexp: '(' } }]), /\{"pattern":/);
});

test('a pattern that backtracks for ever is ended, and holds up nothing', async () => {
  const slow = { pattern: { regexp: '^(a+)+$', file: 1 } };
  await assert.rejects(read(`${'a'.repeat(60)}!`, slow, 500), /took too long/);
});
