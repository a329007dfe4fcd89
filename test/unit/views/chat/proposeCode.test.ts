import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { Gate } from '../../../support/gate.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { createTestSession } from '../../../support/testSession.ts';

stub.useVscodeStub();
const { proposeCode } = await import('../../../../src/views/chat/proposeCode.ts');

test('code of an answer concerns its conversation, even if another one is begun while the file is read', async () => {
  const gate = new Gate();
  const workspace = new MemoryWorkspace({ 'a.txt': 'one\n' });
  const read = workspace.read.bind(workspace);
  workspace.read = file => gate.pass().then(() => read(file));
  const { session, store } = createTestSession({ workspace });
  const { id } = session;
  const opener = { open: () => Promise.resolve() };
  const proposed = proposeCode({ workspace, session, opener } as never, ['a.txt', 'two']);
  await gate.reached;
  await session.new();
  gate.open();
  assert.equal(store.get((await proposed) ?? '')?.origin?.sessionId, id);
});
