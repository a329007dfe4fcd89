import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { previewWith } from '../../../../support/previewWith.ts';
import { createTestSession } from '../../../../support/testSession.ts';

stub.useVscodeStub();
const { runOnDisk } = await import('../../../../../src/views/agents/terminal/sandboxCommands.ts');

test('a command for the disk is not proposed in a session that is begun while the chat opens', async t => {
  const { session, requests } = createTestSession({ script: [{ text: 'Hi.' }] });
  const details = { command: 'make', folder: '', shell: '/bin/sh', environment: {}, timeLimit: 1 };
  const preview = previewWith({ purpose: 'command', details });
  t.mock.method(stub.commands, 'executeCommand', () => session.new());
  await runOnDisk({ session, store: { get: () => preview } } as never, [preview.id]);
  assert.deepEqual([session.messages, requests], [[], []]);
});
