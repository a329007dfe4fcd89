import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { silentLogger } from '../../../src/agent/base/logger.ts';
import type { SessionMessage } from '../../../src/agent/session/model/messages.ts';
import { createOpenAiProvider } from '../../../src/agent/session/model/openai/provider.ts';
import { rounds } from '../../support/rounds.ts';
import { startScriptedServer } from '../../support/scriptedServer.ts';
import { conversation, TreeWorld } from './treeWorld.ts';

/** `RUNS=… node --test …` runs more; `SEED=… PATH_=…` replays what a failure printed. */
const { RUNS, SEED, PATH_ } = process.env;
const parameters = {
  numRuns: Number(RUNS ?? rounds(300, 60)),
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
  ...(PATH_ === undefined ? {} : { path: PATH_ }),
};

const isSummary = (message: SessionMessage): boolean =>
  message.role === 'steering' && message.kind === 'summary';

test('random conversations with reverts and summaries: each request that reaches a strict server is valid and contains nothing abandoned, the log only grows, and what is read from it is the same', async () => {
  const reached = { applied: 0, rejected: 0, requests: 0, tagged: 0, summarized: 0, crossed: 0 }; // crossed: reverts to before a summary
  await fc.assert(
    fc.asyncProperty(conversation, async ({ authority, window, steps }) => {
      const problems: unknown[] = [];
      const server = await startScriptedServer(request => {
        reached.requests++;
        if (request.raw.includes('[revert-')) reached.tagged++;
        try {
          world.checkRequest(request.raw);
        } catch (error) {
          problems.push(error);
        }
        if (!request.body.tools) return { text: 'They read and edited files.' };
        return world.reply();
      });
      const provider = createOpenAiProvider({
        baseUrl: server.baseUrl,
        model: 'm',
        logger: silentLogger,
        contextWindow: () => window,
      });
      const world = new TreeWorld(provider, authority);
      try {
        await world.play(steps);
        assert.deepEqual(server.violations, []);
        assert.deepEqual(problems, []);
        assert.deepEqual(world.t.errors, []);
        const summaries = new Set<number>();
        for (const entry of world.t.sessionLog.entries) {
          if (entry.type === 'message' && isSummary(entry.message)) summaries.add(entry.id);
          if (entry.type !== 'revert') continue;
          if (entry.record.abandonedNodeIds.some(id => summaries.has(id))) reached.crossed++;
          if (entry.record.applied) reached.applied++;
          else reached.rejected++;
        }
        reached.summarized += summaries.size;
      } finally {
        world.t.session.dispose();
        await server.close();
      }
    }),
    parameters,
  );
  // The histories must reach the interesting cases.
  const isLong = parameters.numRuns >= 100;
  for (const [what, count] of Object.entries(reached)) {
    const least = what === 'crossed' ? 15 : 50;
    assert.ok(!isLong || count >= least, `${what}: only ${count}`);
  }
});
