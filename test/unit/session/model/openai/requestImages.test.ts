import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../../../src/agent/session/model/chatProvider.ts';
import type { ImageFile, SessionMessage } from '../../../../../src/agent/session/model/messages.ts';
import { takesImages } from '../../../../../src/agent/session/model/openai/requestImages.ts';
import {
  loadImages,
  refusesAnImage,
  refusesImages,
} from '../../../../../src/agent/session/model/sentImages.ts';
import {
  closeServerAfterEach,
  drain,
  failureIn,
  hello,
  providerFor,
  serve,
} from '../../../../support/providerHarness.ts';
import type { RecordedRequest, Reply, ScriptedServerOptions } from '../../../../support/scriptedServer.ts';
import { replyOf } from '../../../../support/serverFixtures.ts';
import { TWO_IMAGES_AND_TEXT } from '../../../../support/twoImages.ts';

closeServerAfterEach();

const image = (name: string, bytes = 3): ImageFile => ({ file: name, type: 'image/png', bytes });
const prompt = (text: string, ...images: readonly ImageFile[]): SessionMessage => ({
  role: 'user',
  text,
  attachments: images.map(one => ({ path: one.file, image: one, text: '' })),
});
const answered: SessionMessage = { role: 'assistant', text: 'A cat.', toolCalls: [], stopReason: 'stop' };
const ask = (...messages: SessionMessage[]): ChatRequest => ({ ...hello, messages });
const readImage = (file: string) =>
  Promise.resolve(file === 'gone.png' ? undefined : new Uint8Array([1, 2, 3]));
const refusal: Reply = {
  status: 400,
  body: { error: { message: 'Invalid content type. image_url is only supported by certain models.' } },
};

async function start(replies: readonly Reply[], options?: ScriptedServerOptions, idleMs?: number) {
  const server = await serve((_, n) => replies[n] ?? { text: 'ok' }, options);
  const provider = providerFor(server, { readImage, idleMs });
  return {
    server,
    send: (request: ChatRequest) => drain(provider.stream(request, new AbortController().signal)),
  };
}

test('an image goes along as a data URL after the words; one that is gone is only told of', async () => {
  const { server, send } = await start([]);
  await send(ask(prompt('What is this?', image('a.png'), image('gone.png'))));
  assert.deepEqual(server.requests[0]?.body.messages.at(-1), {
    role: 'user',
    content: [
      {
        type: 'text',
        text: TWO_IMAGES_AND_TEXT,
      },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
    ],
  });
  assert.deepEqual(server.violations, []);
});

test('images of results follow all results of the answer; without them the model is told', async () => {
  const { server, send } = await start([]);
  const calls = ['c1', 'c2'].map(id => ({ id, name: 'read_file', arguments: '{}' }));
  const resultOf = (toolCallId: string, shown: ImageFile): SessionMessage => {
    const result = { toolCallId, toolName: 'read_file', content: `${shown.file}: an image.`, isError: false };
    return { role: 'tool', ...result, image: shown };
  };
  const asked: SessionMessage = { role: 'assistant', text: '', toolCalls: calls, stopReason: 'toolCalls' };
  await send(ask(prompt('Look'), asked, resultOf('c1', image('a.png')), resultOf('c2', image('gone.png'))));
  assert.deepEqual(server.requests[0]?.body.messages.slice(-3), [
    { role: 'tool', tool_call_id: 'c1', content: 'a.png: an image.' },
    {
      role: 'tool',
      tool_call_id: 'c2',
      content: 'gone.png: an image. You cannot see it: images are not sent to you.',
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'The images of the results above, in their order:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
      ],
    },
  ]);
  assert.deepEqual(server.violations, []);
});

test('a refusal becomes a sentence; the conversation goes on without the image, which is not sent again', async () => {
  const { server, send } = await start([refusal]);
  const refused = failureIn(await send(ask(prompt('What is this?', image('a.png')))));
  assert.equal(refused.code, 'noImages');
  assert.match(refused.message, /“m” does not accept images/);
  const failed: SessionMessage = { role: 'assistant', text: '', toolCalls: [], stopReason: 'error' };
  const again = failureIn(await send(ask(prompt('What is this?', image('a.png')), failed)));
  assert.equal(again.code, 'noImages');
  assert.equal(server.requests.length, 1);
  const { last } = await send(ask(prompt('What is this?', image('a.png')), failed, prompt('Never mind.')));
  assert.equal(last.type, 'done');
  assert.equal(
    server.requests[1]?.body.messages[1]?.content,
    '[Image attached by the user: a.png] You cannot see it.\n\nWhat is this?',
  );
});

/** A server that refuses requests with these images, as Anthropic does. */
async function startStrict(...bad: readonly string[]) {
  const refuses = ({ body }: RecordedRequest): boolean =>
    bad.some(name => JSON.stringify(body).includes(Buffer.from(name).toString('base64')));
  const server = await serve(request =>
    refuses(request) ? replyOf('openrouter', 'an image is too large') : { text: 'ok' },
  );
  const provider = providerFor(server, { readImage: file => Promise.resolve(Buffer.from(file)) });
  return {
    server,
    send: (request: ChatRequest) => drain(provider.stream(request, new AbortController().signal)),
    /** The images of each request. */
    sent: () =>
      server.requests.map(({ body }) =>
        [...JSON.stringify(body).matchAll(/base64,([^"]+)/g)].map(([, data = '']) =>
          Buffer.from(data, 'base64').toString(),
        ),
      ),
  };
}

test('an image that the server refuses is told of with its words, and is in no later request', async () => {
  const { send, sent, server } = await startStrict('tall.png');
  const tall = prompt('What is this?', image('tall.png'));
  for (let turn = 0; turn < 2; turn++) {
    const refused = failureIn(await send(ask(prompt('Hi.', image('a.png')), answered, tall)));
    assert.equal(refused.code, 'noImages');
    assert.match(
      refused.message,
      /refused an image of this prompt\. .*It said: “.*exceed max allowed size: 8000 pixels”/,
    );
  }
  const later = ask(prompt('Hi.', image('a.png')), answered, tall, prompt('Never mind.'));
  for (let turn = 0; turn < 2; turn++) assert.equal((await send(later)).last.type, 'done');
  assert.deepEqual(sent(), [['a.png', 'tall.png'], ['tall.png'], ['a.png'], ['a.png']]);
  assert.match(JSON.stringify(server.requests.at(-1)?.body), /tall\.png\] You cannot see it\./);
});

test('an image of an older prompt that the server has come to refuse is left out, and the answer comes', async () => {
  const { send, sent } = await startStrict('tall.png');
  const request = ask(prompt('Hi.', image('tall.png')), answered, prompt('And this?', image('b.png')));
  for (let turn = 0; turn < 2; turn++) assert.equal((await send(request)).last.type, 'done');
  assert.deepEqual(sent(), [['tall.png', 'b.png'], ['b.png'], ['b.png']]);
});

test('the list of models is believed, and asked once', async () => {
  const details = { m: { architecture: { input_modalities: ['text'] } } };
  const { server, send } = await start([], { details });
  const request = ask(prompt('What is this?', image('a.png')));
  for (let turn = 0; turn < 2; turn++) assert.equal(failureIn(await send(request)).code, 'noImages');
  assert.equal(server.requests.length, 0);
  const seen = await send(ask(prompt('What is this?', image('a.png')), answered, prompt('And now?')));
  assert.equal(seen.last.type, 'done');
});

test(
  'a server that never answers with its list gets the image all the same',
  { timeout: 20_000 },
  async () => {
    const { server, send } = await start([], { hangsList: true }, 100);
    assert.equal((await send(ask(prompt('What is this?', image('a.png'))))).last.type, 'done');
    assert.match(JSON.stringify(server.requests[0]?.body.messages.at(-1)), /"image_url"/);
  },
);

test('a server that wants turns gets neighbouring prompts as one, with their words and images in order', async () => {
  const alternate: Reply = {
    status: 400,
    body: { error: { message: 'roles must alternate user/assistant' } },
  };
  const { server, send } = await start([alternate]);
  await send(ask(prompt('First.'), prompt('What is this?', image('a.png')), prompt('Tell me.')));
  const [told] = (server.requests.at(-1)?.body.messages ?? []).filter(({ role }) => role === 'user');
  assert.deepEqual(told?.content, [
    { type: 'text', text: 'First.' },
    { type: 'text', text: '[Image attached by the user: a.png]\n\nWhat is this?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
    { type: 'text', text: 'Tell me.' },
  ]);
});

test('what servers say of their models', () => {
  assert.equal(takesImages({ id: 'm', architecture: { input_modalities: ['text', 'image'] } }), true);
  assert.equal(takesImages({ id: 'm', capabilities: { vision: false } }), false);
  assert.equal(takesImages({ name: 'm', capabilities: ['completion', 'multimodal'] }), true);
  assert.equal(takesImages({ id: 'm', object: 'model' }), undefined);
  assert.equal(takesImages(undefined), undefined);
});

test('refusals of images are told from other errors', () => {
  for (const body of [
    'Invalid content type. image_url is only supported by certain models.',
    'No endpoints found that support image input',
    'this model does not support image input (ref: b8bd)',
    'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
    'Model does not support images. Please use a model that does.',
    'At most 0 image(s) may be provided in one request.',
    'glm is not a multimodal model',
    'unknown variant `image_url`, expected `text`',
    'Image input is not enabled for this model',
  ])
    assert.ok(refusesImages(JSON.stringify({ error: { message: body } })), body);
  for (const body of ['Could not process image', 'The image is too large', 'roles must alternate'])
    assert.ok(!refusesImages(body), body);
  for (const body of [
    'messages.7.content.3.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels',
    'image exceeds 5 MB maximum: 10053760 bytes > 5242880 bytes',
    'Could not process image',
    'You uploaded an unsupported image. Please make sure your image is valid.',
    'Invalid image data',
    'Unable to process input image. Please retry or report',
    'At most 1 image(s) may be provided in one prompt.',
    'Failed to load image or audio file',
    'Image does not match the provided media type image/png',
  ])
    assert.ok(refusesAnImage(JSON.stringify({ error: { message: body } })), body);
  for (const body of [
    'roles must alternate',
    'Model does not support images.',
    'Invalid value for tools[0].name',
  ])
    assert.ok(!refusesAnImage(body), body);
});

test('of many images only the newest are sent, up to 20 MB', async () => {
  const size = 5 * 1_048_576;
  const messages = ['a', 'b', 'c', 'd', 'e'].map(name => prompt(name, image(name, size)));
  assert.deepEqual([...(await loadImages(messages, readImage)).keys()], ['e', 'd', 'c', 'b']);
  assert.equal((await loadImages(messages, undefined)).size, 0);
});
