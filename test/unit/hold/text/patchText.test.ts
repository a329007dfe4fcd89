import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hunksOf, patchText } from '../../../../src/agent/hold/text/hunks.ts';
import { lineCounter } from '../../../../src/agent/hold/text/lineCounter.ts';
import { lineAt, splitLines } from '../../../../src/agent/hold/text/lines.ts';

const MARK = '\\ No newline at end of file';

const cases: readonly (readonly [what: string, before: string, after: string, lines: readonly string[]])[] = [
  ['goes', 'a\nb\n', 'a\nb', ['@@ -2,1 +2,1 @@', '-b', '+b', MARK]],
  ['comes', 'a\nb', 'a\nb\n', ['@@ -2,1 +2,1 @@', '-b', MARK, '+b']],
  ['stays away', 'a\nb', 'a\nB', ['@@ -2,1 +2,1 @@', '-b', MARK, '+B', MARK]],
  ['was never there', '', 'a', ['@@ -1,0 +1,1 @@', '+a', MARK]],
  ['is a carriage return', 'a\rb\r', 'a\rb', ['@@ -2,1 +2,1 @@', '-b', '+b', MARK]],
  ['is elsewhere', 'a\nb', 'A\nb', ['@@ -1,1 +1,1 @@', '-a', '+A']],
];
for (const [what, before, after, lines] of cases)
  test(`a patch for the model tells the final newline that ${what}`, async () => {
    assert.deepEqual(patchText('f', await hunksOf(before, after), 80).split('\n'), [
      '--- f',
      '+++ f',
      ...lines,
    ]);
  });

test('what does not fit into a patch for the model is counted with its notes', async () => {
  const patch = patchText('f', await hunksOf('a', 'A'), 3);
  assert.deepEqual(patch.split('\n').slice(2), ['@@ -1,1 +1,1 @@', '-a', MARK, '[2 more lines not shown]']);
});

test('of megabytes of text, a patch for the model looks only at the lines that it shows', () => {
  let looked = 0;
  const text = Array.from({ length: 100_000 }, (_, n) => (n < 99_999 ? 'a\n' : 'a'));
  const lines = new Proxy(text, {
    get(target, key) {
      looked++;
      return Reflect.get(target, key) as unknown;
    },
  });
  const hunk = {
    beforeStart: 0,
    beforeEnd: 0,
    afterStart: 0,
    afterEnd: text.length,
    before: [],
    after: lines,
  };
  const patch = patchText('f', [hunk, { ...hunk, before: lines }], 80).split('\n');
  assert.equal(patch.length, 83);
  assert.equal(patch.at(-1), `[${100_002 + 200_003 - 80} more lines not shown]`);
  assert.ok(looked < 1_000, `${looked} looks at lines`);
});

test('lines are counted alike from the start and on the way, whatever ends them', () => {
  const text = 'a\rb\r\n\r\r\nc\n\nd';
  const placeOf = lineCounter(text);
  const starts = splitLines(text).map((_, n, lines) => lines.slice(0, n).join('').length);
  for (let offset = 0; offset <= text.length; offset++) {
    if (text[offset - 1] === '\r' && text[offset] === '\n') continue;
    const { line, start } = placeOf(offset);
    assert.deepEqual([line, start], [lineAt(text, offset), starts[line - 1]], `offset ${offset}`);
  }
});
