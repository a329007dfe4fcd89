import { afterEach, beforeEach, mock, test } from 'node:test';
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { SoonFlushed } from '../../../../src/agent/base/log/soonFlushed.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** A log on a disk that ends each flush when the test does, and what is told of failures. */
function onSlowDisk() {
  const flushes: PromiseWithResolvers<void>[] = [];
  const failures: unknown[] = [];
  const flush = (): Promise<void> =>
    (flushes[flushes.push(Promise.withResolvers()) - 1] ?? assert.fail()).promise;
  return { flushes, failures, soon: new SoonFlushed({ flush }, error => void failures.push(error)) };
}

test('a log is flushed within a second of the first append that is not, however many follow', async () => {
  let flushes = 0;
  const log = { flush: async () => void flushes++ };
  const failures: unknown[] = [];
  const soon = new SoonFlushed(log, error => void failures.push(error));
  for (let n = 0; n < 10; n++) {
    soon.appended();
    mock.timers.tick(90);
  }
  assert.equal(flushes, 1);
  soon.appended();
  assert.equal(await soon.close(), true);
  assert.equal(flushes, 2);
  log.flush = async () => Promise.reject(new Error('EIO'));
  soon.appended();
  assert.equal(await soon.close(), false);
  assert.equal(failures.length, 1);
});

test('closing does not count a flush that runs, or failed, as done', async () => {
  for (const end of ['resolve', 'reject'] as const) {
    const { flushes, soon } = onSlowDisk();
    soon.appended();
    mock.timers.tick(1_000);
    const closed = soon.close();
    assert.equal(flushes.length, 2, 'the first may fail yet');
    flushes[0]?.reject(new Error('EIO'));
    flushes[1]?.[end](new Error('EIO') as never);
    assert.equal(await closed, end === 'resolve');
    mock.timers.tick(10_000);
    assert.equal(flushes.length, 2, 'nothing is flushed once it is closed');
  }
});

test('a log that could not be flushed is flushed again until that works, and its failure is told once', async () => {
  const { flushes, failures, soon } = onSlowDisk();
  soon.appended();
  for (let failed = 0; failed < 3; failed++) {
    mock.timers.tick(1_000);
    assert.equal(flushes.length, failed + 1);
    flushes[failed]?.reject(new Error('EIO'));
    await turn();
  }
  assert.equal(failures.length, 1);
  mock.timers.tick(1_000);
  flushes[3]?.resolve();
  await turn();
  mock.timers.tick(10_000);
  assert.equal(await soon.close(), true);
  assert.equal(flushes.length, 4, 'nothing is left to flush');
});

test('a log whose flush failed for its caller is flushed again; one that is gone is not', async () => {
  const { flushes, failures, soon } = onSlowDisk();
  soon.appended();
  const flushed = soon.flush();
  flushes[0]?.reject(new Error('EIO'));
  await assert.rejects(flushed, /EIO/);
  mock.timers.tick(1_000);
  assert.equal(flushes.length, 2);
  flushes[1]?.reject(Object.assign(new Error('gone'), { code: 'ENOENT' }));
  await turn();
  mock.timers.tick(10_000);
  assert.equal(flushes.length, 2);
  assert.deepEqual(failures, []);
});
