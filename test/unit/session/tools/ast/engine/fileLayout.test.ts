import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileLayout } from '../../../../../../src/agent/session/tools/ast/engine/fileLayout.ts';

test('a layout has no getter: V8 would keep it, and the syntax tree behind it, until it collects old objects', () => {
  const layout = new FileLayout('  a\n  b\n', () => []).at(6);
  const getters = Object.entries(Object.getOwnPropertyDescriptors(layout)).filter(([, { get }]) => get);
  assert.deepEqual(getters, []);
  assert.equal(layout.unit(), 2);
});
