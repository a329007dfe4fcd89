import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  detailOf,
  hasCode,
  isAbortError,
  messageOf,
  PathError,
  ToolError,
} from '../../../src/agent/base/errors.ts';
import { StalePreviewError } from '../../../src/agent/hold/preview/errors.ts';

test('errors for the model are tool errors and keep their own names', () => {
  const stale = new StalePreviewError(['a.ts', 'b.ts']);
  assert.ok(stale instanceof ToolError);
  assert.equal(stale.name, 'StalePreviewError');
  assert.match(stale.message, /^Nothing was written: a\.ts, b\.ts changed/);
  const outside = new PathError('outside', 'no');
  assert.ok(outside instanceof ToolError);
  assert.equal(outside.code, 'outside');
});

test('anything that was thrown has a text for people and one for the log', () => {
  assert.equal(messageOf(new Error('plain')), 'plain');
  assert.equal(messageOf('word'), 'word');
  assert.match(detailOf(new Error('plain')), /Error: plain\n\s+at /);
  const bare = new Error('bare');
  delete bare.stack;
  assert.equal(detailOf(bare), 'Error: bare');
  assert.equal(detailOf(404), '404');
  const throwing = new Error();
  const textless = new Error();
  for (const key of ['message', 'stack']) {
    Object.defineProperty(throwing, key, { get: () => assert.fail() });
    Object.defineProperty(textless, key, { value: Object.create(null) as unknown });
  }
  for (const hostile of [Object.create(null) as unknown, throwing, textless])
    for (const text of [messageOf(hostile), detailOf(hostile)])
      assert.equal(text, 'a value without a text was thrown');
});

test('an abort error is recognised by its name, whatever its class', () => {
  assert.ok(isAbortError(new DOMException('x', 'AbortError')));
  assert.equal(isAbortError(new Error('AbortError')), false);
  assert.equal(isAbortError({ name: 'AbortError' }), false);
});

test('an error of the system is known by its code, and nothing else has one', async () => {
  const error: unknown = await readFile('/no/such/file').catch((thrown: unknown) => thrown);
  assert.deepEqual([hasCode(error, 'EPERM', 'ENOENT'), hasCode(error, 'EPERM')], [true, false]);
  for (const other of [undefined, null, 'ENOENT', new Error('ENOENT')]) assert.ok(!hasCode(other, 'ENOENT'));
});
