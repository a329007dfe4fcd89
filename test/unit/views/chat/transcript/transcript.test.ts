import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INTERRUPTED } from '../../../../../src/agent/session/conversation/validTrunk.ts';
import { reviewMessage } from '../../../../../src/agent/hold/preview/reviewTexts.ts';
import type { SessionMessage } from '../../../../../src/agent/session/model/messages.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import { hostMessage } from '../../../../../src/views/chat/protocol.ts';
import {
  answered,
  asked,
  attempt,
  call,
  modify,
  only,
  preview,
  result,
  transcript,
} from '../../../../support/chatFixtures.ts';

const edit = call('c1', 'edit_file', { path: 'a.ts', edits: [] });

test('a question about a host stands below the call that waits for it, with what it would be sent', () => {
  const question = {
    about: 'host' as const,
    id: 3,
    host: 'docs.example.com',
    url: `https://docs.example.com/\u202e${'x'.repeat(600)}`,
  };
  const item = only(transcript({ messages: [asked('Hello')], question }), 'host');
  assert.equal(item.host, 'docs.example.com');
  assert.match(item.url, /^https:\/\/docs\.example\.com\/\\u\{202e\}x+…$/);
  assert.ok(item.url.length < 520);
});

test('a question of the model stands there with its choices, and later with the answer', () => {
  const choices = ['SQLite', 'Postgres'];
  const question = { about: 'choice', id: 4, text: 'Which\u202e?', choices } as const;
  const ask = call('c1', 'ask_user', { question: question.text, choices });
  const messages = [asked('Hello'), answered('', ask)];
  const open = only(transcript({ messages, question, state: 'running' }), 'question');
  assert.deepEqual([open.text, open.choices, open.id], ['Which\\u{202e}?', choices, 4]);

  const items = transcript({
    messages: [...messages, result(ask, 'The user chose "SQLite".', { details: { answer: 'SQLite' } })],
  });
  const { key: _, ...later } = only(items, 'question');
  assert.deepEqual(later, { kind: 'question', text: open.text, choices: [], answer: 'SQLite' });
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['user', 'question'],
  );

  const stopped = transcript({ messages: [...messages, result(ask, 'The user has not answered.')] });
  assert.deepEqual(only(stopped, 'tool').summary, 'Which\\u{202e}?');
});

test('a turn that a reload interrupted says so, and can go on as long as nothing has followed', () => {
  const notice = { role: 'steering', kind: 'notice', text: INTERRUPTED, previewIds: [] } as const;
  const canContinue = (...later: SessionMessage[]): unknown =>
    only(transcript({ messages: [asked('Hello'), notice, ...later] }), 'notice').notice;
  assert.deepEqual(canContinue(), { about: 'interrupted', canContinue: true });
  assert.deepEqual(canContinue(asked('And?')), { about: 'interrupted', canContinue: false });
});

test('a prompt, an answer, a call and its preview are shown in order', () => {
  const items = transcript({
    messages: [
      asked('Change a.ts'),
      answered('Sure.', edit),
      result(edit, 'Staged as p1'),
      answered('Done.'),
    ],
    previews: [preview()],
  });
  assert.deepEqual(
    items.map(item => item.kind),
    ['user', 'assistant', 'preview', 'assistant'],
  );
  assert.equal(new Set(items.map(item => item.key)).size, items.length);
});

test('notices and summaries are the only steering messages that are shown', () => {
  const items = transcript({
    messages: [
      asked('Hello'),
      { role: 'steering', kind: 'resolve-reminder', text: 'Pending: p1', previewIds: ['p1'] },
      { role: 'steering', kind: 'outcome', text: 'The user applied p1.', previewIds: ['p1'] },
      {
        role: 'steering',
        kind: 'notice',
        text: 'p1 (Edit) was not resolved when asked for. It is now left to the user.',
        previewIds: ['p1'],
      },
    ],
    previews: [preview({ state: { kind: 'discarded', by: { actor: 'human', reason: '', at: '' } } })],
  });
  assert.deepEqual(
    items.map(item => item.kind),
    ['user', 'notice'],
  );
  assert.deepEqual(only(items, 'notice').notice, {
    about: 'notDecided',
    label: 'Edit a.ts (1 edit)',
  });
});

test('a summary is shown where it was made, and can be reverted to unless it is the last message', () => {
  const summary = {
    role: 'steering',
    kind: 'summary',
    text: 'They talked.',
    previewIds: [],
    through: 0,
  } as const;
  const items = transcript({ messages: [asked('Hello'), answered('Hi'), summary, answered('Fine.')] });
  assert.deepEqual(
    items.map(item => item.kind),
    ['user', 'assistant', 'summary', 'assistant'],
  );
  const { text, node } = only(items, 'summary');
  assert.deepEqual([text, node], ['They talked.', 2]);
  assert.equal(only(transcript({ messages: [asked('Hello'), summary] }), 'summary').node, undefined);
});

test('a call shows its own result, even if a later answer uses the same id for a call', () => {
  const first = call('c1', 'read_file', { path: 'a.ts' });
  const second = call('c1', 'read_file', { path: 'b.ts' });
  const items = transcript({
    messages: [
      asked('Read'),
      answered('', first),
      result(first, 'one'),
      answered('', second),
      result(second, 'two'),
    ],
  });
  assert.deepEqual(
    only(items, 'tools').calls.map(({ output }) => output.text),
    ['one', 'two'],
  );
});

test('finished calls in a row are one line that says what they did; a running one stays by itself', () => {
  const read = (n: number) => call(`r${n}`, 'read_file', { path: `${n}.ts` });
  const search = call('s1', 'search_text', { query: 'x' });
  const [one, two, three] = [read(1), read(2), read(3)];
  const messages = [
    asked('Look'),
    answered('', one, two, search),
    result(one, '1'),
    result(two, 'no such file', { isError: true }),
    result(search, '0 matches'),
    answered('', three),
  ];
  const running = transcript({ messages });
  assert.deepEqual(
    running.map(({ kind }) => kind),
    ['user', 'tools', 'tool'],
  );
  assert.deepEqual(
    only(running, 'tools').calls.map(({ name, status }) => `${name} ${status}`),
    ['read_file done', 'read_file failed', 'search_text done'],
  );
  const done = transcript({ messages: [...messages, result(three, '3'), answered('Seen.')] });
  assert.deepEqual(
    done.map(({ kind }) => kind),
    ['user', 'tools', 'assistant'],
  );
  assert.equal(only(done, 'tools').calls.length, 4);
  assert.equal(only(done, 'tools').key, only(running, 'tools').key);
});

test('a local command is shown with its outcome', () => {
  const items = transcript({ messages: [{ role: 'local', text: '/apply', answer: 'Applied **p1**.' }] });
  assert.deepEqual(items, [
    { kind: 'user', key: 'm0', text: '/apply', attachments: [] },
    { kind: 'local', key: 'm0.l', text: 'Applied **p1**.' },
  ]);
});

test('a message that was lost from the log is not shown as an empty prompt', () => {
  const lost: SessionMessage = { role: 'local', text: '', answer: '' };
  const items = transcript({ messages: [asked('Why?'), lost, answered('Because.')] });
  assert.deepEqual(
    items.map(item => item.kind),
    ['user', 'assistant'],
  );
});

test('a prompt shows its attachments by name, never their text', () => {
  const attachments = [
    { path: 'src/a.ts', startLine: 3, endLine: 8, text: 'secret' },
    { path: 'b.ts', text: '', note: 'It is gone.' },
  ];
  const items = transcript({ messages: [{ role: 'user', text: 'Hi', attachments }] });
  assert.deepEqual(only(items, 'user').attachments, [
    { path: 'src/a.ts', startLine: 3, endLine: 8, problem: undefined, src: undefined },
    { path: 'b.ts', startLine: undefined, endLine: undefined, problem: 'It is gone.', src: undefined },
  ]);
  assert.ok(!JSON.stringify(items).includes('secret'));
});

test('without a model, a prompt is followed by a button to connect one; a command is not', () => {
  const shown = (prompt: string, more: Partial<Parameters<typeof transcript>[0]> = {}) =>
    transcript({ messages: [asked(prompt), answered('I am offline.')], offline: true, ...more }).at(-1)?.kind;
  assert.equal(shown('Fix it'), 'connect');
  assert.equal(shown('/edit a :: b => c'), 'assistant');
  assert.equal(shown('Fix it', { offline: false }), 'assistant');
  assert.equal(shown('Fix it', { state: 'running' }), 'assistant');
});

test('an answer keeps its key from start to end', () => {
  const arriving = transcript({ messages: [asked('Hello')], arriving: { text: 'Hel', reasoning: '' } }).at(
    -1,
  );
  const done = transcript({ messages: [asked('Hello'), answered('Hello to you.')] }).at(-1);
  assert.ok(arriving?.kind === 'assistant' && arriving.streaming);
  assert.ok(done?.kind === 'assistant' && !done.streaming);
  assert.equal(arriving.key, done.key);
});

test('reasoning is shown with its answer, also if nothing else was said', () => {
  const message = { ...answered(''), reasoning: ' Hm.\n' };
  const item = transcript({ messages: [asked('Hello'), message] }).at(-1);
  assert.ok(item?.kind === 'assistant');
  assert.deepEqual([item.text, item.reasoning], ['', 'Hm.']);
});

test('a call without a result runs; one whose result the session does not have yet has ended', () => {
  const messages = [answered('', edit)];
  assert.equal(only(transcript({ messages }), 'tool').status, 'running');
  const live = transcript({ messages, liveResult: id => (id === 'c1' ? result(edit, 'ok') : undefined) });
  assert.equal(only(live, 'tool').status, 'done');
  const failed = transcript({ messages: [...messages, result(edit, 'no such file', { isError: true })] });
  assert.deepEqual(
    [only(failed, 'tool').status, only(failed, 'tool').output.text],
    ['failed', 'no such file'],
  );
});

test('the block of an interrupted resolve shows what the ledger says of that very call', () => {
  const resolve = call('r1', 'resolve', { action: 'apply', reason: 'Because.' });
  const interrupted = result(resolve, 'Interrupted by the user while it ran.', { isError: true });
  const blockWith = (place: { sessionId: string; messageId: string }) => {
    const ledger = [attempt({ interrupted: true, call: { ...place, toolCallId: 'r1' } })];
    return only(
      transcript({ messages: [asked('Hi'), answered('', resolve), interrupted], ledger }),
      'resolve',
    ).outcome;
  };
  assert.equal(blockWith({ sessionId: 's1', messageId: 'm1' }), 'accept');
  assert.equal(blockWith({ sessionId: 's1', messageId: 'm0' }), 'failed');
  assert.equal(blockWith({ sessionId: 's0', messageId: 'm1' }), 'failed');
});

test('open previews from elsewhere come first, resolved ones are not shown', () => {
  const elsewhere = { origin: null };
  const other = { origin: { sessionId: 's0', call: { messageId: 'm1', toolCallId: 'c1' }, asksModel: true } };
  const by = { actor: 'human', reason: 'Applied by the user.', at: '' } as const;
  const items = transcript({
    messages: [asked('Hello'), answered('', edit)],
    previews: [
      preview({ id: 'p1', ...elsewhere }),
      preview({ id: 'p2', ...other }),
      preview({ id: 'p3', ...elsewhere, state: { kind: 'applied', by } }),
    ],
  });
  assert.deepEqual(
    items.map(item => (item.kind === 'preview' ? item.id : item.kind)),
    ['heading', 'p1', 'p2', 'user', 'tool'],
  );
});

test('a thousand previews from elsewhere are counted, not listed', () => {
  const previews = Array.from({ length: 1_000 }, (_, i) => preview({ id: `p${i + 1}`, origin: null }));
  const items = transcript({ previews });
  assert.equal(items.filter(item => item.kind === 'preview').length, 20);
  assert.ok(
    items.some(
      item => item.kind === 'heading' && item.heading.about === 'morePending' && item.heading.count === 980,
    ),
  );
});

test('a long session lists its last entries and counts the rest', () => {
  const items = transcript({ messages: Array.from({ length: 1_200 }, (_, i) => asked(`Prompt ${i}`)) });
  assert.equal(items.length, 1_001);
  assert.deepEqual(items[0], {
    kind: 'heading',
    key: 'earlier',
    heading: { about: 'earlier', count: 200 },
  });
  assert.ok(items.at(-1)?.kind === 'user' && items[1]?.key === 'm200');
});

test('a review stands as the person wrote it, without what tells the model how to answer', async () => {
  const comment = {
    id: 'c1',
    previewId: 'p1',
    path: 'a.ts',
    side: 'proposal',
    line: 0,
    quote: 'x',
    text: 'Why?',
  };
  const review = await reviewMessage({ applied: 0, refused: 1 }, [comment as never], () => undefined);
  assert.match(review, /Answer each comment in a paragraph/);
  const { text } = only(transcript({ messages: [asked(review)] }), 'user');
  assert.match(text, /^I reviewed your previews: 1 comment, 1 refused\.[^]*\nWhy\?$/);
});

test('queued prompts are at the end and marked as queued', () => {
  const items = transcript({
    messages: [asked('First')],
    arriving: { text: 'Well', reasoning: '' },
    queued: [{ id: 'q2', text: 'Second', attachments: [] }],
  });
  assert.deepEqual(items.at(-1), {
    kind: 'user',
    key: 'q2',
    queued: 'q2',
    text: 'Second',
    attachments: [],
  });
});

test('a stopped answer and a truncated one say so', () => {
  const stopped = { role: 'assistant', text: 'Half', toolCalls: [], stopReason: 'aborted' } as const;
  assert.equal(only(transcript({ messages: [stopped] }), 'assistant').incomplete, 'stopped');
  const cut = { ...stopped, stopReason: 'length' } as const;
  assert.equal(only(transcript({ messages: [cut] }), 'assistant').incomplete, 'cutOff');
});

test('a failed answer shows its error; only the last one can be retried, and not while running', () => {
  const failed = {
    role: 'assistant',
    text: '',
    toolCalls: [],
    stopReason: 'error',
    error: 'Nothing answers at x.',
  } as const;
  const names = (items: ReturnType<typeof transcript>): string[] =>
    items.flatMap(item => (item.kind === 'error' ? [item.actions.join()] : []));
  const one = transcript({ messages: [asked('Hi'), failed] });
  assert.equal(only(one, 'error').text, 'Nothing answers at x.');
  assert.deepEqual(names(one), ['continue,showLog']);
  assert.deepEqual(names(transcript({ messages: [asked('Hi'), failed], state: 'running' })), ['showLog']);
  assert.deepEqual(names(transcript({ messages: [failed, asked('Hi'), failed] })), [
    'showLog',
    'continue,showLog',
  ]);
});

test('the code of a failure selects the buttons that help', () => {
  const failed = { role: 'assistant', text: '', toolCalls: [], stopReason: 'error' } as const;
  const first = (errorCode: string): string | undefined =>
    only(transcript({ messages: [{ ...failed, errorCode } as typeof failed] }), 'error').actions[0];
  assert.equal(first('unauthorized'), 'setApiKey');
  assert.equal(first('noModel'), 'selectModel');
  assert.equal(first('server'), 'continue');
});

test('whatever the transcript holds, the webview accepts it', () => {
  const items = transcript({
    messages: [
      asked('Hello'),
      answered('Sure.', edit, call('c2', 'resolve', 'not json')),
      result(edit, 'ok'),
    ],
    previews: [preview(), preview({ id: 'p2', origin: null, changes: null })],
    stats: ({ changes }) => changes?.map(() => ({ added: 1, removed: 0, hunks: 1, exact: false })),
    queued: [{ id: 'q2', text: 'Next', attachments: [{ path: 'a.ts', startLine: 2, text: 'x' }] }],
  });
  const modes = { state: 'idle', mode: 'recommend', planMode: false, offline: false };
  const status = { ...modes, model: '', instructions: [] };
  const parsed = hostMessage.safeParse({
    type: 'snapshot',
    session: 's1',
    commands: [],
    items,
    status,
  });
  assert.ok(parsed.success, parsed.error?.message);
});

test('a rename shows where the file came from', () => {
  const { before, after } = modify('new.ts');
  assert.ok(before && after);
  const change = { kind: 'rename', path: 'new.ts', from: 'old.ts', before, after } as const;
  const items = transcript({ messages: [answered('', edit)], previews: [preview({ changes: [change] })] });
  assert.deepEqual(only(items, 'preview').files[0], {
    path: 'new.ts',
    from: 'old.ts',
    change: 'rename',
    stat: undefined,
  });
});

test('after a revert, keys name nodes, and a preview of an abandoned call with the same id is not shown under another', () => {
  const nodes = [0, 5, 6];
  const items = transcript({
    messages: [asked('Change a.ts'), answered('Again.', edit), result(edit, 'Staged as p2')],
    nodeAt: position => nodes[position] ?? -1,
    previews: [
      preview({ state: { kind: 'discarded', by: { actor: 'model', reason: 'r', at: '' } } }),
      preview({
        id: 'p2',
        origin: { sessionId: 's1', call: { messageId: 'm5', toolCallId: 'c1' }, asksModel: true },
      }),
    ],
  });
  assert.deepEqual(
    items.map(({ kind, key }) => [kind, key]),
    [
      ['user', 'm0'],
      ['assistant', 'm5'],

      ['preview', 'p:p2'],
    ],
  );
  assert.deepEqual([only(items, 'user').node, only(items, 'assistant').node], [0, 5]);
});

test('a pending preview of an abandoned call is listed with those from elsewhere', () => {
  const items = transcript({ messages: [asked('Hi')], previews: [preview()] });
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['heading', 'preview', 'user'],
  );
});

test('withheld tools are named before everything else, at most five of them', () => {
  const withheldTools = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => `/project/.redline/tools/${name}.ts`);
  const [notice] = transcript({ withheldTools, messages: [asked('Hello.')] });
  const files = ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts'];
  assert.deepEqual(notice?.kind === 'notice' && notice.notice, {
    about: 'withheldTools',
    files,
    isAll: false,
  });
});

test('what the user reopens or undoes is at the end while it is pending; other open previews are at the top', () => {
  const origin = { sessionId: 's1', asksModel: false };
  const items = transcript({
    messages: [asked('Hello'), answered('Hi')],
    previews: [
      preview({ id: 'p5', origin, undoes: ['p1'] }),
      preview({ id: 'p6', origin: null }),
      preview({ id: 'p7', origin, reopens: 'p2' }),
    ],
  });
  assert.deepEqual(
    items.map(({ key }) => key),
    ['elsewhere', 'p:p6', 'm0', 'm1', 'p:p5', 'p:p7'],
  );
});

test('after a revert, a notice says what is still in the files, unless the branch is back', () => {
  const origin = { sessionId: 's1', asksModel: false };
  const undo = { id: 'p5', origin, undoes: ['p1'], purpose: 'revert' } as const;
  const state = { kind: 'applied', by: { actor: 'human', reason: '', at: '' } } as const;
  const left = preview({ state, origin: { ...origin, call: { messageId: 'm1', toolCallId: 'c1' } } });
  const notices = (messages: readonly SessionMessage[], ...previews: Preview[]): unknown[] =>
    transcript({ messages, previews: [left, ...previews] }).flatMap((item, at, items) =>
      item.kind === 'notice' ? [[item.notice, items[at + 1]?.key]] : [],
    );
  const still = (count: number) => ({ about: 'stillApplied', count });
  assert.deepEqual(notices([asked('Hello')], preview(undo)), [[still(1), 'p:p5']]);
  const two = preview({ ...undo, changes: [modify('a.ts'), modify('b.ts')] });
  assert.deepEqual(notices([asked('Hello')], two), [[still(2), 'p:p5']]);
  // Switched back; resolved; another conversation's; what the user undoes.
  assert.deepEqual(notices([asked('Hello'), answered('Hi', call('c1', 'edit_file', {}))], preview(undo)), []);
  assert.deepEqual(notices([asked('Hello')], preview({ ...undo, state })), []);
  assert.deepEqual(
    notices([asked('Hello')], preview({ ...undo, origin: { ...origin, sessionId: 's2' } })),
    [],
  );
  const { purpose: _, ...named } = { ...undo, sourceToolName: 'revert_to_state' };
  assert.deepEqual(notices([asked('Hello')], preview(named)), []);
});

test('the plan that a resolve submits has a card below its block', () => {
  const submit = call('c1', 'resolve', { action: 'apply', reason: 'Ready.' });
  const details = { title: 'Count', text: '1. Count' };
  const plan = { ...preview({ title: 'Plan: Count', details }), kind: 'plan', changes: null } as Preview;
  const origin = { sessionId: 's1', asksModel: false, call: { messageId: 'm1', toolCallId: 'c1' } };
  const items = transcript({
    messages: [asked('Plan.'), answered('1. Count', submit), result(submit, 'Submitted.')],
    previews: [{ ...plan, origin }],
  });
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['user', 'assistant', 'resolve', 'preview'],
  );
});
