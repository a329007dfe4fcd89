import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countLines, splitLines } from '../../../src/agent/text/lines.ts';

test('lines are counted as they are split', () => {
  for (const text of ['', 'a', 'a\n', 'a\nb', '\n', '\r', '\r\n', 'a\r\nb\rc\n\nd', 'a\r\n\r', '\n\r'])
    assert.equal(countLines(text), splitLines(text).length, JSON.stringify(text));
});
