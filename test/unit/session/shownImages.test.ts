import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ImageFiles } from '../../../src/agent/session/conversation/storage/imageFiles.ts';
import type { MemorySessionLog } from '../../support/testSession.ts';
import { MemoryWorkspace } from '../../support/memoryWorkspace.ts';
import { closeServerAfterEach, providerFor, serve } from '../../support/providerHarness.ts';
import { TempFolder } from '../../support/tempFolder.ts';
import { createTestSession } from '../../support/testSession.ts';

closeServerAfterEach();

const PNG = Buffer.from('\x89PNG\r\n\x1a\nbefore', 'latin1');

test('an image that a call showed goes to the model after a reload, as it was then', async t => {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  const workspace = new MemoryWorkspace();
  workspace.put('cat.png', PNG);
  const call = { name: 'read_file', arguments: JSON.stringify({ path: 'cat.png' }) };
  const server = await serve((_, n) =>
    n === 0 ? { toolCalls: [{ id: 'c1', ...call }] } : { text: 'A cat.' },
  );
  /** A window that opens the conversation. */
  const open = (sessionLog?: MemorySessionLog) => {
    const images = new ImageFiles(folder.root);
    return createTestSession({
      workspace,
      ...(sessionLog ? { sessionLog } : {}),
      provider: providerFor(server, { readImage: file => images.read(file) }),
      keepImage: async (bytes, id) => images.keep(await images.add(bytes), id),
    });
  };
  const before = open();
  await before.session.prompt('What is on it?');
  const sent = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } };
  const imagesOf = (n: number): readonly unknown[] =>
    (server.requests[n]?.body.messages ?? []).flatMap(({ content }) =>
      Array.isArray(content) ? content.filter(part => part.type === 'image_url') : [],
    );
  assert.deepEqual(imagesOf(1), [sent]);

  workspace.put('cat.png', Buffer.from('gone'));
  const after = open(before.sessionLog.copy());
  await after.session.prompt('And now?');
  assert.deepEqual(imagesOf(2), [sent]);
  assert.deepEqual(server.violations, []);
});
