import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../src/agent/session/model/chatProvider.ts';
import { createOfflineProvider } from '../../../src/agent/session/model/offline/provider.ts';
import { textResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import { RESOLVE_REMINDER } from '../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { Gate } from '../../support/gate.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const edit = (path: 'a.txt' | 'b.txt') => {
  const [old = ''] = path;
  return { name: 'edit_file', arguments: { path, edits: [{ old, new: old.toUpperCase() }] } };
};
const resolve = (action: 'apply' | 'discard', more: object = {}) => ({
  name: 'resolve',
  arguments: { action, reason: 'because', ...more },
});
const editA: ScriptedTurn = { toolCalls: [edit('a.txt')] };
const editBoth: ScriptedTurn = { toolCalls: [edit('a.txt'), edit('b.txt')] };
const applies: ScriptedTurn = { toolCalls: [resolve('apply')] };
const forced = (requests: readonly ChatRequest[]): boolean[] =>
  requests.map(({ toolChoice }) => {
    if (toolChoice !== undefined) assert.deepEqual(toolChoice, { type: 'tool', name: 'resolve' });
    return toolChoice !== undefined;
  });
const reminders = (t: TestSession) => t.steering().filter(({ kind }) => kind === 'resolve-reminder');
const contents = (t: TestSession) => t.results().map(({ content }) => content);

test('a new preview forces resolve once, on the next request, after the exact reminder', async () => {
  const t = createTestSession({ files, script: [editA, applies, { text: 'Done.' }] });
  await t.session.prompt('Edit.');
  assert.deepEqual(forced(t.requests), [false, true, false]);
  assert.deepEqual(t.requests[1]?.messages.slice(-2), [
    t.results()[0],
    {
      role: 'steering',
      kind: 'resolve-reminder',
      text: `${RESOLVE_REMINDER}\nPending: p1 (Edit a.txt (1 edit))`,
      previewIds: ['p1'],
    },
  ]);
  assert.equal(t.workspace.text('a.txt'), 'A');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.steering().length, 1, 'what it did itself is told by its result only');
  t.assertSound();
});

test('the reminders of several previews follow all the results of their message', async () => {
  const t = createTestSession({ files, script: [editBoth, applies, applies, { text: 'Done.' }] });
  await t.session.prompt('Edit.');
  assert.deepEqual(
    t.requests[1]?.messages.map(message => message.role),
    ['user', 'assistant', 'tool', 'tool', 'steering', 'steering'],
  );
  assert.deepEqual(forced(t.requests), [false, true, true, false]);
  assert.equal(reminders(t).length, 2, 'once for each');
  t.assertSound();
});

for (const [order, first] of [
  ['newestFirst', 'b.txt'],
  ['oldestFirst', 'a.txt'],
] as const) {
  test(`${order}: the forced resolve is about ${first} first`, async () => {
    const t = createTestSession({
      files,
      settings: { order },
      script: [
        editBoth,
        applies,
        () => {
          assert.deepEqual(
            t.workspace.writes.map(({ path }) => path),
            [first],
          );
          return applies;
        },
        { text: 'Done.' },
      ],
    });
    await t.session.prompt('Edit.');
    assert.equal(t.workspace.writes.length, 2);
    t.assertSound();
  });
}

test('a resolve in the message that stages is refused; in the next one it counts', async () => {
  const blindly = [edit('a.txt'), resolve('apply'), resolve('apply', { id: 'p1' })];
  const t = createTestSession({ files, script: [{ toolCalls: blindly }, applies, { text: 'ok' }] });
  await t.session.prompt('Edit.');
  for (const refusal of t.results().slice(1, 3)) {
    assert.equal(refusal.isError, true);
    assert.match(refusal.content, /have not seen it yet/);
  }
  assert.equal(t.store.ledger().length, 1);
  assert.equal(t.workspace.text('a.txt'), 'A');
});

test('Review: the apply is recorded, nothing is forced again, and the session awaits the user', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend' },
    script: [editA, applies, { text: 'Over to you.' }],
  });
  await t.session.prompt('Edit.');
  assert.deepEqual(forced(t.requests), [false, true, false]);
  assert.equal(t.workspace.text('a.txt'), 'a');
  assert.equal(t.session.state, 'awaitingReview');
  const state = t.store.get('p1')?.state;
  assert.ok(state?.kind === 'pending');
  assert.deepEqual(state.recommendation, { action: 'apply', reason: 'because' });
});

test('Manual: resolve is refused, nothing is forced or reminded of, and the result says who reviews', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'none' },
    script: [editA, applies, { text: 'ok' }],
  });
  await t.session.prompt('Edit.');
  assert.deepEqual(forced(t.requests), [false, false, false]);
  assert.deepEqual(t.steering(), []);
  assert.match(contents(t)[0] ?? '', /^Staged as p1, no file modified yet\. The user reviews it\.\n/);
  assert.match(contents(t)[1] ?? '', /^resolve cannot be called in Manual mode: the user decides/);
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
  t.assertSound();
});

test('switching to Manual while a resolve is due: nothing is forced, and the model is not asked in circles', async () => {
  const t = createTestSession({
    files,
    script: [
      editA,
      () => {
        t.settings.modelAuthority = 'none';
        return { text: 'I ignore it.' };
      },
    ],
  });
  await t.session.prompt('Edit.');
  assert.deepEqual(forced(t.requests), [false, true]);
  assert.equal(t.session.state, 'awaitingReview');
  t.assertSound();
});

test('a mode takes effect at the next call', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend' },
    script: [
      editA,
      () => {
        t.settings.modelAuthority = 'apply';
        return applies;
      },
      { text: 'Done.' },
    ],
  });
  await t.session.prompt('Edit.');
  assert.equal(t.workspace.text('a.txt'), 'A');
});

test('the model reads of a preview by its id and the title that it gave, and without one by the label', async () => {
  const titled = edit('a.txt');
  const calls = [{ ...titled, arguments: { ...titled.arguments, title: 'Shout\n a' } }, edit('b.txt')];
  const t = createTestSession({
    files,
    settings: { forcing: 'auto', modelAuthority: 'recommend' },
    script: [
      { toolCalls: calls },
      { text: 'Done.' },
      { toolCalls: [resolve('apply', { ids: ['p1', 'p2'] })] },
      { text: 'I see.' },
    ],
  });
  await t.session.prompt('Edit.');
  const names = 'p1 (Shout a), p2 (Edit b.txt (1 edit))';
  assert.ok(reminders(t)[0]?.text.includes(`\nStaged: ${names}. Vote`));
  assert.ok(contents(t).at(-1)?.startsWith(`Your recommendations for ${names} are recorded.`));
  await t.click('p1', 'discard', 'Too loud.');
  await t.untilState('awaitingReview');
  assert.match(JSON.stringify(t.requests.at(-1)?.messages), /The user discarded p1 \(Shout a\)\./);
});

test('a failed apply: the same preview is pending, forced and reminded of again, and can succeed', async () => {
  const t = createTestSession({ files, script: [editA, applies, applies, { text: 'Done.' }] });
  t.workspace.failWrite(1);
  await t.session.prompt('Edit.');
  assert.deepEqual(forced(t.requests), [false, true, true, false]);
  assert.equal(reminders(t).length, 2);
  const [, failed = '', applied = ''] = contents(t);
  assert.match(failed, /^a\.txt could not be written: ENOSPC/);
  assert.match(applied, /^Applied: /);
  assert.deepEqual(
    t.store.ledger().map(({ previewId, outcome }) => `${previewId} ${outcome}`),
    ['p1 failed', 'p1 applied'],
  );
  t.assertSound();
});

test('a base that changed: the model is told, and a stale preview is not forced', async () => {
  const t = createTestSession({
    files,
    script: [
      editA,
      () => {
        t.workspace.put('a.txt', 'mine');
        return applies;
      },
      { text: 'I see.' },
    ],
  });
  await t.session.prompt('Edit.');
  assert.deepEqual(forced(t.requests), [false, true, false]);
  assert.match(contents(t)[1] ?? '', /a\.txt changed after the preview was made/);
  assert.equal(t.workspace.text('a.txt'), 'mine');
});

test('what became stale before it could be forced is not forced', async () => {
  const t = createTestSession({ files, script: [editA, { text: 'ok' }] });
  t.session.onDidEmit(event => {
    if (event.type === 'tool_end') void t.store.markStale('p1', ['a.txt']);
  });
  await t.session.prompt('Edit.');
  assert.deepEqual(forced(t.requests), [false, false]);
});

test('a user who is faster than the request: no directive, no reminder, and the outcome is told', async () => {
  const t = createTestSession({ files, script: [editA, { text: 'Thanks.' }] });
  t.session.onDidEmit(event => {
    if (event.type === 'tool_end') void t.click('p1', 'discard', 'not this one');
  });
  await t.session.prompt('Edit.');
  assert.deepEqual(forced(t.requests), [false, false]);
  assert.deepEqual(
    t.requests[1]?.messages.flatMap(message => (message.role === 'steering' ? [message.text] : [])),
    [
      'The user discarded p1 (Edit a.txt (1 edit)). This is the user\'s decision, not a failure. Reason: "not this one"',
    ],
  );
  t.assertSound();
});

test('a resolve that raced with the user is answered with the outcome, and applies nothing else', async () => {
  const t = createTestSession({
    files,
    script: [
      editBoth,
      async () => {
        await t.click('p2', 'discard', 'no');
        return applies;
      },
      () => {
        assert.deepEqual(t.workspace.writes, []);
        return applies;
      },
      { text: 'Done.' },
    ],
  });
  await t.session.prompt('Edit.');
  assert.match(contents(t)[2] ?? '', /^p2 .* was already resolved by the user: discarded\. Reason: no$/);
  assert.deepEqual(t.workspace.snapshot(), { 'a.txt': 'A', 'b.txt': 'b' });
  t.assertSound();
});

test('a lens and the model at the same moment: one of them applies, the other is told', async () => {
  const t = createTestSession({
    files,
    script: [
      editA,
      () => {
        void t.click('p1', 'apply');
        return applies;
      },
      { text: 'Done.' },
    ],
  });
  await t.session.prompt('Edit.');
  assert.match(contents(t)[1] ?? '', /^p1 .* was already resolved by the user: applied\./);
  assert.equal(t.workspace.writes.length, 1);
  t.assertSound();
});

test('several resolves by id in one message run one after the other', async () => {
  let running = 0;
  let most = 0;
  const both = ['p1', 'p2'].map(id => resolve('apply', { id }));
  const t = createTestSession({
    settings: { forcing: 'off' },
    script: [{ toolCalls: both }, { text: 'ok' }],
  });
  for (const label of ['one', 'two']) {
    t.stage({
      label,
      apply: async () => {
        most = Math.max(most, ++running);
        await new Promise(resolve => setImmediate(resolve));
        running--;
        return textResult(label);
      },
    });
  }
  await t.session.prompt('Resolve.');
  assert.deepEqual(contents(t), ['one', 'two']);
  assert.equal(most, 1);
});

test('a stop keeps what was staged pending; its directive waits for the next prompt', async () => {
  const t = createTestSession({ files, script: [editA, { hang: true }, applies, { text: 'Done.' }] });
  const prompted = t.session.prompt('Edit.');
  while (t.requests.length < 2)
    await t.nextEvent(event => event.type === 'message_start').then(setImmediately);
  t.session.stop();
  await prompted;
  assert.equal(t.session.state, 'idle');
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
  await t.session.prompt('Go on.');
  assert.deepEqual(forced(t.requests), [false, true, true, false]);
  assert.equal(t.workspace.text('a.txt'), 'A');
  t.assertSound();
});

test('a server that is down for a while uses up one forced turn, not all of them', async () => {
  const failing: ScriptedTurn = { error: {} };
  const t = createTestSession({
    files,
    script: [editA, failing, failing, failing, failing, applies, { text: 'Done.' }],
  });
  await t.session.prompt('Edit.');
  for (let n = 0; n < 4; n++) await t.session.continue();
  assert.deepEqual(forced(t.requests), [false, true, false, false, false, false, false]);
  assert.equal(t.workspace.text('a.txt'), 'A');
});

test('a new session: nothing of the old one is forced, reminded of, or resolved without its id', async () => {
  const t = createTestSession({
    files,
    script: [editA, { error: {} }, applies, { text: 'ok' }, { text: 'bye' }],
  });
  await t.session.prompt('Edit.');
  await t.session.new();
  await t.session.prompt('Hello.');
  assert.deepEqual(forced(t.requests), [false, true, false, false]);
  assert.deepEqual(contents(t), ['No pending action to resolve. Nothing to apply or discard.']);
  t.workspace.failWrite(1);
  await assert.rejects(t.click('p1', 'apply'));
  await t.session.prompt('And now?');
  assert.equal(forced(t.requests).at(-1), false, 'a failed click does not bring it back');
  assert.deepEqual(t.steering(), []);
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
});

test('an opaque preview of an extension is forced with the next prompt, and its callback runs once', async () => {
  let runs = 0;
  const t = createTestSession({ script: [applies, applies, { text: 'ok' }] });
  t.stage({
    label: 'Deploy',
    apply: () => {
      runs++;
      return Promise.resolve(textResult('Deployed.'));
    },
  });
  await t.session.prompt('Do it.');
  assert.deepEqual(forced(t.requests), [true, false, false]);
  assert.equal(runs, 1);
  assert.deepEqual(contents(t), ['Deployed.', 'No pending action to resolve. Nothing to apply or discard.']);
});

test('stop while an apply runs: the turn ends at once, the apply ends and is recorded, and is never run twice', async () => {
  const gate = new Gate();
  let runs = 0;
  const t = createTestSession({ script: [applies] });
  t.stage({
    label: 'Slow',
    apply: () => {
      runs++;
      return gate.pass().then(() => textResult('done'));
    },
  });
  const prompted = t.session.prompt('Do it.');
  await gate.reached;
  t.session.stop();
  await prompted;
  assert.deepEqual(contents(t), ['Interrupted by the user while it ran.']);
  assert.equal(t.store.get('p1')?.state.kind, 'applying');
  const recorded = new Promise<void>(resolve => t.store.onDidResolve(() => resolve()));
  gate.open();
  await recorded;
  assert.equal(t.store.get('p1')?.state.kind, 'applied');
  assert.equal(runs, 1);
  t.assertSound();
});

test('the offline provider in Auto: one slash command edits the file through preview and resolve', async () => {
  const t = createTestSession({ files, provider: createOfflineProvider() });
  await t.session.prompt('/edit a.txt :: a => A');
  assert.equal(t.workspace.text('a.txt'), 'A');
  assert.equal(t.session.state, 'idle');
  assert.deepEqual(
    t.results().map(({ toolName }) => toolName),
    ['edit_file', 'resolve'],
  );
});

test('the offline provider in Review: the change is recommended, and a click applies it', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend' },
    provider: createOfflineProvider(),
  });
  await t.session.prompt('/edit a.txt :: a => A');
  assert.equal(t.workspace.text('a.txt'), 'a');
  assert.equal(t.session.state, 'awaitingReview');
  await t.click('p1', 'apply');
  await t.untilState('idle');
  assert.equal(t.workspace.text('a.txt'), 'A');
});

/** Lets everything that is due run. */
function setImmediately(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
