import * as assert from 'node:assert/strict';
import { sideOfText } from '../../../src/agent/hold/preview/fileChange.ts';
import type { TextEncoding } from '../../../src/agent/hold/text/encodings.ts';
import { hiddenDifferences } from '../../../src/views/review/hiddenDifference.ts';
import { create, modify, remove, rename } from '../../support/changes.ts';

suite('what a diff hides is told in words', () => {
  const cases: readonly [what: string, before: string, after: string, expected: string[]][] = [
    ['an edit', 'a\n', 'b\n', []],
    ['CRLF to LF', 'a\r\nb\r\n', 'a\nb\n', ['only line endings differ']],
    ['one line ending of many', 'a\r\nb\nc\n', 'a\nb\nc\n', ['only line endings differ']],
    ['an edit and other line endings', 'a\r\nb\r\n', 'a\nB\n', ['line endings CRLF → LF']],
    ['an edit in mixed line endings', 'a\r\nb\n', 'a\nB\n', ['the line ending differs in 1 line']],
    ['an edit and two other line endings', 'a\nb\nc\n', 'a\r\nB\nc\r\n', ['line endings differ in 2 lines']],
    ['an edit and indentation', '\ta\nb\n', '  a\nB\n', ['indentation differs in 1 line']],
    ['an edit and more of it', '\ta\nb\n\tc\n', '  a\nB\n  c\n', ['indentation differs in 2 lines']],
    ['an edit and spaces at the end', 'a\nb\n', 'a \nB\n', ['trailing spaces differ in 1 line']],
    ['an edit and more of them', 'a\nb\nc\n', 'a \nB\nc\t\n', ['trailing spaces differ in 2 lines']],
    [
      'all of them',
      'a\nb\n',
      ' a \r\nB\n',
      [
        'indentation differs in 1 line',
        'trailing spaces differ in 1 line',
        'the line ending differs in 1 line',
      ],
    ],
    ['a new line with another ending', 'a\n', 'a\nb\r\n', ['the line ending differs in 1 line']],
    ['spaces at the end', 'a \nb\t\n', 'a\nb\n', ['only trailing spaces differ']],
    ['spaces at the end of the last line', 'a ', 'a', ['only trailing spaces differ']],
    [
      'spaces at the end, and line endings',
      'a \r\n',
      'a\n',
      ['only trailing spaces differ', 'line endings CRLF → LF'],
    ],
    ['indentation', '\ta\n  b\n', '  a\n\tb\n', ['only indentation differs']],
    [
      'indentation and spaces at the end',
      '\ta\nb\n',
      '  a\nb \n',
      ['only leading and trailing spaces differ'],
    ],
    ['spaces within a line', 'a  b\n', 'a b\n', []],
    ['the last line feed', 'a\n', 'a', []],
    ['nothing', 'a\n', 'a\n', []],
  ];
  for (const [what, before, after, expected] of cases) {
    test(what, async () =>
      assert.deepEqual(await hiddenDifferences(modify('a.txt', before, after)), expected),
    );
  }

  test('no number where the lines are too different to be counted', async () => {
    const lines = (start: string, step: number): string =>
      Array.from({ length: 500 }, (_, n) => `${start}line ${(n * step) % 500}\n`).join('');
    const before = `  first\n${lines('  ', 1)}  last \n`;
    const after = `\tfirst\n${lines('\t', 7)}\tone more\n  last\n`;
    assert.deepEqual(await hiddenDifferences(modify('a.txt', before, after)), [
      'indentation differs',
      'trailing spaces differ',
      'spaces may differ in more lines',
    ]);
  });

  test('another encoding', async () => {
    const between = (before: TextEncoding, after: TextEncoding, text = 'é\n') =>
      hiddenDifferences({
        kind: 'modify',
        path: 'a.txt',
        before: sideOfText('é\n', before),
        after: sideOfText(text, after),
      });
    const utf8 = { name: 'utf8', bom: false } as const;
    assert.deepEqual(await between(utf8, { name: 'utf8', bom: true }), ['encoding UTF-8 → UTF-8 with BOM']);
    assert.deepEqual(await between({ name: 'utf16le', bom: true }, utf8), ['encoding UTF-16 LE → UTF-8']);
    assert.deepEqual(await between({ name: 'iso88591', bom: false }, utf8, 'e\n'), [
      'encoding iso88591 → UTF-8',
    ]);
  });

  test('files that come or go hide nothing', async () => {
    assert.deepEqual(await hiddenDifferences(create('a.txt', 'a \r\n')), []);
    assert.deepEqual(await hiddenDifferences(remove('a.txt', 'a \r\n')), []);
  });

  test('a rename says what moves, with its edits or without', async () => {
    assert.deepEqual(await hiddenDifferences(rename('old/a.txt', 'b.txt', 'a\n')), [
      'moved from old/a.txt, content unchanged',
    ]);
    assert.deepEqual(await hiddenDifferences(rename('old/\u202ea.txt', 'b.txt', 'a\n', 'b\n')), [
      String.raw`moved from old/\u{202e}a.txt`,
    ]);
  });

  test('a file that comes back says which permissions it gets, unless they are the usual ones', async () => {
    const withMode = (mode: number): Promise<readonly string[]> => {
      const change = create('a.txt', 'a\n');
      return hiddenDifferences(change.kind === 'create' ? { ...change, mode } : change);
    };
    assert.deepEqual(await withMode(0o600), ['with the permissions 600']);
    assert.deepEqual(await withMode(0o755), ['with the permissions 755']);
    assert.deepEqual(await withMode(0o644), []);
  });
});
