import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ProviderFailure } from '../../../src/agent/model/chatProvider.ts';
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
  test(`a server that fails each forced request (${code}) answers every prompt all the same, and is asked three times`, async () => {
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
      'p1 (Rewrite a.txt) was not resolved when it was asked for. It is left to the user now.',
    ]);
    assert.equal(t.store.get('p1')?.state.kind, 'pending');
    assert.equal(t.session.state, 'awaitingReview');
    t.assertSound();
  });
}

test('a server that is out of reach for a while uses up one of the three turns', async () => {
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

test('the forced request after an unforced one is reminded: it does not end with the words of the model', async () => {
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

test('a turn that was stopped is neither a failure nor a turn in vain', async () => {
  const t = createTestSession({ files, script: [staging, { hang: true }, applying, { text: 'ok' }] });
  const prompted = t.session.prompt('Write.');
  await t.nextEvent(event => event.type === 'message_end' && event.message.role === 'steering');
  t.session.stop();
  await prompted;
  await t.session.prompt('Go on.');
  assert.equal(forced(t), '-FF-');
});
