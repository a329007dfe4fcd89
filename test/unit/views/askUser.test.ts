import { test } from 'node:test';
import assert from 'node:assert/strict';
import { askUserTool } from '../../../src/agent/session/tools/askUser.ts';
import type { Session } from '../../../src/agent/session/session.ts';
import { askUser } from '../../../src/views/askUser.ts';
import { Questions, type Question } from '../../../src/views/questions.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';

const asking = (question = 'Which database?') => ({
  name: 'ask_user',
  arguments: { question, choices: ['SQLite', 'Postgres'] },
});

/** A model that asks, then says that it is done. */
function setUp(calls = [asking()], more: Parameters<typeof createTestSession>[0] = {}) {
  const questions = new Questions();
  const t: TestSession = createTestSession({
    script: [{ toolCalls: calls }, { text: 'Done.' }, { text: 'More.' }],
    tools: [askUserTool((...asked) => askUser({ questions, session: t.session }, ...asked))],
    ...more,
  });
  const contents = (): readonly string[] => t.results().map(({ content }) => content);
  return { ...t, questions, contents };
}

/** The question, once it is open. */
function opened(questions: Questions): Promise<Question> {
  return new Promise(resolve => {
    const look = (): void => {
      if (!questions.open) return;
      following.dispose();
      resolve(questions.open);
    };
    const following = questions.onDidChange(look);
    look();
  });
}

const ends: readonly (readonly [
  what: string,
  end: (question: Question, t: { readonly questions: Questions; readonly session: Session }) => unknown,
  result: string,
])[] = [
  ['a choice', ({ id }, { questions }) => questions.answer(id, 'Postgres'), 'The user chose "Postgres".'],
  [
    'another answer',
    ({ id }, { questions }) => questions.answer(id, 'Neither: a file.'),
    'The user answered: "Neither: a file."',
  ],
  ['Stop', (_, { session }) => session.stop(), 'Interrupted by the user while it ran.'],
  [
    'a newer prompt',
    (_, { session }) => void session.prompt('Something else.'),
    'The user has not answered, but sent a prompt, which you get when your turn ends. End your turn now.',
  ],
  [
    'a place that cannot show it',
    ({ id }, { questions }) => questions.answer(id),
    'Questions with choices cannot be shown where the user is. End your turn with the question as your closing words: the next prompt is the answer.',
  ],
];

for (const [what, end, result] of ends)
  test(`${what} ends a question, and its result says so`, async () => {
    const t = setUp();
    const turn = t.session.prompt('Store it.');
    const question = await opened(t.questions);
    assert.deepEqual(question.about === 'choice' && [question.text, question.choices], [
      'Which database?',
      ['SQLite', 'Postgres'],
    ]);
    end(question, t);
    assert.equal(t.questions.open, undefined);
    await turn;
    assert.deepEqual(t.contents(), [result]);
    t.questions.answer(question.id, 'too late');
    assert.deepEqual(t.errors, []);
    t.assertSound();
  });

test('a stopped question is not taken for one that cannot be shown', async () => {
  const t = setUp();
  const stop = new AbortController();
  const asked = askUser(t, 'Which?', ['a', 'b'], stop.signal);
  await opened(t.questions);
  stop.abort();
  await assert.rejects(asked, { name: 'AbortError' });
});

test('another conversation ends it; a prompt that waited already does not', async () => {
  const t = setUp([asking(), asking('Which table?')]);
  const turn = t.session.prompt('Store it.');
  void t.session.prompt('Then test it.');
  const { id } = await opened(t.questions);
  const first = t.nextEvent(({ type }) => type === 'tool_end');
  t.questions.answer(id, 'SQLite');
  await first;
  const second = await opened(t.questions);
  assert.equal(second.about === 'choice' && second.text, 'Which table?');
  const left = t.session.id;
  await t.session.new();
  await turn;
  assert.equal(t.questions.open, undefined);
  assert.notEqual(t.session.id, left);
  const results = (t.sessionLog.stored(left)?.tree.messages ?? []).flatMap(message =>
    message.role === 'tool' ? [message.content] : [],
  );
  assert.deepEqual(results, ['The user chose "SQLite".', 'Interrupted by the user while it ran.']);
});

test('after a reload, the model reads that the answer is not known', async () => {
  const before = setUp();
  void before.session.prompt('Store it.');
  await opened(before.questions);
  const after = setUp([], { sessionLog: before.sessionLog.copy() });
  assert.deepEqual(after.contents(), [
    "Interrupted: the user's answer is not known. Ask again if you still need it.",
  ]);
  assert.equal(after.questions.open, undefined);
});

test('a question with fewer than two choices is refused', async () => {
  const t = setUp([{ name: 'ask_user', arguments: { question: 'Go on?', choices: ['Yes'] } }]);
  await t.session.prompt('Store it.');
  assert.match(t.contents()[0] ?? '', /^Invalid arguments for ask_user\. choices: .*>=2/);
});
