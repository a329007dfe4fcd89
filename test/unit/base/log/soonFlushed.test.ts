import { mock, test } from 'node:test';
import assert from 'node:assert/strict';
import { SoonFlushed } from '../../../../src/agent/base/log/soonFlushed.ts';

test('a log is flushed within a second of the first append that is not, however many follow', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    let flushes = 0;
    const log = { append: async () => undefined, flush: async () => void flushes++ };
    const failures: unknown[] = [];
    const soon = new SoonFlushed<number>(log, error => void failures.push(error));
    for (let n = 0; n < 10; n++) {
      await soon.append(n);
      mock.timers.tick(90);
    }
    assert.equal(flushes, 1);
    await soon.append(10);
    assert.equal(await soon.close(), true);
    assert.equal(flushes, 2);
    log.flush = async () => Promise.reject(new Error('EIO'));
    await soon.append(11);
    assert.equal(await soon.close(), false);
    assert.equal(failures.length, 1);
  } finally {
    mock.timers.reset();
  }
});
