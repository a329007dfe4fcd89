import { test } from 'node:test';
import assert from 'node:assert/strict';
import { TimeSlice } from '../../../../src/agent/base/async.ts';
import { hunksOf, type Hunk } from '../../../../src/agent/hold/text/hunks.ts';
import { unseenLines, type UnseenLines } from '../../../../src/agent/hold/text/unseenLines.ts';
import { diffLines } from '../../../../src/agent/hold/text/lineDiff.ts';

const nothing: UnseenLines = { isAnySeen: false, indentation: 0, trailing: 0, lineEndings: 0, isExact: true };
const seen: UnseenLines = { ...nothing, isAnySeen: true };
const cases: readonly [what: string, before: string, after: string, expected: UnseenLines][] = [
  ['no change', 'a\n', 'a\n', nothing],
  ['a visible change alone', 'a\nb\n', 'a\nB\n', seen],
  [
    'indentation beside a visible change',
    'if\n  a\n  b\nc\n',
    'if\n\ta\n\tb\nC\n',
    { ...seen, indentation: 2 },
  ],
  ['trailing blanks beside a visible change', 'a\nb\nc\n', 'a \nB\nc\t\n', { ...seen, trailing: 2 }],
  ['line endings beside a visible change', 'a\nb\nc\n', 'a\r\nB\nc\r\n', { ...seen, lineEndings: 2 }],
  [
    'all of them in one line',
    'a\nb\n',
    ' a \r\nB\n',
    { ...seen, indentation: 1, trailing: 1, lineEndings: 1 },
  ],
  [
    'a visible change that also brings another line ending',
    'a\nb\n',
    'a\nB\r\n',
    { ...seen, lineEndings: 1 },
  ],
  ['a new line with another line ending', 'a\n', 'a\nb\r\n', { ...seen, lineEndings: 1 }],
  ['a new line in mixed endings', 'a\nb\r\n', 'a\nb\r\nc\n', seen],
  [
    'indentation of lines that new lines have moved',
    'a\nb\nc\nd\n',
    'first\n a\n b\nbetween\r\n c\n d\nlast\n',
    { ...seen, indentation: 4, lineEndings: 1 },
  ],
  [
    'trailing blanks of lines around one that is gone',
    'gone\na\nalso gone\nb\ngone too\n',
    'a \nnew\nnewer\nb \nnewest\n',
    { ...seen, trailing: 2 },
  ],
  ['only indentation', '\ta\n', '  a\n', { ...nothing, indentation: 1 }],
  ['a blank line that gets blanks', 'a\n\nb\n', 'a\n  \nb\n', { ...nothing, trailing: 1 }],
  ['blanks that are not ASCII', 'a\n', '\u00a0a\u3000\n', { ...nothing, indentation: 1, trailing: 1 }],
  ['the last line feed', 'a\n', 'a', seen],
  ['blanks within a line are seen', 'a  b\n', 'a b\n', seen],
];

for (const [what, before, after, expected] of cases) {
  test(`what a diff does not show: ${what}`, async () => {
    assert.deepEqual(await unseenLines(before, await hunksOf(before, after)), expected);
  });
}

test('a file that is indented anew and edited here and there', async () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `line ${n}`);
  const before = lines.map(line => `  ${line}\n`).join('');
  const after = lines.map((line, n) => `\t${n % 500 === 7 ? `edited ${line}` : line}\n`).join('');
  assert.deepEqual(await unseenLines(before, await hunksOf(before, after)), { ...seen, indentation: 4_990 });
});

/** A hunk from the whole of one text to the whole of another. */
function wholeHunk(before: readonly string[], after: readonly string[]): Hunk {
  return { before, after, beforeStart: 0, beforeEnd: before.length, afterStart: 0, afterEnd: after.length };
}

const numbered = (count: number, line: (n: number) => string): string[] =>
  Array.from({ length: count }, (_, n) => line(n));

/** Runs it and counts the edits that it searches for, and the most lines it reads between two chances for other work. */
async function measured(hunks: readonly Hunk[]) {
  let [edits, searches, read, most, turns] = [0, 0, 0, 0, 0];
  const counting = (lines: readonly string[]): readonly string[] =>
    new Proxy(lines, {
      get: (target, key) => {
        if (key === 'slice') return (from: number, to?: number) => counting(target.slice(from, to));
        if (typeof key === 'string' && /^\d+$/.test(key)) most = Math.max(most, ++read);
        return Reflect.get(target, key) as unknown;
      },
    });
  const watched = hunks.map(hunk => ({
    ...hunk,
    before: counting(hunk.before),
    after: counting(hunk.after),
  }));
  const unseen = await unseenLines(
    '',
    watched,
    Object.assign(new TimeSlice(), {
      turn: () => {
        turns++;
        read = 0;
        return Promise.resolve();
      },
    }),
    async (old, now, limits) => {
      searches++;
      const result = await diffLines(old, now, limits);
      if (!result.exact) edits += limits?.maxEditLength ?? Infinity;
      return result;
    },
  );
  return { unseen, edits, searches, most, turns };
}

const shuffled = (count: number): string[] => numbered(count, n => `\tline ${(n * 7) % count}\n`);
const ordered = (count: number): string[] => numbered(count, n => `  line ${n}\n`);

test('all hunks together have one limit of edits, and other work runs in between', async () => {
  const hunk = wholeHunk(ordered(300), shuffled(300));
  const { unseen, edits, turns } = await measured(numbered(300, String).map(() => hunk));
  assert.equal(unseen.isExact, false);
  assert.ok(edits > 0 && edits <= 1_000, `searches for ${edits} edits`);
  assert.ok(turns >= 300, `${turns} turns`);
});

test('lines that pair up in order are counted without a search, however many, in small steps', async () => {
  const [before, after] = [ordered(100_000), numbered(100_000, n => `\tline ${n}${n % 9 ? '' : ' x'}\n`)];
  const { unseen, searches, most, turns } = await measured([wholeHunk(before, after)]);
  assert.deepEqual(unseen, { ...seen, indentation: 100_000 - Math.ceil(100_000 / 9) });
  assert.equal(searches, 0);
  assert.ok(turns > 100 && most <= 8_000, `reads ${most} lines at a time in ${turns} turns`);
});

test('many hunks of one line need no search', async () => {
  const hunks = numbered(10_000, String).flatMap(n => [
    wholeHunk([`  a${n}\n`], [`\ta${n}\n`]),
    wholeHunk([`a${n}\n`], [`b${n}\n`]),
    wholeHunk([`a${n}\n`], []),
    wholeHunk([], [`a${n}\n`]),
  ]);
  const { unseen, searches, most } = await measured(hunks);
  assert.deepEqual(unseen, { ...seen, indentation: 10_000 });
  assert.equal(searches, 0);
  assert.ok(most <= 8_000, `reads ${most} lines at a time`);
});

test('lines with long texts are compared in small steps too', async () => {
  const long = 'x'.repeat(50_000);
  const { turns } = await measured([
    wholeHunk(
      numbered(40, n => ` ${long}${n}\n`),
      numbered(40, n => `\t${long}${n}\n`),
    ),
  ]);
  assert.ok(turns >= 40, `${turns} turns`);
});

test('past the limit the numbers are known to be too low', async () => {
  const before = ['  first\n', ...ordered(600), '  last\n'];
  const after = ['\tfirst\n', ...shuffled(600), '\tone more\n', '\tlast\n'];
  const unseen = await unseenLines(before.join(''), [wholeHunk(before, after)]);
  assert.deepEqual(unseen, { ...seen, indentation: 3, isExact: false });
});
