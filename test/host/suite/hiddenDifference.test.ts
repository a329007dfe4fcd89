import * as assert from 'node:assert/strict';
import type { TextEncoding } from '../../../src/agent/base/textCodec.ts';
import { sideOfText } from '../../../src/agent/preview/fileChange.ts';
import { hiddenDifferences } from '../../../src/views/preview/hiddenDifference.ts';
import { create, modify, remove } from '../../support/changes.ts';

suite('what a diff hides is told in words', () => {
  const cases: readonly [what: string, before: string, after: string, expected: string[]][] = [
    ['an edit', 'a\n', 'b\n', []],
    ['CRLF to LF', 'a\r\nb\r\n', 'a\nb\n', ['only line endings differ']],
    ['one line ending of many', 'a\r\nb\nc\n', 'a\nb\nc\n', ['only line endings differ']],
    ['an edit and other line endings', 'a\r\nb\r\n', 'a\nB\n', ['line endings CRLF → LF']],
    ['an edit in mixed line endings', 'a\r\nb\n', 'a\nB\n', []],
    ['spaces at the end', 'a \nb\t\n', 'a\nb\n', ['only trailing spaces differ']],
    ['spaces at the end of the last line', 'a ', 'a', ['only trailing spaces differ']],
    [
      'spaces at the end, and line endings',
      'a \r\n',
      'a\n',
      ['only trailing spaces differ', 'line endings CRLF → LF'],
    ],
    ['indentation', '\ta\n  b\n', '  a\n\tb\n', ['only spaces at the beginnings and ends of lines differ']],
    ['spaces within a line', 'a  b\n', 'a b\n', []],
    ['the last line feed', 'a\n', 'a', []],
    ['nothing', 'a\n', 'a\n', []],
  ];
  for (const [what, before, after, expected] of cases) {
    test(what, () => assert.deepEqual(hiddenDifferences(modify('a.txt', before, after)), expected));
  }

  test('another encoding', () => {
    const between = (before: TextEncoding, after: TextEncoding, text = 'é\n') =>
      hiddenDifferences({
        kind: 'modify',
        path: 'a.txt',
        before: sideOfText('é\n', before),
        after: sideOfText(text, after),
      });
    const utf8 = { name: 'utf8', bom: false } as const;
    assert.deepEqual(between(utf8, { name: 'utf8', bom: true }), ['encoding UTF-8 → UTF-8 with BOM']);
    assert.deepEqual(between({ name: 'utf16le', bom: true }, utf8), ['encoding UTF-16 LE → UTF-8']);
    assert.deepEqual(between({ name: 'iso88591', bom: false }, utf8, 'e\n'), ['encoding iso88591 → UTF-8']);
  });

  test('files that come or go hide nothing', () => {
    assert.deepEqual(hiddenDifferences(create('a.txt', 'a \r\n')), []);
    assert.deepEqual(hiddenDifferences(remove('a.txt', 'a \r\n')), []);
  });
});
