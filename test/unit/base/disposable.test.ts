import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Closing, DisposableStore, Owner } from '../../../src/agent/base/disposable.ts';
import { Gate } from '../../support/gate.ts';

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

test('a class that owns things releases them with itself', () => {
  const released: string[] = [];
  class Lamp extends Owner {
    readonly bulb = this.own({ dispose: () => released.push('bulb') });
    constructor() {
      super();
      this.own({ dispose: () => released.push('shade') });
    }
  }
  new Lamp().dispose();
  assert.deepEqual(released, ['shade', 'bulb']);
});

test('what closes in order is awaited, the newest first, and never before the caller goes on', async () => {
  const closed: string[] = [];
  const errors: unknown[] = [];
  const closing = new Closing(error => errors.push(error));
  const gate = new Gate();
  closing.add(async () => void closed.push('lock'));
  closing.add(() => Promise.reject(new Error('stuck')));
  closing.add(async () => {
    closed.push('log');
    await gate.pass();
  });
  const done = closing.close();
  assert.deepEqual(closed, [], 'its caller has more to end');
  await gate.reached;
  assert.deepEqual(closed, ['log']);
  gate.open();
  await done;
  assert.deepEqual(closed, ['log', 'lock']);
  assert.match(String(errors), /stuck/);
  await closing.close();
  assert.deepEqual(closed, ['log', 'lock'], 'once');
});
