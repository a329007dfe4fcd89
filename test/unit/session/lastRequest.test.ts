import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ModelRequest } from '../../../src/agent/session/model/languageModel/port.ts';
import { createOfflineProvider } from '../../../src/agent/session/model/offline/provider.ts';
import type { ChatProvider } from '../../../src/agent/session/model/chatProvider.ts';
import { FakeLanguageModel, fakeProvider, text } from '../../support/fakeLanguageModel.ts';
import { closeServerAfterEach, KEY, logger, providerFor, serve } from '../../support/providerHarness.ts';
import { createTestSession } from '../../support/testSession.ts';

closeServerAfterEach();

const image = { file: 'a.png', type: 'image/png', bytes: 3 } as const;

/** What a session with this provider has sent after one prompt. */
async function sentTo(provider: ChatProvider) {
  const { session } = createTestSession({ provider });
  await session.prompt('Hello');
  return { session, sent: session.requests.sent ?? assert.fail('a request was sent') };
}

test('to a server: the body of the request that it accepted, without the key and with images by size', async () => {
  const refusal = { status: 400, body: { error: { message: "Unknown parameter: 'stream_options'." } } };
  const server = await serve((_, n) => (n === 0 ? refusal : { text: 'ok' }));
  const readImage = () => Promise.resolve(new Uint8Array([1, 2, 3]));
  const provider = providerFor(server, { readImage, apiKey: () => Promise.resolve(KEY) });
  const { session } = createTestSession({ provider });
  await session.prompt('What is this?', [{ path: 'a.png', image, text: '' }]);
  const sent = session.requests.sent ?? assert.fail('a request was sent');
  const body = structuredClone(server.requests.at(-1)?.body) as object;
  const written = JSON.stringify(body).replace('data:image/png;base64,AQID', '[image/png, 3 bytes]');
  assert.deepEqual(sent.body, JSON.parse(written));
  assert.ok(!JSON.stringify(body).includes('stream_options'), 'the first form was refused');
  assert.ok(JSON.stringify(sent.body).includes('[image/png, 3 bytes]'));
  assert.equal(sent.provider, provider.id);
  assert.ok(!JSON.stringify(sent).includes(KEY));
});

test('to a language model of VS Code: the messages, tools and mode that it got', async () => {
  const model = new FakeLanguageModel([text('Hi.')]);
  const { sent } = await sentTo(fakeProvider(model, logger));
  assert.deepEqual(sent.body, model.requests[0] satisfies ModelRequest | undefined);
});

test('to a language model of VS Code that takes images: their sizes', async () => {
  const model = Object.assign(new FakeLanguageModel([text('A cat.')]), { takesImages: true });
  const readImage = () => Promise.resolve(new Uint8Array([1, 2, 3]));
  const { session } = createTestSession({ provider: fakeProvider(model, logger, { readImage }) });
  await session.prompt('What is this?', [{ path: 'a.png', image, text: '' }]);
  assert.ok(model.requests[0]?.messages.some(({ parts }) => parts.some(({ type }) => type === 'image')));
  assert.match(JSON.stringify(session.requests.sent?.body), /"image":"\[image\/png, 3 bytes\]"/);
});

test('to no model: the request itself, until another conversation is opened', async () => {
  const { session, sent } = await sentTo(createOfflineProvider());
  assert.deepEqual((sent.body as { messages: unknown }).messages, [{ role: 'user', text: 'Hello' }]);
  await session.new();
  assert.equal(session.requests.sent, undefined);
});
