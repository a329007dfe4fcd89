import { test } from 'node:test';
import assert from 'node:assert/strict';
import { killApply } from './killApply.ts';

/** `npm run test:kill-apply` sets a larger number. */
const rounds = Number(process.env['REDLINE_KILLS'] ?? 12);

test(`a process killed ${rounds} times while it applies leaves all or nothing`, async context => {
  const stats = await killApply(rounds);
  context.diagnostic(JSON.stringify(stats));
  assert.equal(stats.kills, rounds);
  assert.ok(rounds < 50 || stats.partly > rounds / 10, 'the kills hit commits in progress');
  assert.ok(
    stats.finished >= Math.floor(rounds / 4),
    'a quarter of them between the last write and its record',
  );
});
