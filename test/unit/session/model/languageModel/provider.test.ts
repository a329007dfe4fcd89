import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChatRequest, ProviderAnswer } from '../../../../../src/agent/session/model/chatProvider.ts';
import type { AnswerPart, LanguageModel } from '../../../../../src/agent/session/model/languageModel/port.ts';
import {
  call,
  FakeLanguageModel,
  fakeProvider,
  text,
  type FakeAnswer,
} from '../../../../support/fakeLanguageModel.ts';
import {
  closeServerAfterEach,
  drain,
  failureIn,
  hello,
  logged,
  logger,
  type Outcome,
} from '../../../../support/providerHarness.ts';

closeServerAfterEach();

const run = (
  model: LanguageModel | undefined,
  request: ChatRequest = hello,
  options: Parameters<typeof fakeProvider>[2] = {},
): Promise<Outcome> =>
  drain(fakeProvider(model, logger, options).stream(request, new AbortController().signal));

const answerIn = ({ last }: Outcome): ProviderAnswer =>
  last.type === 'done' ? last.answer : assert.fail(JSON.stringify(last));

test('text is passed on as it arrives, and the answer has all of it', async () => {
  const outcome = await run(new FakeLanguageModel([text('Hel'), text(''), text('lo')]));
  assert.deepEqual(outcome.events.slice(0, -1), [
    { type: 'text', delta: 'Hel' },
    { type: 'text', delta: 'lo' },
  ]);
  const { text: said, toolCalls, stopReason } = answerIn(outcome);
  assert.deepEqual([said, toolCalls, stopReason], ['Hello', [], 'stop']);
});

test('calls have JSON arguments and ids that are new in the conversation', async () => {
  const request: ChatRequest = {
    ...hello,
    messages: [
      {
        role: 'assistant',
        text: '',
        toolCalls: [{ id: 'c1', name: 'read', arguments: '{}' }],
        stopReason: 'toolCalls',
      },
      { role: 'tool', toolCallId: 'c1', toolName: 'read', content: 'x', isError: false },
    ],
  };
  const model = new FakeLanguageModel([
    text('Look'),
    call('read', { path: 'a' }, 'c1'),
    call('read', '{"path":"b"}', 'c2'),
    call('list', undefined, 'c2'),
    { type: 'call', id: undefined, name: 'list', input: null },
    { type: 'other' },
  ]);
  const outcome = await run(model, request);
  const { toolCalls, stopReason } = answerIn(outcome);
  assert.equal(stopReason, 'toolCalls');
  assert.deepEqual(
    toolCalls.map(({ name, arguments: json }) => [name, json]),
    [
      ['read', '{"path":"a"}'],
      ['read', '{"path":"b"}'],
      ['list', '{}'],
      ['list', '{}'],
    ],
  );
  const ids = toolCalls.map(({ id }) => id);
  assert.equal(new Set([...ids, 'c1']).size, 5, ids.join());
  assert.ok(ids.every(id => id !== ''));
});

test('an answer without any part is complete: models end their turn so', async () => {
  const { text: said, toolCalls, stopReason } = answerIn(await run(new FakeLanguageModel([])));
  assert.deepEqual([said, toolCalls, stopReason], ['', [], 'stop']);
});

test('an answer that breaks midway is an error, and none of its calls is returned', async () => {
  const model = new FakeLanguageModel([text('Half'), call('edit_file'), new Error('connection lost')]);
  const outcome = await run(model);
  const failure = failureIn(outcome);
  assert.deepEqual([failure.code, failure.message], ['server', 'unknown: connection lost']);
  assert.deepEqual(outcome.events[0], { type: 'text', delta: 'Half' });
  assert.match(logged.join('\n'), /acme\/m1[\s\S]*connection lost/);
});

for (const [what, part] of [
  ['without a name', { type: 'call', id: 'c', name: '', input: {} }],
  ['with a list as arguments', call('read', [])],
  ['with arguments that JSON cannot hold', call('read', { n: 1n })],
] as const satisfies [string, AnswerPart][])
  test(`a call ${what} makes the answer unusable`, async () => {
    const failure = failureIn(await run(new FakeLanguageModel([call('read'), part])));
    assert.deepEqual([failure.code, failure.message.split(':')[0]], ['broken', 'malformed']);
  });

test('an answer that grows past the limit is ended, and the request is cancelled', async () => {
  const endless = async function* (): AsyncGenerator<AnswerPart> {
    for (;;) yield text('0123456789');
  };
  const model = new FakeLanguageModel(() => Promise.resolve(endless()));
  const failure = failureIn(await run(model, hello, { maxAnswerChars: 1_000 }));
  assert.deepEqual([failure.code, failure.message.split(':')[0]], ['broken', 'tooLarge']);
  assert.equal(model.signals[0]?.aborted, true);
});

test('a model that VS Code does not offer is not found, and one that cannot be looked up is an error', async () => {
  const missing = failureIn(await run(undefined));
  assert.deepEqual([missing.code, missing.message.split(':')[0]], ['notFound', 'missing']);
  const find = () => Promise.reject(new Error('no API'));
  assert.equal(failureIn(await run(undefined, hello, { find })).code, 'server');
});

test('a request that is refused is an error, whether the promise rejects or the call throws', async () => {
  const refusal = Object.assign(new Error('no'), { code: 'NoPermissions' });
  const rejected = failureIn(await run(new FakeLanguageModel(() => Promise.reject(refusal))));
  assert.deepEqual([rejected.code, rejected.message], ['forbidden', 'noPermission: no']);
  const thrown = new FakeLanguageModel(() => {
    throw refusal;
  });
  assert.equal(failureIn(await run(thrown)).code, 'forbidden');
});

test('Stop before the request sends nothing', async () => {
  const model = new FakeLanguageModel([text('x')]);
  const { events } = await drain(fakeProvider(model, logger).stream(hello, AbortSignal.abort()));
  assert.deepEqual(events, [{ type: 'aborted' }]);
  assert.equal(model.requests.length, 0);
});

test('Stop while consent is asked for, while an answer hangs, or between parts ends the stream at once', async () => {
  const never = new Promise<never>(() => undefined);
  const hanging = async function* (): AsyncGenerator<AnswerPart> {
    yield text('a');
    await never;
  };
  for (const answer of [() => never, () => Promise.resolve(hanging())]) {
    const model = new FakeLanguageModel(answer);
    const stop = new AbortController();
    const ended = drain(fakeProvider(model, logger).stream(hello, stop.signal));
    while (model.requests.length === 0) await new Promise(setImmediate);
    stop.abort();
    assert.equal((await ended).last.type, 'aborted');
    assert.equal(model.signals[0]?.aborted, true, 'the request itself is cancelled');
  }
  const stop = new AbortController();
  const model = new FakeLanguageModel([text('a'), text('b')]);
  const events: string[] = [];
  for await (const event of fakeProvider(model, logger).stream(hello, stop.signal)) {
    events.push(event.type);
    stop.abort();
  }
  assert.deepEqual(events, ['text', 'aborted']);
});

test('an error that the cancelled request ends with is no failure', async () => {
  const stop = new AbortController();
  const model = new FakeLanguageModel(async function (_request, signal) {
    const cancelled = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(new Error('Canceled'))),
    );
    return (async function* () {
      yield text('a');
      await cancelled;
    })();
  });
  const ended = drain(fakeProvider(model, logger).stream(hello, stop.signal));
  while (model.requests.length === 0) await new Promise(setImmediate);
  stop.abort();
  assert.equal((await ended).last.type, 'aborted');
  assert.deepEqual(logged, []);
});

test('leaving the stream early cancels the request', async () => {
  const model = new FakeLanguageModel([text('a'), text('b')]);
  for await (const event of fakeProvider(model, logger).stream(hello, new AbortController().signal)) {
    assert.equal(event.type, 'text');
    break;
  }
  assert.equal(model.signals[0]?.aborted, true);
});

test('tokens are counted by the model: each message once, the answer too', async () => {
  const model = new FakeLanguageModel([text('Hi')], [text('Again')]);
  const provider = fakeProvider(model, logger);
  const { signal } = new AbortController();
  const tools = [{ name: 'read', description: 'Reads.', parameters: {} }];
  const first = answerIn(await drain(provider.stream({ ...hello, tools }, signal)));
  // The system prompt, the prompt and the tool.
  assert.deepEqual(first.usage, { inputTokens: 30, outputTokens: 10 });
  const longer = [...hello.messages, { role: 'user', text: 'More' } as const];
  const second = answerIn(await drain(provider.stream({ ...hello, tools, messages: longer }, signal)));
  assert.deepEqual(second.usage, { inputTokens: 40, outputTokens: 10 });
  assert.equal(model.counted.length, 3 + 1 + 1 + 1, 'what was counted before is not counted again');
});

test('a model that cannot count, or not in time, answers without a count', async () => {
  const failing = new FakeLanguageModel([text('Hi')]);
  failing.countTokens = () => Promise.reject(new Error('no tokenizer'));
  assert.equal(answerIn(await run(failing)).usage, undefined);
  const slow = new FakeLanguageModel([text('Hi')]);
  slow.countTokens = () => new Promise<never>(() => undefined);
  assert.equal(answerIn(await run(slow, hello, { countMs: 1 })).usage, undefined);
});

test('a request that is too long is told with its size, as far as that is known', async () => {
  const tooLong = () => Promise.reject(new Error('Message exceeds token limit.'));
  const known = failureIn(await run(new FakeLanguageModel(tooLong)));
  assert.equal(known.message, 'tooLong: Message exceeds token limit. (20 of 1000)');
  const slow = new FakeLanguageModel(tooLong);
  slow.countTokens = () => new Promise<never>(() => undefined);
  const unknown = failureIn(await run(slow, hello, { countMs: 1 }));
  assert.equal(unknown.message, 'tooLong: Message exceeds token limit.');
  const server = () => Promise.reject(new Error('prompt token count of 900 exceeds the limit of 800'));
  assert.equal(failureIn(await run(new FakeLanguageModel(server))).contextWindow, 800);
});

const image = (file: string) =>
  ({ path: file, text: '', image: { file, type: 'image/png', bytes: 3 } }) as const;
const what = { role: 'user', text: 'What is this?', attachments: [image('a.png')] } as const;
const readImage = (file: string) =>
  Promise.resolve(file === 'gone.png' ? undefined : new Uint8Array([1, 2, 3]));

function seeing(...answers: ConstructorParameters<typeof FakeLanguageModel>): FakeLanguageModel {
  return Object.assign(new FakeLanguageModel(...answers), { takesImages: true });
}

/** The prompts of a request as they were sent: their parts, without the system prompt. */
const promptsOf = (model: FakeLanguageModel, n: number) =>
  model.requests[n]?.messages.slice(1).map(({ parts }) => parts);
const told = '[Image attached by the user: a.png]\n\nWhat is this?';
const toldUnseen = '[Image attached by the user: a.png] You cannot see it.\n\nWhat is this?';

test('an image goes to a model that takes images; its bytes are not counted as text', async () => {
  const model = seeing([text('A cat.')]);
  const { usage } = answerIn(await run(model, { ...hello, messages: [what] }, { readImage }));
  assert.deepEqual(promptsOf(model, 0), [
    [
      { type: 'text', text: told },
      { type: 'image', image: { type: 'image/png', data: new Uint8Array([1, 2, 3]) } },
    ],
  ]);
  assert.ok(!JSON.stringify(model.counted).includes('image/png'));
  assert.equal(usage?.inputTokens, 20);
});

test('an image that is gone is told of', async () => {
  const model = seeing([text('Nothing.')]);
  const messages = [{ ...what, attachments: [image('gone.png')] }];
  assert.equal((await run(model, { ...hello, messages }, { readImage })).last.type, 'done');
  assert.deepEqual(promptsOf(model, 0), [
    [{ type: 'text', text: '[Image attached by the user: gone.png] You cannot see it.\n\nWhat is this?' }],
  ]);
});

test('a model of which VS Code does not say that it takes images gets none, and is not asked about one', async () => {
  const model = new FakeLanguageModel([text('Fine.')]);
  const refused = failureIn(await run(model, { ...hello, messages: [what] }, { readImage }));
  assert.deepEqual([refused.code, refused.message.split(':')[0]], ['noImages', 'noImages']);
  assert.equal(model.requests.length, 0);
  const later = [what, { role: 'user', text: 'Never mind.' } as const];
  assert.equal((await run(model, { ...hello, messages: later }, { readImage })).last.type, 'done');
  assert.deepEqual(promptsOf(model, 0)?.[0], [{ type: 'text', text: toldUnseen }]);
});

for (const [how, refusal] of [
  ['at once', () => Promise.reject(new Error('this model does not support image input'))],
  ['in its stream', [new Error('this model does not support image input')]],
] as const satisfies [string, FakeAnswer][]) {
  test(`a model that refuses images ${how} is not sent them again, and the conversation goes on`, async () => {
    const model = seeing(refusal, [text('Fine.')]);
    const provider = fakeProvider(model, logger, { readImage });
    const ask = (...messages: ChatRequest['messages']) =>
      drain(provider.stream({ ...hello, messages }, new AbortController().signal));
    for (let turn = 0; turn < 2; turn++) assert.equal(failureIn(await ask(what)).code, 'noImages');
    assert.equal(model.requests.length, 1);
    assert.equal((await ask(what, { role: 'user', text: 'Never mind.' })).last.type, 'done');
    assert.deepEqual(promptsOf(model, 1)?.[0], [{ type: 'text', text: toldUnseen }]);
  });

  test(`a model that refuses the image of an older prompt ${how} is asked without it`, async () => {
    const model = seeing(refusal, [text('Fine.')]);
    const messages = [what, { role: 'user', text: 'Never mind.' } as const];
    assert.equal(answerIn(await run(model, { ...hello, messages }, { readImage })).text, 'Fine.');
    assert.deepEqual(promptsOf(model, 1)?.[0], [{ type: 'text', text: toldUnseen }]);
  });
}

test('an image that VS Code cannot decode is told of and not sent again; others are sent', async () => {
  // What VS Code throws is no Error.
  const event = { isTrusted: true } as unknown as Error;
  const undecodable = () => Promise.reject(event);
  const model = seeing(undecodable, [text('Fine.')], [text('A cat.')]);
  const provider = fakeProvider(model, logger, { readImage });
  const ask = (...messages: ChatRequest['messages']) =>
    drain(provider.stream({ ...hello, messages }, new AbortController().signal));
  for (let turn = 0; turn < 2; turn++) assert.equal(failureIn(await ask(what)).code, 'noImages');
  assert.equal((await ask(what, { role: 'user', text: 'Never mind.' })).last.type, 'done');
  assert.deepEqual(promptsOf(model, 1)?.[0], [{ type: 'text', text: toldUnseen }]);
  const other = { ...what, attachments: [image('b.png')] };
  assert.equal((await ask(what, other)).last.type, 'done');
  assert.deepEqual(
    promptsOf(model, 2)?.map(parts => parts.length),
    [1, 2],
  );
});

test('an image that Copilot refuses once there are many of them is left out of the requests after it', async () => {
  // https://github.com/microsoft/vscode/issues/297841
  const refused = new Error(
    'Request Failed: 400 {"error":{"message":"messages.38.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels","code":"invalid_request_body"}}',
  );
  const model = seeing(() => Promise.reject(refused), [text('A dog.')], [text('Fine.')]);
  const provider = fakeProvider(model, logger, { readImage });
  const messages = [what, { ...what, attachments: [image('b.png')] }];
  const ask = (more: ChatRequest['messages'] = []) =>
    drain(provider.stream({ ...hello, messages: [...messages, ...more] }, new AbortController().signal));
  assert.equal(answerIn(await ask()).text, 'A dog.');
  assert.equal(answerIn(await ask([{ role: 'user', text: 'Thanks.' }])).text, 'Fine.');
  const sizes = [0, 1, 2].map(n => promptsOf(model, n)?.map(parts => parts.length));
  assert.deepEqual(sizes, [
    [2, 2],
    [1, 2],
    [1, 2, 1],
  ]);
});

test('other errors about an image, and what breaks a begun answer, are told as they are', async () => {
  for (const answer of [
    [new Error('Could not process image')],
    [text('A'), new Error('this model does not support image input')],
  ]) {
    const model = seeing(answer);
    const failure = failureIn(await run(model, { ...hello, messages: [what] }, { readImage }));
    assert.equal(failure.code, 'server');
    assert.equal(model.requests.length, 1);
  }
});
