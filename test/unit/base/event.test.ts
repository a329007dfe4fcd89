import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { Disposable } from '../../../src/agent/base/disposable.ts';
import { Emitter } from '../../../src/agent/base/event.ts';

test('listeners run synchronously, in the order of subscription, with their this', () => {
  const emitter = new Emitter<number>();
  const heard: unknown[] = [];
  const self = { name: 'self' };
  emitter.event(n => heard.push(['first', n]));
  emitter.event(function (this: unknown, n) {
    heard.push([this, n]);
  }, self);
  emitter.fire(1);
  assert.deepEqual(heard, [
    ['first', 1],
    [self, 1],
  ]);
});

test('a disposed subscription gets no more events, and the array that was passed owns it', () => {
  const emitter = new Emitter<number>();
  const heard: number[] = [];
  const owned: Disposable[] = [];
  const subscription = emitter.event(n => heard.push(n), undefined, owned);
  assert.deepEqual(owned, [subscription]);
  emitter.fire(1);
  subscription.dispose();
  emitter.fire(2);
  assert.deepEqual(heard, [1]);
});

test('the same function subscribed twice is called twice, and disposing one keeps the other', () => {
  const emitter = new Emitter<void>();
  let calls = 0;
  const listener = (): void => void calls++;
  const first = emitter.event(listener);
  emitter.event(listener);
  emitter.fire();
  first.dispose();
  emitter.fire();
  assert.equal(calls, 3);
});

test('a listener that throws does not keep the others from running; its error is handed over', () => {
  const errors: unknown[] = [];
  const emitter = new Emitter<void>(error => errors.push(error));
  const broken = new Error('broken');
  let reached = false;
  emitter.event(() => {
    throw broken;
  });
  emitter.event(() => (reached = true));
  emitter.fire();
  assert.equal(reached, true);
  assert.deepEqual(errors, [broken]);
});

test('a listener that subscribes while an event is fired gets the next one', () => {
  const emitter = new Emitter<number>();
  const heard: number[] = [];
  const first = emitter.event(() => {
    first.dispose();
    emitter.event(n => heard.push(n));
  });
  emitter.fire(1);
  emitter.fire(2);
  assert.deepEqual(heard, [2]);
});

test('a disposed emitter is silent', () => {
  const emitter = new Emitter<void>();
  let calls = 0;
  emitter.event(() => calls++);
  emitter.dispose();
  emitter.fire();
  assert.equal(calls, 0);
});
