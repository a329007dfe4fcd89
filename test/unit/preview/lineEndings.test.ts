import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { keepLineEndings } from '../../../src/agent/preview/lineEndings.ts';

const cases: readonly [what: string, original: string, edited: string, expected: string][] = [
  ['an editor that made all of them LF', 'a\r\nb\nc\r\n', 'a\nb\nc\n', 'a\r\nb\nc\r\n'],
  ['an editor that made all of them CRLF', 'a\r\nb\nc\r\n', 'a\r\nb\r\nc\r\n', 'a\r\nb\nc\r\n'],
  ['a changed line has the one of the editor', 'a\r\nb\nc\r\n', 'a\nB\nc\n', 'a\r\nB\nc\r\n'],
  ['a new line has the one of the editor', 'a\r\nb\n', 'a\nnew\nb\n', 'a\r\nnew\nb\n'],
  ['a line that goes takes its own along', 'a\r\nb\nc\r', 'a\nc\n', 'a\r\nc\r'],
  ['a lone carriage return', 'a\rb\n', 'a\nb\nc\n', 'a\rb\nc\n'],
  ['a last line that lost its ending stays without', 'a\r\nb\n', 'a\nb', 'a\r\nb'],
  ['a last line that got one keeps it', 'a\r\nb\nc', 'a\nb\nc\n', 'a\r\nb\nc\n'],
  ['nothing left', 'a\r\nb\n', '', ''],
  ['one kind alone is the editor’s to change', 'a\r\nb\r\n', 'a\nb\n', 'a\nb\n'],
];

for (const [what, original, edited, expected] of cases) {
  test(what, async () => assert.equal(await keepLineEndings(original, edited), expected));
}

const mixed = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c', ''), fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 })
  .map(lines => lines.flat().join(''));
const lf = (text: string): string => text.replace(/\r\n?/g, '\n');

test('what was not edited is as it was, whatever ending the editor knows; the words are the edited ones', async () => {
  await fc.assert(
    fc.asyncProperty(mixed, mixed, fc.constantFrom('\n', '\r\n'), async (original, edited, eol) => {
      const saved = (text: string): string => lf(text).replaceAll('\n', eol);
      if (new Set(original.match(/\r\n|\r|\n/g)).size > 1)
        assert.equal(await keepLineEndings(original, saved(original)), original);
      assert.equal(lf(await keepLineEndings(original, saved(edited))), lf(edited));
    }),
    { numRuns: 500 },
  );
});
