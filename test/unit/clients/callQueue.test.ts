import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallQueue } from '../../../src/agent/clients/callQueue.ts';
import { Gate } from '../../support/gate.ts';

test('calls that take turns run in their order, also after one that failed', async () => {
  const queue = new CallQueue();
  const gate = new Gate();
  const ran: number[] = [];
  const first = queue.inTurn(async () => {
    await gate.pass();
    ran.push(1);
    throw new Error('failed');
  });
  const second = queue.inTurn(async () => void ran.push(2));
  const reading = queue.reading(async () => void ran.push(0));
  await reading;
  gate.open();
  await assert.rejects(first, /failed/);
  await second;
  assert.deepEqual(ran, [0, 1, 2]);
});

test('only a few calls read at once, and those that wait run in their order', async () => {
  const queue = new CallQueue();
  const gate = new Gate();
  let running = 0;
  let most = 0;
  const started: number[] = [];
  const reads = Array.from({ length: 50 }, (_, n) =>
    queue.reading(async () => {
      started.push(n);
      most = Math.max(most, ++running);
      await gate.pass();
      running--;
    }),
  );
  gate.open();
  await Promise.all(reads);
  assert.equal(most, 4);
  assert.deepEqual(
    started,
    reads.map((_, n) => n),
  );
});
