import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { silentLogger } from '../../../src/agent/base/logger.ts';
import { createOpenAiProvider } from '../../../src/agent/model/openai/provider.ts';
import { startScriptedServer } from '../../support/scriptedServer.ts';
import { conversation, TreeWorld } from '../../support/treeWorld.ts';

/** `RUNS=… node --test …` runs more; `SEED=… PATH_=…` replays what a failure printed. */
const { RUNS, SEED, PATH_ } = process.env;
const parameters = {
  numRuns: Number(RUNS ?? 300),
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
  ...(PATH_ === undefined ? {} : { path: PATH_ }),
};

test('random conversations with reverts: each request that reaches a strict server is valid and contains nothing abandoned, the log only grows, and what is read from it is the same', async () => {
  const reached = { applied: 0, rejected: 0, requests: 0, tagged: 0 };
  await fc.assert(
    fc.asyncProperty(conversation, async ({ authority, steps }) => {
      const problems: unknown[] = [];
      const server = await startScriptedServer(request => {
        reached.requests++;
        if (request.raw.includes('[revert-')) reached.tagged++;
        try {
          world.checkRequest(request.raw);
        } catch (error) {
          problems.push(error);
        }
        return world.reply();
      });
      const provider = createOpenAiProvider({ baseUrl: server.baseUrl, model: 'm', logger: silentLogger });
      const world = new TreeWorld(provider, authority);
      try {
        await world.play(steps);
        assert.deepEqual(server.violations, []);
        assert.deepEqual(problems, []);
        assert.deepEqual(world.t.errors, []);
        for (const entry of world.t.sessionLog.entries) {
          if (entry.type !== 'revert') continue;
          if (entry.record.applied) reached.applied++;
          else reached.rejected++;
        }
      } finally {
        world.t.session.dispose();
        await server.close();
      }
    }),
    parameters,
  );
  // The histories must reach the interesting cases.
  const least = parameters.numRuns >= 100 ? 50 : 0;
  for (const [what, count] of Object.entries(reached)) assert.ok(count >= least, `${what}: only ${count}`);
});
