import { test } from 'node:test';
import assert from 'node:assert/strict';
import { resultText, textResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { resolveEach } from '../../../../src/agent/session/tools/resolveEach.ts';
import { create, modify } from '../../../support/changes.ts';
import { CheckWorld, type View } from '../../../support/checkWorld.ts';

/** One call of `resolve` on these previews, with the text and the details of its result. */
async function voteOn(world: CheckWorld, ids: readonly string[], action: 'apply' | 'discard' = 'apply') {
  const { signal } = new AbortController();
  const result = await resolveEach(
    ids,
    { action, reason: 'Done.', signal },
    {
      signal,
      resolve: vote => world.invoker.resolve({ id: '', ...vote, actor: 'model' }),
    },
  );
  const { votes } = result.details as { votes: readonly { id: string; details?: { label?: string } }[] };
  return { text: resultText(result), isError: result.isError === true, votes };
}

const states = (world: CheckWorld, ...ids: readonly string[]): string =>
  ids.map(id => world.state(id).kind).join(' ');

/** `a.txt` is in capitals, and nothing says `bad`. */
const sound = {
  test: (view: View) =>
    view('a.txt') === 'A' && view('b.txt') !== 'bad' ? 0 : ([1, 'checking…\nb.txt is bad\n'] as const),
};

test('nothing of a vote lands while a check fails on what it names, and the result says which part passes alone', async () => {
  const world = new CheckWorld('checked', sound);
  world.stage();
  world.stage({ label: 'Break', changes: [create('b.txt', 'bad')] });
  world.stage({ changes: [create('c.txt', 'c')] });
  const { text, isError } = await voteOn(world, ['p1', 'p2', 'p3']);
  assert.equal(states(world, 'p1', 'p2', 'p3'), 'pending pending pending');
  assert.deepEqual(world.workspace.snapshot(), { 'a.txt': 'a' });
  assert.equal(isError, false);
  assert.equal(
    text,
    'p1 (Edit), p2 (Break), p3 (Edit) were not applied. Your vote is kept as a recommendation, and the user decides. ' +
      'Not every check passes with them: test failed (exit code 1). The checks pass with p1 alone. ' +
      'Stage a fix: your next vote to apply applies them, too, if the checks pass. Call run_checks to see more of the output.\n' +
      'The end of the output of test:\n```\nchecking…\nb.txt is bad\n```',
  );
});

const TAP = `TAP version 13
# Subtest: adds
ok 1 - adds
# Subtest: doubles
not ok 2 - doubles
  ---
  location: '/w/test/sum.test.mjs:4:1'
  error: 'expected 4'
  ...
1..2
`;
const JUNIT =
  '<testsuite name="sum"><testcase name="adds" file="test/sum.test.mjs" line="2"/>' +
  '<testcase name="doubles" file="test/sum.test.mjs" line="4"><failure message="expected 4"/></testcase></testsuite>';

for (const [what, output, told] of [
  [
    'the first test of a report',
    TAP,
    "doubles\n  ---\n  location: '/w/test/sum.test.mjs:4:1'\n  error: 'expected 4'\n  ...\n1..2",
  ],
  [
    'the first test of a report with places',
    JUNIT,
    'sum > test/sum.test.mjs > doubles\ntest/sum.test.mjs:4: expected 4',
  ],
  [
    'the first error of a compiler',
    'src/a.ts(3,7): error TS2322: No.\nsrc/b.ts(4,1): error TS1: No.\n',
    'src/a.ts:3: error TS2322: No.',
  ],
] as const)
  test(`a vote that the checks refuse names ${what}`, async () => {
    const world = new CheckWorld('checked', {
      test: view => (view('a.txt') === 'A' ? [1, output] : 0),
    });
    world.workspace.put('test/sum.test.mjs', '\n'.repeat(10));
    world.workspace.put('src/a.ts', '\n'.repeat(10));
    world.stage();
    const { text } = await voteOn(world, ['p1']);
    assert.equal(
      text.slice(text.indexOf('The first failure')),
      `The first failure of test:\n\`\`\`\n${told}\n\`\`\``,
    );
  });

test('a vote that the checks refuse says so of one that wrote nothing', async () => {
  const world = new CheckWorld('checked', { test: () => 1 });
  world.stage();
  assert.match((await voteOn(world, ['p1'])).text, /\ntest wrote nothing\.$/);
});

test('each line of a vote on several names its preview once', async () => {
  const world = new CheckWorld('apply', {});
  world.stage({ changes: [create('a.txt', 'b')] });
  world.stage({ apply: () => Promise.resolve(textResult('Done at last.')) });
  world.stage({ apply: () => Promise.reject(new Error('no')) });
  const { text } = await voteOn(world, ['p1', 'p2', 'p3', 'p9']);
  const [stale = '', ...others] = text.split('\n');
  assert.match(stale, /^p1: Nothing was written: /);
  assert.deepEqual(others, [
    'p2: Done at last.',
    'p3: Apply failed: no',
    'There is no preview p9. Call pending to list those that wait.',
  ]);
});

test('a mend of what failed lands with all of the vote', async () => {
  const world = new CheckWorld('checked', sound);
  world.stage();
  world.stage({ changes: [create('b.txt', 'bad')] });
  await voteOn(world, ['p1', 'p2']);
  world.stage({ changes: [modify('b.txt', 'bad', 'good')] });
  await world.resolve({ actor: 'model', id: 'p3' });
  assert.equal(states(world, 'p1', 'p2', 'p3'), 'applied applied applied');
});

test('the part that passes alone lands by a vote for it', async () => {
  const world = new CheckWorld('checked', sound);
  world.stage();
  world.stage({ changes: [create('b.txt', 'bad')] });
  await voteOn(world, ['p1', 'p2']);
  await world.resolve({ actor: 'model', id: 'p1' });
  assert.equal(states(world, 'p1', 'p2'), 'applied pending');
});

test('what passes only together lands with one run of the checks', async () => {
  const world = new CheckWorld('checked', sound);
  world.stage({ changes: [create('b.txt', 'bad')] });
  world.stage();
  world.stage({ changes: [modify('b.txt', 'bad', 'good')] });
  const { text, votes } = await voteOn(world, ['p1', 'p2', 'p3']);
  assert.equal(text, 'Applied: p1 (Edit), p2 (Edit), p3 (Edit). Reason: Done.');
  assert.deepEqual(world.ran, ['run test']);
  assert.deepEqual(
    votes.map(({ id, details }) => [id, details]),
    ['p1', 'p2', 'p3'].map(id => [
      id,
      { action: 'apply', reason: 'Done.', label: 'Edit', sourceToolName: 'test' },
    ]),
  );
});

test('a protected file in the vote waits for the user, and the rest lands', async () => {
  const world = new CheckWorld('checked', sound);
  world.stage();
  world.stage({ label: 'Settings', changes: [create('.vscode/settings.json', '{}')] });
  const { text } = await voteOn(world, ['p1', 'p2', 'p9']);
  assert.equal(states(world, 'p1', 'p2'), 'applied pending');
  assert.equal(
    text,
    'Applied: p1 (Edit). Reason: Done.\n' +
      'Your recommendation for p2 (Settings) is recorded. The user decides; it has changed nothing yet. Do not resolve it again: you will be told the outcome.\n' +
      'There is no preview p9. Call pending to list those that wait.',
  );
});

test('of many previews in one vote, only the first are named by more than their ids', async () => {
  const world = new CheckWorld('recommend');
  const ids = Array.from({ length: 23 }, (_, n) => `p${n + 1}`);
  for (const id of ids) world.stage({ label: `Make ${id}`, changes: [create(id, id)] });
  for (const action of ['apply', 'discard'] as const) {
    const { text } = await voteOn(world, ids, action);
    assert.match(text, /p20 \(Make p20\), p21, p22, p23\b/);
  }
});

test('a text that several votes are refused with stands once, after their ids', async () => {
  const world = new CheckWorld('recommend');
  world.stage();
  world.stage({ label: 'c', changes: [create('c', 'c')] });
  world.stage({ changes: [modify('a.txt', 'A', 'AA')] });
  world.put('a.txt', 'other');
  for (const id of ['p1', 'p3']) await world.store.markStale(id, ['a.txt']);
  assert.equal(
    (await voteOn(world, ['p1', 'p2', 'p3'])).text,
    'p1, p3: Nothing was written: a.txt changed after the preview was made. Discard it if you may. If the change is still needed, read a.txt again and stage it anew.\n' +
      'Your recommendation for p2 (c) is recorded. The user decides; it has changed nothing yet. Do not resolve it again: you will be told the outcome.',
  );
});

test('votes that come to the same thing are one sentence', async () => {
  const world = new CheckWorld('recommend');
  for (const name of ['b', 'c', 'd']) world.stage({ label: name, changes: [create(name, name)] });
  const ids = ['p1', 'p2', 'p3'];
  assert.equal(
    (await voteOn(world, ids)).text,
    'Your recommendations for p1 (b), p2 (c), p3 (d) are recorded. The user decides; they have changed nothing yet. Do not resolve them again: you will be told the outcome.',
  );
  assert.equal(
    (await voteOn(world, ids, 'discard')).text,
    'Discarded: p1 (b), p2 (c), p3 (d). Reason: Done.',
  );
  const late = await voteOn(world, ids.slice(0, 2), 'discard');
  assert.match(late.text, /^p1 \(b\) was already resolved .*\np2 \(c\) was already resolved /);
});
