import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { Recorders } from '../../../../../src/agent/session/conversation/storage/recorder.ts';
import { SessionLogs } from '../../../../../src/agent/session/conversation/storage/sessionLogs.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { noSpace } from '../../../../support/memoryWorkspace.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

stub.useVscodeStub();
const { StoredSessions } = await import('../../../../../src/views/chat/history/storedSessions.ts');

const folder = await TempFolder.create();
after(() => folder.remove());

const written: string[] = [];
const told: string[] = [];
Object.assign(stub.workspace, {
  fs: {
    writeFile: async (_: unknown, content: Uint8Array) => void written.push(Buffer.from(content).toString()),
  },
});
Object.assign(stub.window, { showWarningMessage: async (text: string) => void told.push(text) });

test('the log of a conversation is not exported without its end while the disk is full: the user is told', async () => {
  const sessions = new SessionLogs(folder.root);
  const log = sessions.open('s1');
  let isFull = false;
  const append: typeof log.append = entry => (isFull ? Promise.reject(noSpace()) : log.append(entry));
  const recorders = new Recorders(() => ({ append }), {
    onFailure: () => undefined,
    onLoss: () => assert.fail(),
  });
  const record = recorders.for('s1');
  const session = { id: 's1', title: 'T', logs: { drain: (id: string) => recorders.drain(id) } };
  const stored = new StoredSessions({ session, sessions, logger: silentLogger } as never);
  const file = stub.Uri.file('/talk.jsonl') as never;

  record({ type: 'message', id: 0, parentId: null, message: { role: 'user', text: 'saved' } });
  await recorders.drain('s1');
  isFull = true;
  record({ type: 'message', id: 1, parentId: 0, message: { role: 'user', text: 'waits' } });
  await stored.export('s1', file);
  assert.deepEqual(written, []);
  assert.match(told.join('\n'), /^Part of that session is not saved yet.*Try again once it can\.$/);

  isFull = false;
  await stored.export('s1', file);
  assert.match(written.join(''), /saved[^]*waits/);
  assert.equal(told.length, 1);
  await recorders.close();
});
