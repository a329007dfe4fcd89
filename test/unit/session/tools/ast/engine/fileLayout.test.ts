import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FileLayout } from '../../../../../../src/agent/session/tools/ast/engine/fileLayout.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

test('a layout that is no longer used is freed with the young objects, and the syntax tree behind it', () => {
  const MB = 1024 * 1024;
  // Stands for a tree: it is freed by the first collection in which nothing refers to it.
  const lookAt = (tree: ArrayBuffer): void => {
    const layout = new FileLayout('  a\n  b\n', () => (tree.byteLength > 0 ? [] : [{ start: 0, end: 1 }]));
    assert.equal(layout.at(6).unit(), 2);
  };
  gc();
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 16; count++) lookAt(new ArrayBuffer(MB));
  gc({ type: 'minor' });
  const left = process.memoryUsage().arrayBuffers - before;
  assert.ok(left < 4 * MB, `${left} bytes are still there`);
});
