import { test } from 'node:test';
import assert from 'node:assert/strict';
import { applyTextEdits } from '../../../../src/agent/text/textEdit.ts';
import { locateEdits } from '../../../../src/agent/tools/files/locateEdits.ts';

type Edits = Parameters<typeof locateEdits>[2];
const edited = (text: string, ...edits: Edits[number][]): string =>
  applyTextEdits(text, locateEdits('f.ts', text, edits));
const refusal = (text: string, ...edits: Edits[number][]): string => {
  try {
    edited(text, ...edits);
  } catch (error) {
    assert.ok(error instanceof Error && error.name === 'ToolError');
    return error.message;
  }
  return assert.fail('it was not refused');
};

test('one old text is replaced, and nothing else', () => {
  assert.equal(edited('one two three', { old: 'two', new: '2' }), 'one 2 three');
  assert.equal(edited('one', { old: 'one', new: '' }), '');
  assert.equal(edited('a\nb', { old: 'a\nb', new: 'c\nd\n' }), 'c\nd\n');
});

test('special characters of regular expressions have no meaning', () => {
  assert.equal(edited('a.c $& (x)', { old: '.c $& (x)', new: '$1$$\\n' }), 'a$1$$\\n');
});

test('all edits refer to the original text, in any order', () => {
  const text = 'aaa bbb ccc';
  const edits = [
    { old: 'ccc', new: 'aaa' },
    { old: 'aaa', new: 'bbb' },
    { old: 'bbb', new: '' },
  ];
  assert.equal(edited(text, ...edits), 'bbb  aaa');
});

test('edits are sorted by place', () => {
  const located = locateEdits('f', 'one two', [
    { old: 'two', new: '2' },
    { old: 'one', new: '1' },
  ]);
  assert.deepEqual(located, [
    { start: 0, end: 3, text: '1' },
    { start: 4, end: 7, text: '2' },
  ]);
});

test('neighbouring edits do not overlap', () => {
  assert.equal(edited('ab', { old: 'a', new: '1' }, { old: 'b', new: '2' }), '12');
});

test('edits that overlap are refused with the line, whatever their order', () => {
  const text = 'x\nabcd\n';
  const [first, second] = [
    { old: 'abc', new: '' },
    { old: 'cd', new: '' },
  ] as const;
  const expected = 'Two edits overlap at line 2 of f.ts. Merge them into one edit.';
  assert.equal(refusal(text, first, second), expected);
  assert.equal(refusal(text, second, first), expected);
});

test('the same edit twice, and one within another, overlap', () => {
  assert.match(refusal('abc', { old: 'abc', new: '1' }, { old: 'abc', new: '1' }), /overlap at line 1/);
  assert.match(refusal('abc', { old: 'abc', new: '1' }, { old: 'b', new: '2' }), /overlap at line 1/);
});

test('an old text that occurs more than once is refused with its lines', () => {
  assert.equal(
    refusal('x\ny\nx\n', { old: 'x', new: '' }),
    'old occurs 2 times in f.ts (lines 1, 3). Add surrounding lines to make it unique.',
  );
  assert.match(
    refusal('x\n'.repeat(5), { old: 'x', new: '' }),
    /occurs 5 times in f\.ts \(lines 1, 2, 3, …\)/,
  );
});

test('an old text that overlaps itself is ambiguous too', () => {
  assert.match(refusal('aaa', { old: 'aa', new: 'b' }), /occurs 2 times/);
});

test('an empty old text is refused where the file exists', () => {
  assert.match(
    refusal('text', { old: '', new: 'x' }),
    /^old is empty, but f\.ts exists\..*propose the whole content/,
  );
});

test('with several edits the error names the one', () => {
  assert.match(
    refusal('abc', { old: 'a', new: '' }, { old: 'zzz', new: '' }),
    /^edits\.1\.old was not found/,
  );
});

test('an old text that does not occur is refused with the nearest lines, the most similar first', () => {
  const text = 'import a;\nconst total = 1;\nconst totals = 2;\nreturn x;\n';
  assert.equal(
    refusal(text, { old: 'const  total = 1', new: '' }),
    'old was not found in f.ts. The nearest lines are:\n2: const total = 1;\n3: const totals = 2;\nCopy the exact text, including whitespace.',
  );
});

test('no more than three candidates are named, and long ones are cut', () => {
  const lines = [1, 2, 3, 4].map(n => `let value = ${n}\n`).join('');
  const near = refusal(lines, { old: 'let value = 5', new: '' });
  assert.equal(near.split('\n').filter(row => /^\d: let value = \d$/.test(row)).length, 3);
  const long = refusal(`${'ab'.repeat(150)}\n`, { old: `${'ab'.repeat(150)}c`, new: '' });
  assert.ok(long.includes(`1: ${'ab'.repeat(100)}\n`));
});

test('the first non-blank line of the old text decides which lines are near', () => {
  const message = refusal('alpha beta gamma\n', { old: '\n\n  alpha beta gammas\nother', new: '' });
  assert.match(message, /1: alpha beta gamma\n/);
});

test('if no line is similar, the advice is to read the file again', () => {
  assert.equal(
    refusal('abc\n', { old: 'zzz yyy', new: '' }),
    'old was not found in f.ts. Read the file again and copy the exact text.',
  );
  assert.equal(
    refusal('', { old: 'x', new: '' }),
    'old was not found in f.ts. Read the file again and copy the exact text.',
  );
});

test('CRLF: an old text written with LF is found, and its replacement gets CRLF', () => {
  assert.equal(edited('a\r\nb\r\nc\r\n', { old: 'a\nb', new: '1\n2\n3' }), '1\r\n2\r\n3\r\nc\r\n');
});

test('CRLF: an old text written with CRLF is found, and its replacement is not doubled', () => {
  assert.equal(edited('a\r\nb\r\n', { old: 'a\r\nb', new: '1\r\n2' }), '1\r\n2\r\n');
  assert.equal(edited('a\r\nb\r\n', { old: 'a\nb', new: '1\r\n2' }), '1\r\n2\r\n');
});

test('CRLF: lines that are added within one line get CRLF too', () => {
  assert.equal(edited('one\r\ntwo\r\n', { old: 'one', new: 'one\n1.5' }), 'one\r\n1.5\r\ntwo\r\n');
});

test('mixed line endings stay: an exact match is replaced exactly', () => {
  assert.equal(edited('a\r\nb\nc\n', { old: 'b', new: 'b\nB' }), 'a\r\nb\nB\nc\n');
  assert.equal(edited('a\nb\r\nc\r\n', { old: 'a\nb', new: '1\n2' }), '1\n2\r\nc\r\n');
});

test('mixed line endings: two places that differ only in their endings are distinct', () => {
  assert.equal(edited('a\nb;a\r\nb', { old: 'a\nb', new: 'x' }), 'x;a\r\nb');
});

test('LF: an old text with CRLF is not found', () => {
  assert.match(refusal('a\nb\n', { old: 'a\r\nb', new: '' }), /not found/);
});

test('CRLF: an old text with LF that occurs twice is ambiguous', () => {
  assert.match(
    refusal('a\r\nb\r\na\r\nb\r\n', { old: 'a\nb', new: '' }),
    /occurs 2 times in f\.ts \(lines 1, 3\)/,
  );
});

test('characters beyond the basic plane do not shift what follows', () => {
  assert.equal(edited('😀 a 😀', { old: 'a', new: 'ä' }), '😀 ä 😀');
});

test('texts that repeat themselves are counted in linear time', () => {
  const text = 'a'.repeat(800_000);
  const begun = performance.now();
  assert.match(refusal(text, { old: 'a'.repeat(400_000), new: '' }), /^old occurs 400001 times in f\.ts/);
  const nearly = `${'a'.repeat(200_000)}b${'a'.repeat(200_000)}`;
  assert.match(refusal(text, { old: nearly, new: '' }), /^old was not found/);
  // Comparing at each place takes minutes.
  assert.ok(performance.now() - begun < 10_000);
});
