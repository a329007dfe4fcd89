import { test } from 'node:test';
import assert from 'node:assert/strict';
import { DisposableStore } from '../../../src/agent/base/disposable.ts';

test('what is owned is released once, the newest first', () => {
  const released: string[] = [];
  const store = new DisposableStore();
  for (const name of ['a', 'b']) store.add({ dispose: () => released.push(name) });
  store.dispose();
  store.dispose();
  assert.deepEqual(released, ['b', 'a']);
});

test('what is added to a disposed store is released at once, and handed back', () => {
  const store = new DisposableStore();
  store.dispose();
  let released = 0;
  const late = { dispose: () => released++ };
  assert.equal(store.add(late), late);
  assert.equal(released, 1);
});
