import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test, type TestContext } from 'node:test';
import { abortErrorOf, coalesce, inTime, untilAborted } from '../../../src/agent/base/async.ts';
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

/** Work that takes a while, by the clock of the test. */
function setUp(t: TestContext, { takes, maxRest }: { takes: number; maxRest?: number }) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const ran: number[] = [];
  const work = (): void => {
    ran.push(Date.now());
    t.mock.timers.setTime(Date.now() + takes);
  };
  return { ran, soon: coalesce(work, 50, maxRest), pass: (ms: number) => t.mock.timers.tick(ms) };
}

test('a burst of calls runs the work once, 50 ms after the first of them', t => {
  const { ran, soon, pass } = setUp(t, { takes: 0, maxRest: 500 });
  soon();
  pass(40);
  soon();
  pass(10);
  pass(100);
  assert.deepEqual(ran, [50]);
  soon();
  pass(50);
  assert.deepEqual(ran, [50, 200]);
});

test('work that takes long leaves nine tenths of the time to other work', t => {
  const { ran, soon, pass } = setUp(t, { takes: 20, maxRest: 500 });
  soon();
  pass(50);
  soon();
  pass(179);
  assert.deepEqual(ran, [50]);
  pass(1);
  assert.deepEqual(ran, [50, 250]);
});

test('after a pause it runs as soon as any other', t => {
  const { ran, soon, pass } = setUp(t, { takes: 20, maxRest: 500 });
  soon();
  pass(50);
  pass(170);
  soon();
  pass(50);
  assert.deepEqual(ran, [50, 290]);
});

test('a rest is bounded, and by default there is none', async t => {
  await t.test('bounded', t => {
    const { ran, soon, pass } = setUp(t, { takes: 10_000, maxRest: 500 });
    soon();
    pass(50);
    soon();
    pass(500);
    assert.deepEqual(ran, [50, 10_550]);
  });
  await t.test('none', t => {
    const { ran, soon, pass } = setUp(t, { takes: 20 });
    soon();
    pass(50);
    soon();
    pass(50);
    assert.deepEqual(ran, [50, 120]);
  });
});

test('a cancelled run is left out', t => {
  const { ran, soon, pass } = setUp(t, { takes: 0 });
  soon();
  soon.cancel();
  pass(100);
  assert.deepEqual(ran, []);
});

test('work that is in time gives its result or its failure, and leaves no timer behind', async context => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const late = (): never => assert.fail('it was in time');
  assert.equal(await inTime(10, () => Promise.resolve(1), late), 1);
  await assert.rejects(
    inTime(10, () => Promise.reject(new Error('broken')), late),
    /broken/,
  );
  context.mock.timers.tick(10);
});

test('for work that takes longer, another result counts, or an error', async context => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const never = (): Promise<never> => new Promise(() => undefined);
  const instead = inTime(10, never, () => 'late');
  const refused = inTime(10, never, () => {
    throw new Error('too late');
  });
  context.mock.timers.tick(10);
  assert.equal(await instead, 'late');
  await assert.rejects(refused, /too late/);
});
