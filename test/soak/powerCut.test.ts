import { test } from 'node:test';
import assert from 'node:assert/strict';
import { cutPower } from './powerCut.ts';

/** `npm run test:power` sets it. */
const rounds = Number(process.env['REDLINE_KILLS'] ?? 5);

test(`${rounds} power cuts on a real ext4 lose nothing that was said to be safe`, async context => {
  const stats = await cutPower(rounds);
  context.diagnostic(JSON.stringify(stats));
  assert.equal(stats.cuts, rounds);
  assert.ok(rounds < 50 || stats.interrupted > rounds / 10, 'the cuts hit commits in progress');
});
