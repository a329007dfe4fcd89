import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bulkFolders } from '../../../../src/agent/sandbox/agentView/bulk.ts';

const files = (folder: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${folder}${n}`);

test('the innermost folder that alone holds too many is left for later, else the largest ones at the top', () => {
  assert.deepEqual(bulkFolders(files('a/b/', 9), 10), []);
  assert.deepEqual(bulkFolders([...files('a/b/', 11), ...files('a/', 5)], 10), ['a/b']);
  assert.deepEqual(bulkFolders([...files('a/b/c/', 6), ...files('a/b/d/', 6), 'a/x'], 10), ['a/b']);
  assert.deepEqual(bulkFolders([...files('a/', 6), ...files('b/', 7), 'x'], 10), ['b']);
  assert.deepEqual(bulkFolders(files('', 11), 10), []);
});
