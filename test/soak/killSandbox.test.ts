import { test } from 'node:test';
import assert from 'node:assert/strict';
import { killSandbox } from './killSandbox.ts';

/** `npm run test:kill-sandbox` sets a larger number. */
const rounds = Number(process.env['REDLINE_KILLS'] ?? 4);

for (const engine of ['overlay', 'copy'] as const)
  test(`a process killed ${rounds / 2} times while a command runs in the sandbox (${engine}) leaves nothing`, async context => {
    const stats = await killSandbox(engine, rounds / 2);
    context.diagnostic(JSON.stringify(stats));
    assert.equal(stats.kills, rounds / 2);
    assert.ok(rounds < 50 || stats.interrupted > rounds / 10, 'the kills hit commands');
  });
