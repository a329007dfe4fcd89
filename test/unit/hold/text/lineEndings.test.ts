import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { TimeSlice } from '../../../../src/agent/base/async.ts';
import { inLineEndingsOf, keepLineEndings } from '../../../../src/agent/hold/text/lineEndings.ts';
import { lineEndingOf } from '../../../../src/agent/hold/text/lines.ts';

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

test('the line ending of a text is the only kind that it has', () => {
  const kindsOf = (text: string): string[] => [...new Set(text.match(/\r\n|\r|\n/g))];
  fc.assert(
    fc.property(mixed, text => {
      const [kind, ...others] = kindsOf(text);
      assert.equal(lineEndingOf(text), others.length > 0 ? 'mixed' : kind);
    }),
    { numRuns: 500 },
  );
});

const LINES = 200_000;
for (const [original, text] of [
  ['ab\n', 'cd\n'],
  ['ab\n', 'cd\r\n'],
  ['ab\r\n', 'cd\n'],
  ['ab\r\n', 'cd\r\n'],
  ['ab\r', 'cd\n'],
  ['ab', 'cd\n'],
] as const) {
  test(`${JSON.stringify(text)} for ${JSON.stringify(original)}, many times, in small steps and without a list of the endings`, async t => {
    const [before, after] = [original.repeat(LINES), text.repeat(LINES)];
    const kind = /\r?\n/.exec(original)?.[0];
    const matched: number[] = [];
    const { match } = String.prototype;
    t.mock.method(String.prototype, 'match', function (this: string, pattern: RegExp) {
      const found = match.call(this, pattern);
      matched.push(found?.length ?? 0);
      return found;
    });
    const replaced: number[] = [];
    const { replace } = String.prototype;
    t.mock.method(String.prototype, 'replace', function (this: string, pattern: RegExp, by: () => string) {
      replaced.push(this.length);
      return replace.call(this, pattern, by as never);
    });
    let turns = 0;
    const turn = (): Promise<void> => Promise.resolve(void turns++);
    const result = await inLineEndingsOf(before, after, Object.assign(new TimeSlice(), { turn }));
    t.mock.restoreAll();
    assert.equal(result, kind === undefined ? after : `cd${kind}`.repeat(LINES));
    assert.ok(Math.max(0, ...matched) < 1_000, 'lists all line endings');
    assert.ok(Math.max(0, ...replaced) < 100_000, 'converts all at once');
    assert.equal(turns, replaced.length);
  });
}

test('a line ending at the border of two steps is not cut', async () => {
  const text = `${'a'.repeat(64 * 1024 - 1)}\r\n`.repeat(3);
  assert.equal(await inLineEndingsOf('a\n', text), text.replaceAll('\r\n', '\n'));
  assert.equal(await inLineEndingsOf('a\r\n', text), text);
});
