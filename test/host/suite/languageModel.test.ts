import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { silentLogger } from '../../../src/agent/base/logger.ts';
import type { AssistantMessage, SessionMessage } from '../../../src/agent/session/model/messages.ts';
import type { RedlineApi } from '../../../src/views/api.ts';
import type { ApiKeys } from '../../../src/views/chat/models/apiKeys.ts';
import { Providers } from '../../../src/views/chat/models/providers.ts';
import type { Settings } from '../../../src/views/settings.ts';
import { SCRIPTED_MODEL, useVendor, type VendorRequest } from '../support/modelVendor.ts';
import { activateRedline, bytesOf, cleanUp, givenFile, setting, until } from '../support/redline.ts';

const OLD = 'const answer = 41;\n';
const NEW = 'const answer = 42;\n';
/** A PNG of one pixel. */
const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const edit = {
  name: 'edit_file',
  input: { path: 'model.ts', edits: [{ old: 'answer = 41', new: 'answer = 42' }] },
};
const recommend = { name: 'resolve', input: { action: 'apply', reason: 'It is the answer.' } };

suite('a language model of VS Code', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  /** Every message of the test so far, also those that no model is sent. */
  let messages: SessionMessage[];
  let listening: vscode.Disposable;

  setup(async () => {
    messages = [];
    listening = api.session.onDidEmit(event => event.type === 'message_end' && messages.push(event.message));
    await givenFile('model.ts', OLD);
  });

  teardown(() => {
    listening.dispose();
    return cleanUp(api);
  });

  const text = async (): Promise<string> => (await bytesOf('model.ts')).toString();
  const idle = (): Promise<true> =>
    until(
      api.session.onDidEmit,
      () => (api.session.state === 'idle' ? true : undefined),
      'the session to rest',
    );
  const lastAnswer = (): AssistantMessage => {
    return messages.findLast(each => each.role === 'assistant') ?? assert.fail('the model has answered');
  };
  const saying = (words: string) => (message: SessionMessage) =>
    message.role === 'assistant' && message.text === words;
  const said = (request: VendorRequest | undefined): string => JSON.stringify(request?.messages ?? []);

  test('the core story, forced by Required alone: held back, recommended, applied by a click, and told', async () => {
    const onDisk: string[] = [];
    const answers = [
      { text: 'Let me see.', calls: [edit] },
      { calls: [recommend] },
      { text: 'Your turn.' },
      { text: 'Good.' },
    ];
    const vendor = await useVendor(async (_request, n) => {
      onDisk.push(await text());
      return answers[n] ?? assert.fail(`request ${n}`);
    });
    await api.session.prompt('Correct the answer.');

    const [first, forced, free] = vendor.requests;
    assert.equal(first?.required, false);
    assert.ok(first.tools.includes('edit_file') && first.tools.includes('resolve'));
    assert.deepEqual(
      first.messages.map(({ role }) => role),
      ['user', 'user'],
      'the system prompt is a message of the user',
    );
    assert.match(first.messages[0]?.parts[0]?.text ?? '', /^You are Redline/);
    assert.deepEqual(first.messages[1]?.parts, [{ text: 'Correct the answer.' }]);
    assert.deepEqual([forced?.tools, forced?.required], [['resolve'], true]);
    assert.match(forced?.messages.at(-1)?.parts[0]?.text ?? '', /^<system-reminder>/);
    assert.deepEqual(
      forced?.messages.at(-3)?.parts.map(part => part.text ?? part.name),
      ['Let me see.', 'edit_file'],
    );
    assert.equal(free?.required, false, 'forced once');

    const preview = api.previews.peek() ?? assert.fail('a preview is pending');
    assert.equal(preview.recommendation?.reason, 'It is the answer.');
    assert.equal(api.session.state, 'awaitingReview');
    await vscode.commands.executeCommand('redline.preview.apply', preview.id, undefined, preview.revision);
    await idle();
    assert.equal(await text(), NEW);
    assert.deepEqual(onDisk, [OLD, OLD, OLD, NEW]);
    assert.match(said(vendor.requests[3]), new RegExp(`The user applied ${preview.id}`));
    assert.equal(lastAnswer().text, 'Good.');
    assert.deepEqual(lastAnswer().usage?.outputTokens, 7, 'tokens are counted by the model');
  });

  test('a model that refuses Required is asked by the reminder alone, at once and from then on', async () => {
    const refusal = new Error('LanguageModelChatToolMode.Required is not supported by this model');
    const vendor = await useVendor(({ required, messages }) => {
      if (required) return { error: refusal };
      return messages.length === 2 ? { calls: [edit] } : { text: 'Not now.' };
    });
    await api.session.prompt('Correct the answer.');
    const modes = vendor.requests.map(
      ({ required, tools }) => `${required ? 'required' : 'auto'} ${tools.length > 1}`,
    );
    assert.deepEqual(modes.slice(0, 3), ['auto true', 'required false', 'auto true']);
    assert.ok(!modes.slice(3).some(mode => mode.startsWith('required')), modes.join());
    assert.ok(!messages.some(each => each.role === 'assistant' && each.error !== undefined));
  });

  test('an image arrives with its bytes and type at a model that takes images', async () => {
    const vendor = await useVendor([{ text: 'A dot.' }]);
    // VS Code decodes images before it sends them, so that only a real one arrives.
    const bytes = Buffer.from(DOT, 'base64');
    const settings = { provider: 'vscode-lm', languageModel: SCRIPTED_MODEL } as Settings;
    const read = () => Promise.resolve(bytes);
    const provider = new Providers(settings, {} as ApiKeys, silentLogger, read).current();
    const image = { file: 'a.png', type: 'image/png', bytes: bytes.length } as const;
    const messages = [
      { role: 'user', text: 'What is this?', attachments: [{ path: 'a.png', text: '', image }] },
    ] as const;
    const request = { system: '', messages, tools: [] };
    const events = [];
    for await (const event of provider.stream(request, new AbortController().signal)) events.push(event);
    assert.equal(events.at(-1)?.type, 'done', JSON.stringify(events));
    assert.deepEqual(vendor.requests[0]?.messages[0]?.parts, [
      { text: '[Image attached by the user: a.png]\n\nWhat is this?' },
      { image: 'image/png', base64: DOT },
    ]);
  });

  const { LanguageModelError } = vscode;
  const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
  for (const [what, error, code, sentence] of [
    [
      'NoPermissions',
      LanguageModelError.NoPermissions('no plan'),
      'forbidden',
      /may not use .*did not allow.*no plan/,
    ],
    [
      'Blocked',
      LanguageModelError.Blocked('too fast'),
      'rateLimited',
      /is not accepting requests .*later.*too fast/,
    ],
    [
      'NotFound',
      LanguageModelError.NotFound('gone'),
      'notFound',
      /does not offer the model .*choose another/,
    ],
    ['a used-up quota', named('ChatQuotaExceeded', 'July'), 'rateLimited', /no requests left .*July/],
    ['a rate limit', named('ChatRateLimited', 'wait'), 'rateLimited', /limiting requests.*wait/],
    ['an off-topic request', new Error('off_topic'), 'badRequest', /unrelated to programming/],
    ['a content filter', new Error('content_filter'), 'badRequest', /content filter/],
    [
      'a request that is too long',
      new Error('Message exceeds token limit.'),
      'contextLength',
      /too long .*of at most 10000/,
    ],
    [
      'too many tools',
      new Error('Cannot have more than 128 tools per request.'),
      'badRequest',
      /more tools than/,
    ],
    ['any other error', new Error('Boom'), 'server', /did not answer\. It said: “Boom”/],
  ] as const)
    test(`${what} becomes a plain sentence`, async () => {
      await useVendor([{ error }]);
      await api.session.prompt('Hello');
      const { stopReason, errorCode, error: told = '' } = lastAnswer();
      assert.deepEqual([stopReason, errorCode], ['error', code], told);
      assert.match(told, sentence);
      assert.ok(told.includes(SCRIPTED_MODEL), told);
    });

  test('an answer that breaks midway keeps its text, and none of its calls runs', async () => {
    const after = new Promise<void>(resolve => {
      const subscription = api.session.onDidEmit(({ type }) => {
        if (type !== 'message_update') return;
        subscription.dispose();
        resolve();
      });
    });
    await useVendor([{ text: 'Half an answer', calls: [edit], after, error: new Error('connection lost') }]);
    await api.session.prompt('Correct the answer.');
    const { text: kept, toolCalls, stopReason } = lastAnswer();
    assert.ok(kept !== '' && 'Half an answer'.startsWith(kept), kept);
    assert.deepEqual([toolCalls, stopReason], [[], 'error']);
    assert.equal(api.previews.hasPending, false);
  });

  test('Stop ends the turn at once and cancels the request', async () => {
    const vendor = await useVendor([{ text: 'Thinking', hang: true }]);
    const ended = api.session.prompt('Hello');
    await until(
      api.session.onDidEmit,
      () => (vendor.requests.length === 1 ? true : undefined),
      'the model to be asked',
    );
    await vscode.commands.executeCommand('redline.session.stop');
    await ended;
    assert.equal(lastAnswer().stopReason, 'aborted');
    await vendor.requests[0]?.cancelled;
  });

  test('a model that VS Code does not offer is named, and so is a missing choice', async () => {
    const vendor = await useVendor([]);
    // Redline's own entry would ask Redline again.
    for (const name of ['redline-test/none', 'nobody/none', 'nonsense', '/', 'redline/participant']) {
      await setting('vscodeLm.model', name);
      await api.session.prompt('Hello');
      assert.equal(lastAnswer().errorCode, 'notFound', name);
    }
    await setting('vscodeLm.model', '');
    await api.session.prompt('Hello');
    assert.equal(lastAnswer().errorCode, 'noModel');
    assert.equal(vendor.requests.length, 0);
  });

  test('Redline’s own entry in VS Code’s list of models tells how to ask', async () => {
    const [listed] = await vscode.lm.selectChatModels({ vendor: 'redline' });
    const entry = listed ?? assert.fail('listed');
    const { text: answer } = await entry.sendRequest([vscode.LanguageModelChatMessage.User('Hello')]);
    let told = '';
    for await (const piece of answer) told += piece;
    assert.match(told, /Begin your message with @redline/);
    assert.ok((await entry.countTokens('four')) > 0);
  });

  test('@redline in VS Code’s own chat: the same session stages, applies, discards and plans', async () => {
    const vendor = await useVendor([
      { calls: [edit] },
      { calls: [recommend] },
      { text: 'Your turn.' },
      { text: 'Good.' },
      { calls: [{ name: 'read_file', input: { path: 'model.ts' } }] },
      { text: 'No plan yet.' },
    ]);
    const ask = (query: string): Thenable<unknown> =>
      vscode.commands.executeCommand('workbench.action.chat.open', { query });
    const answered = (found: () => boolean, what: string): Promise<true> =>
      until(api.session.onDidEmit, () => (found() ? true : undefined), what);

    await ask('@redline Correct the answer.');
    await answered(() => api.session.state === 'awaitingReview', 'the preview');
    assert.match(said(vendor.requests[0]), /Correct the answer\./);
    const { id } = api.previews.peek() ?? assert.fail('staged');
    await ask(`@redline /apply ${id}`);
    await answered(() => messages.some(saying('Good.')), 'the model to be told');
    assert.equal(await text(), NEW);
    assert.equal(api.previews.ledger().at(-1)?.actor, 'human');

    await ask('@redline /plan Make it 43.');
    await answered(() => messages.some(saying('No plan yet.')), 'the plan');
    assert.match(said(vendor.requests[4]), /Plan mode is on: /);
    await ask('@redline /edit model.ts :: answer = 42 => answer = 43');
    await answered(
      () => messages.some(each => each.role === 'user' && each.text.startsWith('/edit')),
      'the command',
    );
    await ask('@redline /discard-all');
    await answered(
      () => messages.some(each => each.role === 'local' && each.text === '/discard-all'),
      'the answer to /discard-all',
    );
    assert.equal(api.previews.hasPending, false);
    assert.equal(await text(), NEW);
  });
});
