import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { DiffStats } from '../../../../src/views/review/diffStats.ts';
import { modify, preview } from '../../../support/chatFixtures.ts';

/** `next` settles when the preview that was asked for last has been counted. */
function counter() {
  let onReady: () => void = () => undefined;
  const stats = new DiffStats(silentLogger, () => onReady());
  const next = (): Promise<void> => new Promise(resolve => (onReady = resolve));
  return { stats, next };
}

test('lines are counted once in the background, and again for a new revision', async () => {
  const { stats, next } = counter();
  const first = preview({ changes: [modify('a.ts', 'a\nb\n', 'a\nc\nd\n')] });
  assert.equal(stats.of(first), undefined);
  await next();
  assert.deepEqual(stats.of(first), [{ added: 2, removed: 1, hunks: 1, exact: true }]);
  const second = preview({ revision: 2, changes: [modify('a.ts', 'a\n', 'b\n')] });
  assert.equal(stats.of(second), undefined);
  await next();
  assert.deepEqual(stats.of(second), [{ added: 1, removed: 1, hunks: 1, exact: true }]);
  stats.dispose();
});

test('an opaque preview has nothing to count', () => {
  const { stats } = counter();
  assert.equal(stats.of(preview({ changes: null })), undefined);
});

test('many previews that are counted at once are told once', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let told = 0;
  const stats = new DiffStats(silentLogger, () => told++);
  const many = Array.from({ length: 20 }, (_, n) =>
    preview({ id: `p${n + 1}`, changes: [modify('a.ts', `${n}\n`, 'b\n')] }),
  );
  while (many.some(each => !stats.of(each))) await setImmediate();
  assert.equal(told, 0);
  t.mock.timers.tick(50);
  assert.equal(told, 1);
  stats.dispose();
});
