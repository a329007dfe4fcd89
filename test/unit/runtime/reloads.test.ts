import { test } from 'node:test';
import assert from 'node:assert/strict';
import { textResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import { RESOLVE_REMINDER } from '../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { modify } from '../../support/changes.ts';
import { Gate } from '../../support/gate.ts';
import { play } from '../../histories/runtimeSteps.ts';
import type { Script, ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession, type TestSessionOptions } from '../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const write = (path: string): ScriptedTurn => ({
  toolCalls: [{ name: 'write_file', arguments: { path, content: 'new' } }],
});
const applying: ScriptedTurn = {
  toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'r' } }],
};
const ok: ScriptedTurn = { text: 'ok' };
const forced = (t: TestSession): string =>
  t.requests.map(({ toolChoice }) => (toolChoice ? 'F' : '-')).join('');
const reminders = (t: TestSession) => t.steering().filter(({ kind }) => kind === 'resolve-reminder');

/** Another process on the same storage. The previous one is not stopped. */
function reloaded(t: TestSession, script: Script, more: TestSessionOptions = {}): TestSession {
  const { workspace, log, sessionLog, settings } = t;
  return createTestSession({ workspace, log, sessionLog, settings, script, ...more });
}

test('pending previews come back with identical changes and can be resolved; opaque ones are expired', async () => {
  const t = createTestSession({ files });
  const [a, b] = ['a.txt', 'b.txt'].map(path =>
    t.stage({ label: path, changes: [modify(path, path.slice(0, 1), 'new')] }),
  );
  t.stage({ label: 'opaque', apply: () => Promise.resolve(textResult('x')) });
  const after = reloaded(t, []);
  assert.deepEqual(after.store.list('oldestFirst'), [a, b]);
  await after.click('p1', 'apply');
  await after.click('p2', 'discard');
  assert.deepEqual(after.workspace.snapshot(), { 'a.txt': 'new', 'b.txt': 'b' });
  assert.deepEqual(after.store.get('p3')?.state, { kind: 'expired' });
  assert.equal(after.store.hasPending, false);
});

test('resolving an expired preview says so and changes nothing; it is shown until it is dismissed', async () => {
  const t = createTestSession({ files });
  t.stage({ label: 'opaque', apply: () => assert.fail('it is gone'), details: { command: 'ls' } });
  const after = reloaded(t, []);
  const result = (await after.click('p1', 'apply')) as { content: { text: string }[] };
  assert.match(result.content[0]?.text ?? '', /^p1 \(opaque\) has expired: it did not run/);
  assert.deepEqual(after.store.get('p1')?.details, { command: 'ls' }, 'what it was is still known');
  assert.deepEqual(after.store.ledger(), []);
  await after.store.dismiss('p1');
  assert.deepEqual(reloaded(after, []).store.get('p1')?.state, { kind: 'expired', dismissed: true });
});

test('a preview whose reminder never reached the model is reminded of and forced with the next prompt', async () => {
  const t = createTestSession({ files, script: [write('a.txt')] });
  const cut = new Promise<void>(resolve => {
    t.session.onDidEmit(event => {
      if (event.type !== 'tool_end') return;
      t.session.dispose();
      resolve();
    });
  });
  void t.session.prompt('Write.');
  await cut;
  assert.deepEqual(reminders(t), []);
  const after = reloaded(t, [applying, ok]);
  assert.deepEqual(after.requests, [], 'nothing is sent until the user asks for it');
  await after.session.prompt('Go on.');
  assert.equal(forced(after), 'F-');
  assert.deepEqual(
    reminders(after).map(({ text }) => text),
    [`${RESOLVE_REMINDER}\nPending: p1 (Rewrite a.txt)`],
  );
  after.assertSound();
});

test('a preview that the model was reminded of is not forced again, but resolve without an id still means it', async () => {
  const t = createTestSession({ files, settings: { forcing: 'off' }, script: [write('a.txt'), ok] });
  await t.session.prompt('Write.');
  t.settings.forcing = 'forced';
  const after = reloaded(t, [applying, ok]);
  await after.session.prompt('Go on.');
  assert.equal(forced(after), '--');
  assert.equal(after.workspace.text('a.txt'), 'new');
});

test('always: it is forced after a reload too, as long as it is pending', async () => {
  const t = createTestSession({ files, settings: { forcing: 'off' }, script: [write('a.txt'), ok] });
  await t.session.prompt('Write.');
  t.settings.forcing = 'always';
  const after = reloaded(t, [applying, ok]);
  await after.session.prompt('Go on.');
  assert.equal(forced(after), 'F-');
});

test('a recommendation survives a reload, and keeps its preview from being forced', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend', forcing: 'always' },
    script: [write('a.txt'), applying, ok],
  });
  await t.session.prompt('Write.');
  const after = reloaded(t, [ok]);
  const state = after.store.get('p1')?.state;
  assert.ok(state?.kind === 'pending');
  assert.deepEqual(state.recommendation, { action: 'apply', reason: 'r' });
  await after.session.prompt('Go on.');
  assert.equal(forced(after), '-');
});

test('an outcome that the model was not told before the reload is told with the next prompt, once', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend', continueAfterReview: false },
    script: [write('a.txt'), applying, ok],
  });
  await t.session.prompt('Write.');
  await t.click('p1', 'discard', 'not now');
  const after = reloaded(t, [ok, ok]);
  await after.session.prompt('Go on.');
  await after.session.prompt('And on.');
  assert.deepEqual(
    after.steering().flatMap(({ kind, text }) => (kind === 'outcome' ? [text] : [])),
    ['The user discarded p1 (Rewrite a.txt). This is the user\'s decision, not a failure. Reason: "not now"'],
  );
  await reloaded(after, [ok]).session.prompt('Once more.');
  assert.equal(after.steering().filter(({ kind }) => kind === 'outcome').length, 1);
});

test('a plain apply after a reload does not make the session continue', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend' },
    script: [write('a.txt'), applying, ok],
  });
  await t.session.prompt('Write.');
  assert.equal(t.session.state, 'awaitingReview');
  const after = reloaded(t, []);
  assert.equal(after.session.state, 'awaitingReview');
  await after.click('p1', 'apply');
  assert.equal(after.session.state, 'idle');
  assert.deepEqual(after.requests, []);
});

test('a vote that was stopped while it ran is told with its true outcome', async () => {
  const gate = new Gate();
  const t = createTestSession({ script: [applying, ok] });
  t.stage({
    label: 'Slow',
    apply: async () => {
      await gate.pass();
      return textResult('done');
    },
  });
  const prompted = t.session.prompt('Do it.');
  await gate.reached;
  t.session.stop();
  await prompted;
  const recorded = new Promise(resolve => t.store.onDidResolve(resolve));
  gate.open();
  await recorded;
  await t.session.prompt('And?');
  assert.ok(
    t.requests[1]?.messages.some(
      message =>
        message.role === 'steering' &&
        message.text === 'Your vote to apply p1 (Slow) ended after it was interrupted: applied.',
    ),
  );
  t.assertSound();
});

test('retention forgets the content of resolved previews, and keeps pending ones, the ledger and the ids', async () => {
  const t = createTestSession({ files });
  for (const path of ['a.txt', 'b.txt'])
    t.stage({ label: path, changes: [modify(path, path.slice(0, 1), `secret of ${path}`)] });
  t.stage({ label: 'third', changes: [modify('b.txt', 'b', 'x')] });
  await t.click('p1', 'apply');
  await t.click('p2', 'discard');
  const ledger = [...t.store.ledger()];
  await t.store.forgetResolved(new Date(0));
  assert.ok(t.store.get('p1'), 'young enough');
  await t.store.forgetResolved(new Date(Date.now() + 1_000));
  assert.equal(t.store.get('p1'), undefined);
  assert.ok(!JSON.stringify(t.log.entries).includes('secret of'));
  const after = reloaded(t, []);
  assert.deepEqual(after.store.ledger(), ledger);
  assert.deepEqual(
    after.store.all().map(({ id }) => id),
    ['p3'],
  );
  assert.equal(after.stage({ label: 'next', changes: [modify('a.txt', 'x', 'y')] }).id, 'p4');
});

test('a call that was on its way when the process was killed does nothing in the next process of a history', async () => {
  const amend = { name: 'amend', at: 0 } as const;
  const work = { name: 'work', stages: [{ what: 'file', rejects: false }], end: 'ok' } as const;
  const violations = await play({
    settings: {},
    step: 'named',
    staged: [{ what: 'file', rejects: false }],
    steps: [
      { type: 'part', action: 'apply', at: 0, file: 0, hunk: 1, then: 'quiet' },
      { type: 'answer', text: '', calls: [amend, amend, work], long: false, then: 0 },
      { type: 'reload', then: 0 },
      { type: 'edit', at: 0, then: 0 },
    ],
    ending: 'silent',
  });
  assert.deepEqual(violations, []);
});
