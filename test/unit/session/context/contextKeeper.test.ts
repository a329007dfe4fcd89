import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatProvider, ChatRequest } from '../../../../src/agent/session/model/chatProvider.ts';
import { tokensOfRequest } from '../../../../src/agent/session/model/contextWindow.ts';
import type { SteeringMessage } from '../../../../src/agent/session/model/messages.ts';
import type { ContextUse } from '../../../../src/agent/session/context/contextKeeper.ts';
import { modify } from '../../../support/chatFixtures.ts';
import {
  createScriptedProvider,
  type Script,
  type ScriptedProvider,
} from '../../../support/scriptedProvider.ts';
import {
  createTestSession,
  type TestSession,
  type TestSessionOptions,
} from '../../../support/testSession.ts';

const LONG = 'Please look at it once more and tell me what you see. '.repeat(40);

interface World {
  readonly t: TestSession;
  readonly model: ScriptedProvider;
}

/** A session whose model has this window; `undefined` if it does not tell. */
function world(script: Script, window: number | undefined, options: TestSessionOptions = {}): World {
  const model = createScriptedProvider(script);
  const provider: ChatProvider = { ...model, contextWindow: () => Promise.resolve(window) };
  return { t: createTestSession({ ...options, provider }), model };
}

const isForSummary = ({ tools }: ChatRequest): boolean => tools.length === 0;

function summaries({ t }: World): readonly SteeringMessage[] {
  return t.steering().filter(({ kind }) => kind === 'summary');
}

async function talk({ t }: World, prompts: number): Promise<void> {
  for (let n = 0; n < prompts; n++) await t.session.prompt(`Prompt ${n}. ${LONG}`);
}

test('a summary is made by one request without tools, before the request that would not fit', async () => {
  const w = world(request => ({ text: isForSummary(request) ? 'They talked.' : 'Fine.' }), 8_192);
  await talk(w, 12);
  const [first] = summaries(w);
  assert.ok(first?.text.includes('They talked.'));
  const asked = w.model.requests.find(isForSummary);
  assert.equal(asked?.toolChoice, undefined);
  assert.equal(asked?.messages.length, 1);
  for (const request of w.model.requests) assert.ok(tokensOfRequest(request) <= 8_192);
  assert.equal(w.model.requests.filter(isForSummary).length, summaries(w).length);
  assert.deepEqual(w.model.violations, []);
  assert.ok(w.t.events.some(({ type }) => type === 'summarizing'));
});

test('with a window of 128,000 tokens, which is assumed, nothing of this happens', async () => {
  const w = world(() => ({ text: 'Fine.' }), undefined);
  await talk(w, 12);
  assert.deepEqual(summaries(w), []);
  assert.equal(w.model.requests.length, 12);
  const { window, isWindowKnown } = w.t.session.contextUse ?? {};
  assert.deepEqual([window, isWindowKnown], [128_000, false]);
});

test('a summary that fails is replaced by a list of what happened, and the prompt is answered', async () => {
  const w = world(
    request => (isForSummary(request) ? { error: { message: 'No.' } } : { text: 'Fine.' }),
    8_192,
  );
  await talk(w, 12);
  const [first] = summaries(w);
  assert.match(first?.text ?? '', /User: Prompt \d+\. Please look/);
  assert.equal(w.t.answers().filter(({ text }) => text === 'Fine.').length, 12);
  assert.deepEqual(w.model.violations, []);
});

test('pending previews are named in the summary, and those that are resolved are not', async () => {
  const w = world(request => ({ text: isForSummary(request) ? 'They talked.' : 'Fine.' }), 8_192, {
    settings: { modelAuthority: 'none' },
    files: { 'a.ts': 'a' },
  });
  await talk(w, 1);
  const kept = w.t.stage({ label: 'Keep me', changes: [modify('a.ts', 'a', 'b')] });
  const gone = w.t.stage({ label: 'Gone', changes: [modify('a.ts', 'b', 'c')] });
  await w.t.click(gone.id, 'discard');
  await talk(w, 12);
  const [summary] = summaries(w);
  assert.match(
    summary?.text ?? '',
    /\[Previews that wait for a decision: p1 \(Keep me\) in a\.ts\. read_file shows/,
  );
  assert.deepEqual(summary?.previewIds, [kept.id]);
});

test('Stop while a summary is made leaves the conversation without one, and valid', async () => {
  let isStopped = false;
  const w = world(request => {
    if (!isForSummary(request)) return { text: 'Fine.' };
    isStopped = true;
    w.t.session.stop();
    return { hang: true };
  }, 8_192);
  for (let n = 0; n < 12 && !isStopped; n++) await w.t.session.prompt(`Prompt ${n}. ${LONG}`);
  assert.equal(isStopped, true);
  assert.deepEqual(summaries(w), []);
  assert.equal(w.t.answers().at(-1)?.stopReason, 'aborted');
  w.t.assertSound();
});

const tooLong = (contextWindow?: number) => ({
  error: {
    code: 'contextLength' as const,
    message: 'It is too long.',
    ...(contextWindow === undefined ? {} : { contextWindow }),
  },
});

for (const told of [8_192, undefined])
  test(`a refusal as too long that ${told ? 'tells' : 'does not tell'} the window makes the request shorter once`, async () => {
    const limit = 8_192;
    const w = world(request => {
      if (isForSummary(request)) return { text: 'They talked.' };
      return tokensOfRequest(request) > limit ? tooLong(told) : { text: 'Fine.' };
    }, undefined);
    await talk(w, 30);
    assert.equal(w.t.answers().filter(({ text }) => text === 'Fine.').length, 30, 'every prompt is answered');
    assert.deepEqual(
      w.t.answers().filter(({ stopReason }) => stopReason === 'error'),
      [],
    );
    assert.ok(summaries(w).length > 0);
    if (told) assert.equal(w.t.session.contextUse?.window, told);
    const refused = w.model.requests.filter(request => tokensOfRequest(request) > limit);
    assert.ok(refused.length >= 1 && refused.length <= 2, `refused: ${refused.length}`);
    assert.deepEqual(w.model.violations, []);
  });

test('a request that is too long twice is reported, and the next prompt is sent again', async () => {
  let refuses = false;
  const w = world(
    request =>
      isForSummary(request) ? { text: 'They talked.' } : refuses ? tooLong(8_192) : { text: 'Fine.' },
    undefined,
  );
  await talk(w, 12);
  refuses = true;
  const before = w.model.requests.length;
  await w.t.session.prompt('One more.');
  const sent = w.model.requests.slice(before).filter(request => !isForSummary(request));
  assert.equal(sent.length, 2);
  const last = w.t.answers().at(-1);
  assert.deepEqual(
    [last?.stopReason, last?.error, last?.errorCode],
    ['error', 'It is too long.', 'contextLength'],
  );
  refuses = false;
  await w.t.session.prompt('And now?');
  assert.equal(w.t.answers().at(-1)?.text, 'Fine.');
});

test('a refusal of a conversation that cannot get shorter is reported at once', async () => {
  const w = world(() => tooLong(8_192), undefined);
  await w.t.session.prompt('Hi');
  assert.equal(w.model.requests.length, 1);
  assert.equal(w.t.answers().at(-1)?.errorCode, 'contextLength');
});

test('the use is counted by the server, and an estimate after a summary', async () => {
  const w = world(
    request => ({
      text: isForSummary(request) ? 'They talked.' : 'Fine.',
      usage: { inputTokens: 2_000, outputTokens: 5 },
    }),
    8_192,
  );
  const use = (): ContextUse | undefined => w.t.session.contextUse;
  assert.equal(use(), undefined, 'the window was not asked for yet');
  await talk(w, 1);
  assert.deepEqual(use(), {
    tokens: 2_005,
    window: 8_192,
    isCounted: true,
    isWindowKnown: true,
  });
  const counted: (boolean | undefined)[] = [];
  w.t.session.onDidEmit(event => {
    if (event.type === 'message_end' && event.message.role === 'steering') counted.push(use()?.isCounted);
  });
  await talk(w, 12);
  assert.equal(counted[0], false);
  assert.equal(use()?.isCounted, true);
});

test('if the server counts more than was estimated, room is made earlier', async () => {
  const sizes = async (factor: number): Promise<number> => {
    const w = world(
      request => ({
        text: isForSummary(request) ? 'They talked.' : 'Fine.',
        usage: { inputTokens: Math.ceil(tokensOfRequest(request) * factor), outputTokens: 5 },
      }),
      8_192,
    );
    await talk(w, 14);
    return Math.max(...w.model.requests.filter(request => !isForSummary(request)).map(tokensOfRequest));
  };
  const usual = await sizes(1);
  const raised = await sizes(1.5);
  assert.ok(raised < usual && raised * 1.5 <= 8_192, `${raised} instead of ${usual}`);
});

test('what the session says that it sends is what it sends, also to a provider that is no model', async () => {
  const w = world(request => ({ text: isForSummary(request) ? 'They talked.' : 'Fine.' }), 8_192);
  await talk(w, 12);
  const last = w.model.requests.at(-1)?.messages ?? [];
  assert.deepEqual(w.t.session.sentMessages.slice(0, last.length), last);
  const offline = createTestSession({
    sessionLog: w.t.sessionLog,
    provider: { ...createScriptedProvider([]), isVerbatim: true },
  });
  const sent = offline.session.sentMessages;
  assert.equal(sent.filter(({ role }) => role === 'user').length, 12, 'it gets the whole trunk');
  assert.equal(
    sent.some(message => message.role === 'steering'),
    false,
  );
  assert.equal(offline.session.contextUse, undefined);
});
