import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ProviderFailure } from '../../../src/agent/session/model/chatProvider.ts';
import { play } from '../../histories/runtimeSteps.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';

const files = { 'a.txt': 'a' };
const staging: ScriptedTurn = {
  toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'new' } }],
};
const applying: ScriptedTurn = {
  toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'r' } }],
};
const forced = (t: TestSession): string =>
  t.requests.map(({ toolChoice }) => (toolChoice ? 'F' : '-')).join('');
const notices = (t: TestSession): string[] =>
  t.steering().flatMap(({ kind, text }) => (kind === 'notice' ? [text] : []));

for (const code of ['server', 'notFound', 'badRequest'] satisfies ProviderFailure['code'][]) {
  test(`a server that fails each forced request (${code}) still answers every prompt, and is forced three times`, async () => {
    const t = createTestSession({
      files,
      script: ({ toolChoice }, n) => {
        if (toolChoice) return { error: { code, message: 'No.', detail: 'No.' } };
        return n === 0 ? staging : { text: `Answer ${n}.` };
      },
    });
    await t.session.prompt('Write.');
    for (let n = 0; n < 4; n++) {
      const before = t.answers().length;
      await t.session.prompt('And now?');
      assert.match(t.answers()[before]?.text ?? '', /^Answer/, 'no force before the server has answered');
    }
    assert.equal(forced(t), '-F-F-F--');
    assert.deepEqual(notices(t), [
      'p1 (Rewrite a.txt) was not resolved when asked for. It is now left to the user.',
    ]);
    assert.equal(t.store.get('p1')?.state.kind, 'pending');
    assert.equal(t.session.state, 'awaitingReview');
    t.assertSound();
  });
}

test('a server that is unreachable for a while uses up one of the three turns', async () => {
  const down: ScriptedTurn = { error: { code: 'unreachable', message: 'No route.' } };
  const t = createTestSession({
    files,
    script: [staging, down, down, down, down, down, { text: 'I am back.' }, applying, { text: 'ok' }],
  });
  await t.session.prompt('Write.');
  for (let n = 0; n < 5; n++) await t.session.prompt('Hello?');
  assert.equal(forced(t), '-F-----F-');
  assert.deepEqual(notices(t), []);
  assert.equal(t.workspace.text('a.txt'), 'new');
});

test('the forced request after an unforced one has a reminder: it does not end with the model’s own message', async () => {
  const t = createTestSession({
    files,
    script: [staging, { error: {} }, { text: 'I am back.' }, applying, { text: 'ok' }],
  });
  await t.session.prompt('Write.');
  await t.session.prompt('Hello?');
  assert.equal(forced(t), '-F-F-');
  const last = t.requests[3]?.messages.at(-1);
  assert.equal(last?.role === 'steering' && last.kind, 'resolve-reminder');
});

test('a stopped turn counts neither as a failure nor as unanswered', async () => {
  const t = createTestSession({ files, script: [staging, { hang: true }, applying, { text: 'ok' }] });
  const prompted = t.session.prompt('Write.');
  await t.nextEvent(event => event.type === 'message_end' && event.message.role === 'steering');
  t.session.stop();
  await prompted;
  await t.session.prompt('Go on.');
  assert.equal(forced(t), '-FF-');
});

test('a complete answer ends the pause after a failed request, even if the user stops the turn that it belongs to', async () => {
  const reading: ScriptedTurn = { toolCalls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] };
  const t = createTestSession({ files, script: [staging, { error: {} }, reading, applying, { text: 'ok' }] });
  await t.session.prompt('Write.');
  const started = t.nextEvent(({ type }) => type === 'tool_start').then(() => t.session.stop());
  await Promise.all([started, t.session.prompt('Hello?')]);
  assert.equal(t.session.state, 'idle');
  await t.session.prompt('Go on.');
  assert.equal(forced(t), '-F-F-');
  assert.equal(t.workspace.text('a.txt'), 'new');
  t.assertSound();
});

test('a failed apply is forced again after a failed request and an answer that was complete when the user stopped', async () => {
  const answer = { type: 'answer', text: '', calls: [], long: false } as const;
  const apply = { type: 'vote', actor: 'human', action: 'apply', at: 0 } as const;
  const plain = { openOnly: true, aborts: false, chain: false, outdated: false } as const;
  const work = { name: 'work', stages: [{ what: 'file', rejects: false }], end: 'ok' } as const;
  const violations = await play({
    settings: {},
    step: 'named',
    staged: [{ what: 'slow', rejects: false }],
    steps: [
      { ...apply, ...plain, then: 0 },
      { ...answer, calls: [work], then: 'quiet' },
      { type: 'refuse', how: 'server', then: 'quiet' },
      { type: 'prompt', then: 0 },
      { ...answer, then: 1 },
      { type: 'stop', then: 0 },
      { type: 'callback', at: 0, how: 'error', then: 'quiet' },
      { type: 'prompt', then: 'quiet' },
    ],
    ending: 'silent',
  });
  assert.deepEqual(violations, []);
});

test('auto in Review: a history in which the user applies in vain three times breaks no invariant', async () => {
  const apply = { type: 'vote', actor: 'human', action: 'apply', at: 0 } as const;
  const plain = { openOnly: true, aborts: false, chain: false, outdated: false, then: 'quiet' } as const;
  const violations = await play({
    settings: { modelAuthority: 'recommend', forcing: 'auto' },
    step: 'named',
    staged: [
      { what: 'toolError', rejects: false },
      { what: 'file', rejects: false },
    ],
    steps: [
      { ...apply, ...plain },
      { ...apply, ...plain },
      { ...apply, ...plain },
    ],
    ending: 'silent',
  });
  assert.deepEqual(violations, []);
});

test('auto in Review: what failed to apply three times is left to the user, and the forced vote names only the rest', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend', forcing: 'auto' },
    script: [staging, { text: 'Ready.' }, applying],
  });
  t.stage({ label: 'Broken', apply: () => Promise.reject(new Error('broken')) });
  for (let n = 0; n < 3; n++)
    await assert.rejects(t.invoker.resolve({ id: 'p1', action: 'apply', reason: 'r', actor: 'human' }));
  await t.session.prompt('Write.');
  assert.equal(forced(t), '--F');
  assert.deepEqual(notices(t), ['p1 (Broken) failed to apply 3 times. It is now left to the user.']);
  const reminders = t.steering().filter(({ kind }) => kind === 'resolve-reminder');
  assert.deepEqual(
    reminders.map(({ previewIds }) => previewIds),
    [['p2']],
  );
  t.assertSound();
});
