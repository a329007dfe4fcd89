import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { createTestSession } from '../../../../support/testSession.ts';

stub.useVscodeStub();
Object.assign(stub.window, { setStatusBarMessage: () => undefined });
const { retry } = await import('../../../../../src/views/chat/history/historyCommands.ts');

test('a prompt that is sent again does not get into the session that is begun meanwhile', async () => {
  const t = createTestSession({ files: {}, script: [{ text: 'Hi.' }, { text: 'Hi again.' }] });
  await t.session.prompt('Hello.');
  const retrying = retry({ session: t.session } as never);
  const renewed = t.session.new();
  await Promise.all([retrying, renewed]);
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
