import { test } from 'node:test';
import assert from 'node:assert/strict';
import { applyHunks, hunksOf } from '../../../../src/agent/hold/text/hunks.ts';
import { diffStat } from '../../../../src/agent/hold/text/lineDiff.ts';
import { commonEnds, splitLines } from '../../../../src/agent/hold/text/lines.ts';

test('lines keep their endings, and joined they are the text', () => {
  const text = 'one\ntwo\r\nthree\rfour\n\nlast';
  assert.deepEqual(splitLines(text), ['one\n', 'two\r\n', 'three\r', 'four\n', '\n', 'last']);
  assert.equal(splitLines(text).join(''), text);
  assert.deepEqual(splitLines(''), []);
  assert.deepEqual(splitLines('\n'), ['\n']);
});

const endsOf = (before: string, after: string): number[] => {
  const { start, endBefore, endAfter } = commonEnds(splitLines(before), splitLines(after));
  return [start, endBefore, endAfter];
};

test('common first and last lines are left out', () => {
  assert.deepEqual(endsOf('a\nb\nc\nd\n', 'a\nB\nC\nd\n'), [1, 3, 3]);
});

test('equal texts leave nothing; a line is never counted as both first and last', () => {
  assert.deepEqual(endsOf('a\na\n', 'a\na\n'), [2, 2, 2]);
  assert.deepEqual(endsOf('a\na\na\n', 'a\n'), [1, 3, 1]);
});

test('a missing last line feed and another line ending are differences', () => {
  assert.deepEqual(endsOf('a\nb\n', 'a\nb'), [1, 2, 2]);
  assert.deepEqual(endsOf('a\n', 'a\r\n'), [0, 1, 1]);
});

const stats: readonly [before: string, after: string, added: number, removed: number, hunks: number][] = [
  ['', 'a\nb\n', 2, 0, 1],
  ['a\nb\n', '', 0, 2, 1],
  ['a\nb\nc\n', 'a\nc\n', 0, 1, 1],
  ['a\nb\nc\nd\n', 'x\nb\nc\ny\nz\n', 3, 2, 2],
  ['same\n', 'same\n', 0, 0, 1],
];

for (const [before, after, added, removed, hunks] of stats) {
  test(`${JSON.stringify(before)} to ${JSON.stringify(after)}: +${added} -${removed}`, async () => {
    assert.deepEqual(await diffStat(before, after), { added, removed, hunks, exact: true });
  });
}

test('a full rewrite of thousands of lines is exact: lines without a counterpart are not compared', async () => {
  const lines = (word: string): string => Array.from({ length: 10_000 }, (_, i) => `${word}${i}\n`).join('');
  assert.deepEqual(await diffStat(lines('a'), lines('b')), {
    added: 10_000,
    removed: 10_000,
    hunks: 1,
    exact: true,
  });
});

test('texts that are too different are counted without being compared, and that is told', async () => {
  const lines = Array.from({ length: 3_000 }, (_, i) => `${i}\n`);
  const { exact } = await diffStat(lines.join(''), [...lines].reverse().join(''));
  assert.equal(exact, false);
});

test('as many hunks are counted as are decided, where the lines are still compared, and where they no longer are', async () => {
  for (const removed of [100, 380, 500]) {
    const pairs = Array.from({ length: 3_000 }, (_, at) => [`${at}\n`, '\n']);
    const isKept = (at: number): boolean => at % 3 > 0 || at >= removed * 3;
    const before = pairs.flat().join('');
    const after = pairs
      .flatMap(([line = '', empty = ''], at) => (isKept(at) ? [line, empty] : line))
      .join('');
    const stat = await diffStat(before, after);
    assert.equal(stat.hunks, (await hunksOf(before, after)).length);
    if (removed < 400) assert.deepEqual([stat.added, stat.removed, stat.exact], [0, removed, true]);
  }
});

/** A pseudorandom order, the same each time. */
function shuffled(lines: readonly string[]): string[] {
  let seed = 7;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  return lines
    .map(line => ({ line, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ line }) => line);
}

const MANY = Array.from({ length: 100_000 }, (_, i) => `${i}\n`);
const hard: Readonly<Record<string, readonly [before: readonly string[], after: readonly string[]]>> = {
  'all lines in reverse': [MANY, [...MANY].reverse()],
  'all lines in disorder': [MANY, shuffled(MANY)],
  'a few lines over and over, in disorder': [
    MANY.map((_, i) => `${i % 7}\n`),
    shuffled(MANY.map((_, i) => `${i % 7}\n`)),
  ],
  'the same line more often': [MANY.map(() => 'x\n'), [...MANY, ...MANY].map(() => 'x\n')],
  'every other line taken out': [MANY, MANY.filter((_, i) => i % 2 === 0)],
  'every other line doubled': [MANY, MANY.flatMap((line, i) => (i % 2 === 0 ? [line] : [line, line]))],
  'one half moved behind the other': [MANY, [...MANY.slice(50_000), ...MANY.slice(0, 50_000)]],
};

// Quadratic, each of these would take minutes.
for (const [what, [before, after]] of Object.entries(hard)) {
  test(`100,000 lines are counted: ${what}`, { timeout: 30_000 }, async () => {
    const { added, removed } = await diffStat(before.join(''), after.join(''));
    assert.equal(added - removed, after.length - before.length);
    const hunks = await hunksOf(before.join(''), after.join(''));
    assert.equal(
      applyHunks(before.join(''), hunks, () => true),
      after.join(''),
    );
  });
}
