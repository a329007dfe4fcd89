import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { abortErrorOf, untilAborted } from '../../../src/agent/base/abort.ts';
import { isAbortError } from '../../../src/agent/base/errors.ts';
import { Gate } from '../../support/gate.ts';

test('without a signal the work is simply run', async () => {
  assert.equal(await untilAborted(undefined, () => Promise.resolve(1)), 1);
});

test('work under a signal that was aborted before is never started', async () => {
  let started = false;
  const work = untilAborted(AbortSignal.abort(), () => {
    started = true;
    return Promise.resolve();
  });
  await assert.rejects(work, isAbortError);
  assert.equal(started, false);
});

test('an abort in the middle rejects at once, and the work runs to its end', async () => {
  const controller = new AbortController();
  const gate = new Gate();
  const reason = new Error('enough');
  let ended = false;
  const inner = async (): Promise<void> => {
    await gate.pass();
    ended = true;
    throw new Error('a late failure that is swallowed');
  };
  const work = untilAborted(controller.signal, inner);
  controller.abort(reason);
  await assert.rejects(work, error => error === reason);
  assert.equal(ended, false);
  gate.open();
  await new Promise(resolve => setImmediate(resolve));
  assert.equal(ended, true);
});

test('work that aborts its own signal while it starts is rejected too', async () => {
  const controller = new AbortController();
  const work = untilAborted(controller.signal, () => {
    controller.abort();
    return new Promise<never>(() => undefined);
  });
  await assert.rejects(work, isAbortError);
});

test('the outcome of work that ends in time is passed on, and no listener is left behind', async () => {
  const { signal } = new AbortController();
  assert.equal(await untilAborted(signal, () => Promise.resolve('done')), 'done');
  const failure = new Error('own');
  await assert.rejects(
    untilAborted(signal, () => Promise.reject(failure)),
    error => error === failure,
  );
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a reason that is not an error becomes an AbortError', () => {
  assert.ok(isAbortError(abortErrorOf(AbortSignal.abort('a word'))));
});
