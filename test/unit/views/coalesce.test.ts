import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { coalesce } from '../../../src/views/coalesce.ts';

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
