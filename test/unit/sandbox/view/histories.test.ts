import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { rounds } from '../../../support/rounds.ts';
import { history, play, playInSandbox } from '../../../histories/sandboxHistories.ts';
import { FILES, onDisk } from '../../../histories/sandboxPlaces.ts';
import { SandboxWorld } from '../../../support/sandboxWorld.ts';

/** `npm run test:soak -- sandbox` plays more and others; `SEED=… PATH_=…` replays what a failure printed. */
const { RUNS, SEED = '1', PATH_ } = process.env;
const parameters = {
  seed: Number(SEED),
  ...(PATH_ === undefined ? {} : { path: PATH_ }),
};

test('among proposals, votes and saves, what a command leaves becomes one preview, and nothing else lands', async () => {
  await fc.assert(
    fc.asyncProperty(history, async steps => assert.deepEqual(await play(steps), [])),
    { ...parameters, numRuns: Number(RUNS ?? rounds(2_000, 400)) },
  );
});

test('a vote that fails since the file was saved takes its preview out of the view for a moment', async () => {
  const [path, then] = [1, 'quiet' as const];
  const touch = (each: string) => ({ path: each, does: 'line' as const, setsBits: false });
  const steps = [
    { type: 'propose', path, line: 0, then },
    { type: 'save', path, line: 2, then },
    { type: 'command', acts: ['a.txt', 'src/b.txt'].map(touch), line: 0, then },
    { type: 'save', path, line: 2, then: 1 },
    { type: 'vote', at: 0, action: 'apply', actor: 'human', then: 0 },
  ] as const;
  // What is loaded on first use lets the moment pass in the first one.
  for (let n = 0; n < 5; n++) assert.deepEqual(await play(steps), []);
});

test('the same holds for the engine of this machine, on real files', async () => {
  const one = fc.asyncProperty(history, async steps => {
    const world = await SandboxWorld.create('auto', FILES);
    try {
      assert.deepEqual(await playInSandbox(await onDisk(world), steps), []);
    } finally {
      await world.remove();
    }
  });
  await fc.assert(one, { seed: Number(SEED), numRuns: rounds(12, 4), endOnFailure: true });
});
