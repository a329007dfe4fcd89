import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineSplitter } from '../../../src/agent/base/lineSplitter.ts';

test('lines are the same however their bytes are cut into chunks, and what has not ended is kept', () => {
  const bytes = Buffer.from('{"a":"ä💡"}\n\n{"b":1}\r\nrest');
  for (let size = 1; size <= bytes.length; size++) {
    const splitter = new LineSplitter();
    const lines: string[] = [];
    for (let at = 0; at < bytes.length; at += size)
      lines.push(...splitter.take(bytes.subarray(at, at + size)).map(String));
    assert.deepEqual(lines, ['{"a":"ä💡"}', '', '{"b":1}\r']);
    assert.deepEqual([String(splitter.rest), splitter.length], ['rest', 4]);
    assert.deepEqual(splitter.take(Buffer.from('\n')).map(String), ['rest']);
    assert.equal(splitter.length, 0);
  }
});
