import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countLines, splitLines, splitLinesInTurns } from '../../../../src/agent/hold/text/lines.ts';

test('lines are counted as they are split', () => {
  for (const text of ['', 'a', 'a\n', 'a\nb', '\n', '\r', '\r\n', 'a\r\nb\rc\n\nd', 'a\r\n\r', '\n\r'])
    assert.equal(countLines(text), splitLines(text).length, JSON.stringify(text));
});

test('a long text is split in turns as it is at once, wherever its line endings lie', async context => {
  let now = 0;
  context.mock.method(performance, 'now', () => (now += 100)); // each look at the clock uses up a slice
  let turns = 0;
  let others = setImmediate(function turn() {
    turns++;
    others = setImmediate(turn);
  });
  context.after(() => clearImmediate(others));
  for (const line of ['maximum\n', 'ab\r\n', '\r', 'é\n\r\n\r', 'x']) {
    const text = `${line.repeat(Math.ceil(900_000 / line.length))}end`;
    assert.deepEqual(await splitLinesInTurns(text), splitLines(text));
  }
  assert.ok(turns > 5, `${turns} turns`);
});
