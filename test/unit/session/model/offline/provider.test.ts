import { test } from 'node:test';
import assert from 'node:assert/strict';
import { fill, type Localiser } from '../../../../../src/agent/base/localiser.ts';
import type {
  ChatRequest,
  ProviderAnswer,
  ProviderEvent,
} from '../../../../../src/agent/session/model/chatProvider.ts';
import type { SessionMessage, ToolResultMessage } from '../../../../../src/agent/session/model/messages.ts';
import { answerTo as answerIn } from '../../../../../src/agent/session/model/offline/answers.ts';
import { createOfflineProvider } from '../../../../../src/agent/session/model/offline/provider.ts';

const provider = createOfflineProvider();

async function eventsFor(
  request: Partial<ChatRequest>,
  signal = new AbortController().signal,
): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  for await (const event of provider.stream({ system: '', messages: [], tools: [], ...request }, signal))
    events.push(event);
  return events;
}

async function answerTo(
  messages: SessionMessage[],
  request: Partial<ChatRequest> = {},
): Promise<ProviderAnswer> {
  const last = (await eventsFor({ ...request, messages })).at(-1);
  assert.ok(last?.type === 'done');
  return last.answer;
}

const user = (text: string): SessionMessage => ({ role: 'user', text });
const called = (id: string): SessionMessage => ({
  role: 'assistant',
  text: '',
  toolCalls: [{ id, name: 'edit_file', arguments: '{}' }],
  stopReason: 'toolCalls',
});
const result = (toolCallId: string, content: string, isError = false): ToolResultMessage => ({
  role: 'tool',
  toolCallId,
  toolName: 'edit_file',
  content,
  isError,
});
const outcome: SessionMessage = {
  role: 'steering',
  kind: 'outcome',
  text: 'The user applied p1.',
  previewIds: ['p1'],
};

test('a slash command becomes a tool call', async () => {
  const answer = await answerTo([user('/edit a.ts :: x => y')]);
  assert.equal(answer.stopReason, 'toolCalls');
  const [call] = answer.toolCalls;
  assert.equal(call?.name, 'edit_file');
  assert.deepEqual(JSON.parse(call.arguments), { path: 'a.ts', edits: [{ old: 'x', new: 'y' }] });
});

test('call ids are unique within a conversation', async () => {
  const first = await answerTo([user('/write a :: b')]);
  const second = await answerTo([
    user('/write a :: b'),
    called('offline_1'),
    result('offline_1', 'ok'),
    user('/write a :: c'),
  ]);
  assert.notEqual(first.toolCalls[0]?.id, second.toolCalls[0]?.id);
});

test('a forced resolve is answered with apply, whatever the prompt was', async () => {
  const forced = { toolChoice: { type: 'tool', name: 'resolve' } } as const;
  const { toolCalls } = await answerTo(
    [user('/edit a :: b => c'), called('1'), result('1', 'Staged')],
    forced,
  );
  assert.equal(toolCalls[0]?.name, 'resolve');
  assert.deepEqual(JSON.parse(toolCalls[0].arguments), {
    action: 'apply',
    reason: 'Exactly the change you asked for.',
  });
});

test('results are repeated, and failures are reported as such', async () => {
  const after = (content: string, isError: boolean) =>
    answerTo([user('/edit a :: b => c'), called('1'), result('1', content, isError)]);
  assert.equal((await after('Applied: it.', false)).text, 'Applied: it.');
  assert.equal((await after('no such file', true)).text, '`edit_file` failed: no such file');
  const missing = async (hint: string) => (await after(`old was not found in docs/a.md. ${hint}`, true)).text;
  assert.equal(
    await missing('Read the file again and copy the exact text.'),
    'Could not find that text in `docs/a.md`.',
  );
  assert.equal(
    await missing('The nearest lines are:\n3: one\nCopy the exact text, including whitespace.'),
    'Could not find that text in `docs/a.md`.\n\n```\n3: one\n```',
  );
});

test('a pending preview is recognized by the result’s own field, whatever the text says', async () => {
  const after = (result: SessionMessage) => answerTo([user('/edit a :: b => c'), called('1'), result]);
  const staged = 'Staged as p1, no file modified yet.';
  assert.equal(
    (await after({ ...result('1', 'Any text.'), pending: ['p1'] })).text,
    'The preview is ready: look at it, then decide.',
  );
  assert.equal((await after(result('1', staged))).text, staged);
  const two = [
    called('1'),
    { ...result('1', 'One.'), pending: ['p1'] },
    { ...result('2', 'Two.'), pending: ['p2'] },
  ];
  assert.equal(
    (await answerTo([user('/edit a :: b => c'), ...two])).text,
    'The preview is ready: look at it, then decide.',
  );
});

test('output of several lines is quoted, whatever it contains', async () => {
  const output = 'a\n```\n<b>\n';
  const called: SessionMessage = {
    role: 'assistant',
    text: '',
    toolCalls: [{ id: '1', name: 'read_file', arguments: '{}' }],
    stopReason: 'toolCalls',
  };
  const told = (content: string) =>
    answerTo([
      user('/call read_file {"path":"a"}'),
      called,
      { role: 'tool', toolCallId: '1', toolName: 'read_file', content, isError: false },
    ]);
  assert.equal((await told(output)).text, `\`\`\`\`\n${output}\n\`\`\`\``);
  assert.match(
    (await told(`x\n${'y'.repeat(3_000)}`)).text,
    /The rest \(1002 characters\) is shown with the call/,
  );
});

test('a vote that arrives as a prompt is not carried out by the provider', async () => {
  for (const prompt of ['/apply', '/discard p1', '/discard-all', '/tools']) {
    const { text, toolCalls } = await answerTo([user(prompt)]);
    assert.match(text, /in the Redline chat/);
    assert.deepEqual(toolCalls, []);
  }
});

test('a prompt that was answered before is not run again', async () => {
  const answered: SessionMessage = { role: 'assistant', text: 'ok', toolCalls: [], stopReason: 'stop' };
  const answer = await answerTo([user('/edit a :: b => c'), answered, outcome]);
  assert.deepEqual(answer.toolCalls, []);
  assert.equal(answer.text, 'You applied 1 change. What is next?');
});

test('a vote that the user has decided since is answered with the decision, not as one that waits', async () => {
  const voted = { ...result('1', 'Your recommendation for p1 is recorded.'), toolName: 'resolve' };
  const after = async (...pending: string[]) =>
    (await answerTo([user('/edit a :: b => c'), called('1'), { ...voted, pending }, outcome])).text;
  assert.equal(await after('p1'), 'You applied 1 change. What is next?');
  assert.equal(
    await after('p1', 'p2'),
    'The preview is ready: look at it, then decide.\n\nYou applied 1 change. What is next?',
  );
});

test('an outcome that is no decision of the user is not called one', async () => {
  const expired: SessionMessage = {
    role: 'steering',
    kind: 'outcome',
    previewIds: ['p1'],
    text: 'p1 (Run ls) has expired.',
  };
  assert.equal((await answerTo([user('/run ls'), called('1'), expired])).text, 'Understood. What is next?');
});

test('for anything else it answers what it is and what it can do', async () => {
  const { text, toolCalls } = await answerTo([user('Fix the bug.')]);
  assert.match(text, /not a language model/);
  assert.match(text, /\/edit <file>/);
  assert.deepEqual(toolCalls, []);
  assert.match((await answerTo([user('/edit nothing')])).text, /needs the form `\/edit/);
  assert.match((await answerTo([user('/help')])).text, /^The commands:/);
});

test('the text arrives as in the answer, and nothing follows the end', async () => {
  const events = await eventsFor({ messages: [user('/help')] });
  const last = events.at(-1);
  assert.ok(last?.type === 'done');
  assert.equal(
    events.flatMap(event => (event.type === 'text' ? [event.delta] : [])).join(''),
    last.answer.text,
  );
  assert.equal(events.filter(event => event.type === 'done').length, 1);
});

test('everything that it says is in the language of the user', () => {
  const marked: Localiser = {
    t: (text, ...args) => (text === 'en' ? 'en' : fill(text.replaceAll(/(^|\|)/g, '$1«'), ...args)),
  };
  const long = result('1', `x\n${'y'.repeat(3_000)}`);
  const conversations: SessionMessage[][] = [
    [user('Hello')],
    [user('/help')],
    [user('/edit nothing')],
    [user('/tools')],
    [outcome],
    [called('1'), { ...result('1', ''), pending: ['p1'] }],
    [called('1'), result('1', 'no such file', true)],
    [called('1'), result('1', 'old was not found in a.md. The nearest lines are:\n3: one\nCopy.', true)],
    [called('1'), long],
    [],
  ];
  const answers = conversations.map(messages => answerIn({ system: '', messages, tools: [] }, marked).text);
  const sentences = answers.flatMap(text => text.replaceAll(/(`{3,})[^]*?\1/g, '').split('\n\n'));
  const unmarked = sentences
    .flatMap(text => text.split('\n'))
    .filter(line => line.trim() !== '' && !/^(?:- `[^`]*`: )?«/.test(line));
  assert.deepEqual(unmarked, []);
  assert.equal(createOfflineProvider(marked).label, '«Offline');
});

test('an aborted request is aborted', async () => {
  assert.deepEqual(await eventsFor({ messages: [user('/help')] }, AbortSignal.abort()), [
    { type: 'aborted' },
  ]);
});

test('of joined news, only what the user decided is called their decision', async () => {
  const news: SessionMessage = {
    role: 'steering',
    kind: 'outcome',
    text: "The user discarded p1 (Edit a). This is the user's decision, not a failure.\np2 (Edit b) was updated, since p1 was discarded.",
    previewIds: ['p1', 'p2'],
  };
  const said: SessionMessage = { role: 'assistant', text: 'Ready.', toolCalls: [], stopReason: 'stop' };
  const { text } = await answerTo([user('/edit a :: b => c'), called('1'), result('1', 'x'), said, news]);
  assert.equal(text, 'You discarded 1 change. What is next?');
});

test('a refusal with a reason is answered with that reason', async () => {
  const refused: SessionMessage = {
    role: 'steering',
    kind: 'outcome',
    text: 'The user discarded p1 (Edit a). This is the user\'s decision, not a failure. Reason: "Keep\n it."',
    previewIds: ['p1'],
  };
  const said: SessionMessage = { role: 'assistant', text: 'Ready.', toolCalls: [], stopReason: 'stop' };
  const { text } = await answerTo([user('/edit a :: b => c'), called('1'), result('1', 'x'), said, refused]);
  assert.equal(text, 'You discarded 1 change. Understood: “Keep it”. What is next?');
});
