import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { rounds } from '../../support/rounds.ts';
import { history, play, type History, type Step } from '../../histories/runtimeSteps.ts';

/**
 * The same histories each time, so that what fails is a change; `npm run test:soak` plays others. `RUNS=… node --test …` runs
 * more; `SEED=… PATH_=…` replays what a failure printed.
 */
const { RUNS, SEED = '1', PATH_ } = process.env;
const parameters = {
  numRuns: Number(RUNS ?? rounds(2_000, 500)),
  timeout: 60_000, // a history that hangs is a failure, too; no other one takes a thousandth of this
  seed: Number(SEED),
  ...(PATH_ === undefined ? {} : { path: PATH_ }),
};

test('I1 to I7 hold over random interleavings of model, human, extension, disk, aborts, failures and reloads', async () => {
  await fc.assert(
    fc.asyncProperty(history, async one => assert.deepEqual(await play(one), [])),
    parameters,
  );
});

const answer = (...calls: Extract<Step, { type: 'answer' }>['calls']): Step => ({
  type: 'answer',
  text: '',
  calls,
  long: false,
  then: 'quiet',
});
const planMode = (on: boolean): Step => ({ type: 'planMode', on, then: 'quiet' });
const simple = { openOnly: true, aborts: false, chain: false, outdated: false };
const voting = answer({ name: 'resolve', action: 'apply', at: 0 });
const reading = answer({ name: 'read_file' });

test('what the model abandoned stays pending if its discard had to wait until plan mode was on', async () => {
  const violations = await play({
    settings: { revertEnabled: true },
    step: 'named',
    staged: [],
    steps: [
      answer({ name: 'work', stages: [{ what: 'file', rejects: true }], end: 'ok' }),
      { type: 'discardAll', then: 0 },
      answer({ name: 'revert', back: 2, category: 'failure' }),
      planMode(true),
      { type: 'callback', at: 0, how: 'error', then: 0 },
    ],
    ending: 'silent',
  });
  assert.deepEqual(violations, []);
});

test('a reminder that waits for the end of plan mode is not needed once the model has voted', async () => {
  const histories: readonly Pick<History, 'staged' | 'steps'>[] = [
    {
      staged: [],
      steps: [
        planMode(true),
        { type: 'stage', staging: { what: 'file', rejects: false }, stager: 'extension', then: 'quiet' },
        ...[reading, voting, planMode(false), reading],
      ],
    },
    {
      staged: [{ what: 'error', rejects: false }],
      steps: [
        planMode(true),
        reading,
        { type: 'vote', actor: 'human', action: 'apply', at: 0, then: 'quiet', ...simple },
        ...[planMode(false), voting],
      ],
    },
  ];
  for (const forcing of ['forced', 'always', 'off'] as const)
    for (const each of histories)
      assert.deepEqual(await play({ settings: { forcing }, step: 'named', ending: 'silent', ...each }), []);
});
