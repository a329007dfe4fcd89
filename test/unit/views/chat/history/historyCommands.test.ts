import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '../../../../../src/agent/session/session.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { createTestSession } from '../../../../support/testSession.ts';

stub.useVscodeStub();
Object.assign(stub.window, { setStatusBarMessage: () => undefined });
const { retry, revert } = await import('../../../../../src/views/chat/history/historyCommands.ts');

for (const [when, act] of Object.entries<(session: Session) => unknown>({
  'the user begins another session': session => session.new(),
  'the user stops': session => session.stop(),
}))
  test(`a prompt that is sent again goes back into the input if ${when} meanwhile`, async () => {
    const t = createTestSession({ files: {}, script: [{ text: 'Hi.' }, { text: 'Hi again.' }] });
    await t.session.prompt('Hello.');
    const retrying = retry({ session: t.session } as never);
    await Promise.all([act(t.session), retrying]);
    assert.deepEqual(t.session.messages, []);
    assert.deepEqual(
      t.events.flatMap(event => (event.type === 'prompts_returned' ? event.prompts : [])),
      [{ text: 'Hello.', attachments: [] }],
    );
  });

test('a click on the page of a session that is being left reverts nothing, and says nothing', async () => {
  const t = createTestSession({ files: {}, script: [{ text: 'Hi.', hang: true }] });
  const prompted = t.session.prompt('Hello.');
  await t.nextEvent(event => event.type === 'message_update');
  const told: string[] = [];
  Object.assign(stub.window, { showInformationMessage: (text: string) => void told.push(text) });
  const renewed = t.session.new();
  await Promise.all([retry({ session: t.session } as never), renewed, prompted]);
  assert.deepEqual([t.session.messages, told], [[], []]);
  assert.equal(t.requests.length, 1);
});

test('a message that is picked in a session that is left by then reverts nothing in the next one', async () => {
  const script = ['One.', 'Two.', 'Three.', 'Four.'].map(text => ({ text }));
  const t = createTestSession({ files: {}, script });
  await t.session.prompt('First.');
  await t.session.prompt('Second.');
  const picked = Promise.withResolvers<unknown>();
  let offered: readonly unknown[] = [];
  Object.assign(stub.window, {
    showQuickPick: (picks: readonly unknown[]) => {
      offered = picks;
      return picked.promise;
    },
  });
  const reverting = revert({ session: t.session } as never, []);
  await t.session.new();
  await t.session.prompt('Third.');
  await t.session.prompt('Fourth.');
  const before = t.session.messages;
  picked.resolve(offered[0]);
  await reverting;
  assert.deepEqual(t.session.messages, before);
});
