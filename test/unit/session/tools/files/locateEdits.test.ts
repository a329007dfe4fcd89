import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { applyTextEdits } from '../../../../../src/agent/hold/text/textEdit.ts';
import { locateEdits } from '../../../../../src/agent/session/tools/files/locateEdits.ts';

type Edits = Parameters<typeof locateEdits>[2];
const edited = async (text: string, ...edits: Edits[number][]): Promise<string> =>
  applyTextEdits(text, await locateEdits('f.ts', text, edits));
const refusal = async (text: string, ...edits: Edits[number][]): Promise<string> => {
  try {
    await edited(text, ...edits);
  } catch (error) {
    assert.ok(error instanceof Error && error.name === 'ToolError');
    return error.message;
  }
  return assert.fail('it was not refused');
};

test('one old text is replaced, and nothing else', async () => {
  assert.equal(await edited('one two three', { old: 'two', new: '2' }), 'one 2 three');
  assert.equal(await edited('one', { old: 'one', new: '' }), '');
  assert.equal(await edited('a\nb', { old: 'a\nb', new: 'c\nd\n' }), 'c\nd\n');
});

test('special characters of regular expressions have no meaning', async () => {
  assert.equal(await edited('a.c $& (x)', { old: '.c $& (x)', new: '$1$$\\n' }), 'a$1$$\\n');
});

test('all edits refer to the original text, in any order', async () => {
  const text = 'aaa bbb ccc';
  const edits = [
    { old: 'ccc', new: 'aaa' },
    { old: 'aaa', new: 'bbb' },
    { old: 'bbb', new: '' },
  ];
  assert.equal(await edited(text, ...edits), 'bbb  aaa');
});

test('edits are sorted by place', async () => {
  const located = await locateEdits('f', 'one two', [
    { old: 'two', new: '2' },
    { old: 'one', new: '1' },
  ]);
  assert.deepEqual(located, [
    { start: 0, end: 3, text: '1' },
    { start: 4, end: 7, text: '2' },
  ]);
});

test('neighbouring edits do not overlap', async () => {
  assert.equal(await edited('ab', { old: 'a', new: '1' }, { old: 'b', new: '2' }), '12');
});

test('edits that overlap are refused with the line, whatever their order', async () => {
  const text = 'x\nabcd\n';
  const [first, second] = [
    { old: 'abc', new: '' },
    { old: 'cd', new: '' },
  ] as const;
  const expected = 'Two edits overlap at line 2 of f.ts. Merge them into one edit.';
  assert.equal(await refusal(text, first, second), expected);
  assert.equal(await refusal(text, second, first), expected);
});

test('the same edit twice, and one within another, overlap', async () => {
  assert.match(await refusal('abc', { old: 'abc', new: '1' }, { old: 'abc', new: '1' }), /overlap at line 1/);
  assert.match(await refusal('abc', { old: 'abc', new: '1' }, { old: 'b', new: '2' }), /overlap at line 1/);
});

test('an old text that occurs more than once is refused with its lines', async () => {
  assert.equal(
    await refusal('x\ny\nx\n', { old: 'x', new: '' }),
    'old occurs 2 times in f.ts (lines 1, 3). Add surrounding lines to make it unique, or set replaceAll.',
  );
  assert.match(
    await refusal('x\n'.repeat(5), { old: 'x', new: '' }),
    /occurs 5 times in f\.ts \(lines 1, 2, 3, …\)/,
  );
});

test('an old text that overlaps itself is ambiguous too', async () => {
  assert.match(await refusal('aaa', { old: 'aa', new: 'b' }), /occurs 2 times/);
});

test('an empty old text is refused where the file exists', async () => {
  assert.match(
    await refusal('text', { old: '', new: 'x' }),
    /^old is empty, but f\.ts exists\..*propose the whole content/,
  );
});

test('with several edits the error names the one', async () => {
  assert.match(
    await refusal('abc', { old: 'a', new: '' }, { old: 'zzz', new: '' }),
    /^edits\.1\.old was not found/,
  );
});

test('an old text that does not occur is refused with the nearest lines, the most similar first', async () => {
  const text = 'import a;\nconst total = 1;\nconst totals = 2;\nreturn x;\n';
  assert.equal(
    await refusal(text, { old: 'let total = 1', new: '' }),
    'old was not found in f.ts. The nearest lines are:\n2: const total = 1;\n3: const totals = 2;\nCopy the exact text, including whitespace.',
  );
});

const file = 'function f() {\n\tconst a = "é – x";  \n\treturn a;\n}\n';
for (const [what, old, line, expected] of [
  [
    'blanks at the ends of lines',
    'const a = "é – x";\n\treturn a;',
    2,
    /blanks at the ends of lines\. As JSON/,
  ],
  ['tabs', '    return a;', 3, /tabs and spaces\. As JSON, the file has there:\n"\\treturn a;"$/],
  ['normalisation', 'const a = "e\u0301 – x"', 2, /look alike .*Unicode/],
  ['dashes and quotes', 'const a = “é - x”', 2, /look alike/],
  [
    'line numbers',
    '1\tfunction f() {\n2\t\tconst a = "é – x";  ',
    1,
    /line numbers, which are not part of the file\. /,
  ],
  [
    'line numbers and blanks',
    '3:     return a;\n4: }',
    3,
    /line numbers, .* file, and in tabs and spaces\. /,
  ],
] as const)
  test(`an old text that differs in nothing but ${what} is refused in words that say so`, async () => {
    const message = await refusal(file, { old, new: '' });
    assert.ok(
      message.startsWith(`old was not found in f.ts. old differs from line ${line} only in `),
      message,
    );
    assert.match(message, expected);
  });

test('blanks that fill a line are compared in linear time', async () => {
  const blanks = `${' \t'.repeat(140_000)}x`;
  const began = performance.now();
  assert.match(await refusal(`${blanks}\n`, { old: 'y  y', new: '' }), /not found/);
  assert.ok(performance.now() - began < 2_000);
});

test('no more than three candidates are named, and long ones are cut', async () => {
  const lines = [1, 2, 3, 4].map(n => `let value = ${n}\n`).join('');
  const near = await refusal(lines, { old: 'let value = 5', new: '' });
  assert.equal(near.split('\n').filter(row => /^\d: let value = \d$/.test(row)).length, 3);
  const long = await refusal(`${'ab'.repeat(150)}\n`, { old: `${'ab'.repeat(150)}c`, new: '' });
  assert.ok(long.includes(`1: ${'ab'.repeat(100)}\n`));
});

test('the first non-blank line of the old text decides which lines are near', async () => {
  const message = await refusal('alpha beta gamma\n', { old: '\n\n  alpha beta gammas\nother', new: '' });
  assert.match(message, /1: alpha beta gamma\n/);
});

test('if no line is similar, the advice is to read the file again', async () => {
  assert.equal(
    await refusal('abc\n', { old: 'zzz yyy', new: '' }),
    'old was not found in f.ts. Read the file again and copy the exact text.',
  );
  assert.equal(
    await refusal('', { old: 'x', new: '' }),
    'old was not found in f.ts. Read the file again and copy the exact text.',
  );
});

test('CRLF: an old text written with LF is found, and its replacement gets CRLF', async () => {
  assert.equal(await edited('a\r\nb\r\nc\r\n', { old: 'a\nb', new: '1\n2\n3' }), '1\r\n2\r\n3\r\nc\r\n');
});

test('CRLF: an old text written with CRLF is found, and its replacement is not doubled', async () => {
  assert.equal(await edited('a\r\nb\r\n', { old: 'a\r\nb', new: '1\r\n2' }), '1\r\n2\r\n');
  assert.equal(await edited('a\r\nb\r\n', { old: 'a\nb', new: '1\r\n2' }), '1\r\n2\r\n');
});

test('CRLF: lines that are added within one line get CRLF too', async () => {
  assert.equal(await edited('one\r\ntwo\r\n', { old: 'one', new: 'one\n1.5' }), 'one\r\n1.5\r\ntwo\r\n');
});

test('mixed line endings stay: an exact match is replaced exactly', async () => {
  assert.equal(await edited('a\r\nb\nc\n', { old: 'b', new: 'b\nB' }), 'a\r\nb\nB\nc\n');
  assert.equal(await edited('a\nb\r\nc\r\n', { old: 'a\nb', new: '1\n2' }), '1\n2\r\nc\r\n');
});

test('mixed line endings: two places that differ only in their endings are the same', async () => {
  assert.match(
    await refusal('a\nb;\na\r\nb', { old: 'a\nb', new: 'x' }),
    /^old occurs 2 times in f\.ts \(lines 1, 3\)/,
  );
});

test('mixed line endings: an old text of several lines is found, and unchanged lines keep their endings', async () => {
  const text = '1\na\r\nb\nc\r\nd\n2\r\n';
  for (const old of ['a\nb\nc\nd', 'a\r\nb\r\nc\r\nd'])
    assert.equal(await edited(text, { old, new: 'a\nB\nc\nd' }), '1\na\r\nB\nc\r\nd\n2\r\n');
  assert.equal(await edited(text, { old: 'b\nc', new: '' }), '1\na\r\n\r\nd\n2\r\n');
  assert.equal(await edited(text, { old: 'a\n', new: '' }), '1\nb\nc\r\nd\n2\r\n');
  assert.equal(await edited(text, { old: 'a\n', new: 'x\ny\n' }), '1\nx\r\ny\r\nb\nc\r\nd\n2\r\n');
});

test('mixed line endings: lines that are added within one line get its ending', async () => {
  assert.equal(await edited('a\r\nb\nc', { old: 'a', new: 'a\nA' }), 'a\r\nA\r\nb\nc');
  assert.equal(await edited('a\r\nb\nc', { old: 'c', new: 'c\nC' }), 'a\r\nb\nc\nC');
  assert.equal(await edited('a\nb\r\nc', { old: 'c', new: 'c\nC' }), 'a\nb\r\nc\r\nC');
});

test('lone carriage returns end lines, as they do where a file is read', async () => {
  assert.equal(await edited('a\rb\rc', { old: 'a\nb', new: '1\n2\n3' }), '1\r2\r3\rc');
});

test('LF: an old text with CRLF is found, and the file keeps LF', async () => {
  assert.equal(await edited('a\nb\nc\n', { old: 'a\r\nb\r\n', new: '1\r\n' }), '1\nc\n');
});

test('places are counted where the model sees them, and edited where they are', async () => {
  const text = Array.from({ length: 50 }, (_, n) => `line ${n}${n % 3 === 0 ? '\r\n' : '\n'}`).join('');
  for (let n = 0; n < 48; n++) {
    const old = `line ${n}\nline ${n + 1}\nline ${n + 2}`;
    const [edit] = await locateEdits('f', text, [{ old, new: 'x' }]);
    assert.equal(text.slice(edit?.start, edit?.end).replaceAll('\r\n', '\n'), old);
  }
});

test('CRLF: an old text with LF that occurs twice is ambiguous', async () => {
  assert.match(
    await refusal('a\r\nb\r\na\r\nb\r\n', { old: 'a\nb', new: '' }),
    /occurs 2 times in f\.ts \(lines 1, 3\)/,
  );
});

test('characters beyond the basic plane do not shift what follows', async () => {
  assert.equal(await edited('😀 a 😀', { old: 'a', new: 'ä' }), '😀 ä 😀');
});

test('texts that repeat themselves are counted in linear time', async () => {
  const text = 'a'.repeat(800_000);
  const begun = performance.now();
  assert.match(
    await refusal(text, { old: 'a'.repeat(400_000), new: '' }),
    /^old occurs 400001 times in f\.ts/,
  );
  const nearly = `${'a'.repeat(200_000)}b${'a'.repeat(200_000)}`;
  assert.match(await refusal(text, { old: nearly, new: '' }), /^old was not found/);
  // Comparing at each place takes minutes.
  assert.ok(performance.now() - begun < 10_000);
});

/** How often other tasks could run while edits were located, if each piece of work used up its time slice. */
async function turnsWhile(t: TestContext, locating: () => Promise<unknown>): Promise<number> {
  let now = 0;
  t.mock.method(performance, 'now', () => (now += 1_000));
  let turns = 0;
  let done = false;
  const count = (): void => {
    turns++;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  await locating();
  done = true;
  return turns;
}

test('other tasks run between the searches of several edits', async t => {
  const names = Array.from({ length: 30 }, (_, n) => `<${n}>`);
  const edits = names.map(old => ({ old, new: '' }));
  assert.ok((await turnsWhile(t, () => edited(names.join(''), ...edits))) >= edits.length - 1);
});

test('other tasks run while a long text is searched for what is near', async t => {
  const text = 'let value = 1\n'.repeat(30);
  assert.ok((await turnsWhile(t, () => refusal(text, { old: 'let value = 2', new: '' }))) >= 30);
});
