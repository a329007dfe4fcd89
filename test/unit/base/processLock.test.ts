import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { ProcessLock } from '../../../src/agent/base/processLock.ts';

test('one live process holds a lock; a dead one, and another process with its id, do not', async context => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-lock-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'window.lock');
  const held = await ProcessLock.take(file, 0);
  assert.ok(held);
  assert.equal(await ProcessLock.take(file, 100), undefined);
  await held.release();
  for (const left of ['{"pid":2147483646}', `{"pid":${process.pid},"started":"1"}`, 'torn']) {
    if (left.includes('started') && process.platform !== 'linux') continue;
    fs.writeFileSync(file, left);
    const taken = await ProcessLock.take(file, 0);
    assert.ok(taken, left);
    await held.release();
    assert.equal(await ProcessLock.take(file, 0), undefined, 'an older owner takes nothing away');
    await taken.release();
  }
  const both = await Promise.all([ProcessLock.take(file, 0), ProcessLock.take(file, 0)]);
  assert.equal(both.filter(Boolean).length, 1);
  assert.deepEqual(fs.readdirSync(folder), ['window.lock']);
});
