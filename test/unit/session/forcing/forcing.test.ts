import { test } from 'node:test';
import assert from 'node:assert/strict';
import { MAX_FORCED_TURNS } from '../../../../src/agent/session/forcing/resolveDirectives.ts';
import type { ChatRequest } from '../../../../src/agent/session/model/chatProvider.ts';
import { createOfflineProvider } from '../../../../src/agent/session/model/offline/provider.ts';
import type { LadderMemory, LadderStep } from '../../../../src/agent/session/model/toolChoiceLadder.ts';
import type { Forcing } from '../../../../src/agent/hold/preview/resolveSettings.ts';
import { modify } from '../../../support/changes.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import type { ScriptedTurn } from '../../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const write = (path: string) => ({ name: 'write_file', arguments: { path, content: 'new' } });
const staging: ScriptedTurn = { toolCalls: [write('a.txt')] };
const applying: ScriptedTurn = {
  toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'ok' } }],
};
const resolving = (named: object) => ({
  name: 'resolve',
  arguments: { action: 'apply', reason: 'ok', ...named },
});
const reading: ScriptedTurn = { toolCalls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] };

/** `named`, `required` or `-` for each request. */
const choices = (requests: readonly ChatRequest[]): string =>
  requests
    .map(({ toolChoice }) => (toolChoice?.type === 'tool' ? 'named' : (toolChoice?.type ?? '-')))
    .join(' ');
const notices = (t: TestSession) => t.steering().filter(({ kind }) => kind === 'notice');
const reminders = (t: TestSession) => t.steering().filter(({ kind }) => kind === 'resolve-reminder');

/** The memory of a server that is known to accept named choices and ignore them, so that the ladder stays on its step. */
const stuckAt = (step: LadderStep) => ({ get: () => step, set: () => undefined });

const stubborn: readonly [Forcing, string][] = [
  ['forced', '- named named named'],
  ['always', '- named named named'],
  ['off', '- -'],
];
for (const [forcing, expected] of stubborn) {
  test(`${forcing}: a model that never resolves is forced ${expected}, then it is left to the user, who is told`, async () => {
    const t = createTestSession({
      files,
      settings: { forcing },
      ladderMemory: stuckAt('named'),
      script: [
        staging,
        ...Array.from({ length: expected.split(' ').length - 1 }, () => ({ text: 'No.' })),
        { text: 'ok' },
      ],
    });
    await t.session.prompt('Write.');
    assert.equal(choices(t.requests), expected);
    assert.equal(t.session.state, 'awaitingReview', 'the session is not aborted');
    assert.equal(t.store.get('p1')?.state.kind, 'pending');
    t.assertSound();

    await t.session.prompt('And now?');
    assert.equal(choices(t.requests.slice(-1)), '-', 'never again');
    assert.deepEqual(
      notices(t).map(({ previewIds }) => previewIds),
      forcing === 'off' ? [] : [['p1']],
    );
  });
}

for (const forcing of ['forced', 'always'] as const) {
  test(`${forcing}: a model that answers is forced no more`, async () => {
    const t = createTestSession({
      files,
      settings: { forcing },
      script: [staging, applying, { text: 'ok' }],
    });
    await t.session.prompt('Write.');
    assert.equal(choices(t.requests), '- named -');
  });
}

test('always: every request is forced while something is pending and unanswered, one preview after the other', async () => {
  const t = createTestSession({
    files,
    settings: { forcing: 'always' },
    script: [{ toolCalls: [write('a.txt'), write('b.txt')] }, applying, applying, { text: 'ok' }],
  });
  await t.session.prompt('Write.');
  assert.equal(choices(t.requests), '- named named -');
  assert.deepEqual(t.workspace.snapshot(), { 'a.txt': 'new', 'b.txt': 'new' });
});

test('off: the reminder is all', async () => {
  const t = createTestSession({
    files,
    settings: { forcing: 'off' },
    script: [staging, applying, { text: 'ok' }],
  });
  await t.session.prompt('Write.');
  assert.equal(choices(t.requests), '- - -');
  assert.equal(reminders(t).length, 1);
  assert.equal(t.workspace.text('a.txt'), 'new');
});

test('off: what one answer stages is one reminder, which names all of it', async () => {
  const t = createTestSession({
    files,
    settings: { forcing: 'off', modelAuthority: 'recommend' },
    script: [
      { toolCalls: [write('a.txt'), write('b.txt')] },
      { toolCalls: [write('c.txt')] },
      { text: 'ok' },
    ],
  });
  await t.session.prompt('Write.');
  assert.deepEqual(
    reminders(t).map(({ text }) => text.split('\n').at(-1)),
    [
      'Staged: p1 (Rewrite a.txt), p2 (Rewrite b.txt). Vote on all of them in one call, with their ids.',
      'Pending: p3 (Create c.txt)',
    ],
  );
  t.assertSound();
});

for (const forcing of ['forced', 'always', 'off'] as const) {
  test(`${forcing}: a recorded recommendation is an answer`, async () => {
    const t = createTestSession({
      files,
      settings: { forcing, modelAuthority: 'recommend' },
      script: [staging, applying, { text: 'ok' }],
    });
    await t.session.prompt('Write.');
    assert.equal(choices(t.requests.slice(2)), '-');
    assert.equal(t.session.state, 'awaitingReview');
  });
}

test('a resolve with arguments that do not fit is no answer', async () => {
  const malformed: ScriptedTurn = { toolCalls: [{ name: 'resolve', arguments: '{"action":' }] };
  const t = createTestSession({ files, script: [staging, malformed, applying, { text: 'ok' }] });
  await t.session.prompt('Write.');
  assert.equal(choices(t.requests), '- named named -');
  assert.equal(t.workspace.text('a.txt'), 'new');
});

test('an apply that always fails is not tried forever, not even by the offline provider', async () => {
  const workspace = new MemoryWorkspace(files);
  workspace.makeReadOnly('a.txt');
  const t = createTestSession({ workspace, provider: createOfflineProvider() });
  await t.session.prompt('/edit a.txt :: a => A');
  assert.equal(t.store.ledger().length, MAX_FORCED_TURNS);
  assert.equal(t.session.state, 'awaitingReview');
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
});

test('a server that refuses named choices is asked another way at once, and that is remembered', async () => {
  const refusal: ScriptedTurn = {
    error: {
      code: 'badRequest',
      message: 'Bad request',
      detail: 'tool_choice: only auto, required are supported',
    },
  };
  const ladderMemory: LadderMemory = new Map();
  const t = createTestSession({
    files,
    ladderMemory,
    script: [staging, refusal, applying, { toolCalls: [write('b.txt')] }, applying, { text: 'ok' }],
  });
  await t.session.prompt('Write.');
  assert.equal(choices(t.requests), '- named required - required -');
  assert.deepEqual(
    t.requests[2]?.tools.map(({ name }) => name),
    ['resolve'],
  );
  assert.equal(ladderMemory.get('scripted'), 'required');
  assert.ok(
    t.answers().every(({ stopReason }) => stopReason !== 'error'),
    'the user saw no error',
  );
  assert.deepEqual(t.workspace.snapshot(), { 'a.txt': 'new', 'b.txt': 'new' });
  t.assertSound();
});

test('a server that refuses every choice is left with the words', async () => {
  const refusal: ScriptedTurn = {
    error: { code: 'badRequest', message: 'tool_choice is not supported while thinking', detail: '' },
  };
  const t = createTestSession({ files, script: [staging, refusal, refusal, applying, { text: 'ok' }] });
  await t.session.prompt('Write.');
  assert.equal(choices(t.requests), '- named required - -');
  assert.equal(t.workspace.text('a.txt'), 'new');
  t.assertSound();
});

test('a server that ignores a choice is asked in the next way', async () => {
  const t = createTestSession({
    files,
    script: [staging, { text: 'What?' }, { text: 'What?' }, applying, { text: 'ok' }],
  });
  await t.session.prompt('Write.');
  assert.equal(choices(t.requests), '- named required - -');
  assert.equal(t.workspace.text('a.txt'), 'new');
  assert.equal(
    reminders(t).length,
    3,
    'again for each answer without a call, and where words are all there is',
  );
});

test('a bad request for another reason is told, and teaches nothing', async () => {
  const ladderMemory: LadderMemory = new Map();
  const failure: ScriptedTurn = { error: { code: 'badRequest', message: 'context too long', detail: '' } };
  const t = createTestSession({ files, ladderMemory, script: [staging, failure] });
  await t.session.prompt('Write.');
  assert.equal(t.answers().at(-1)?.error, 'context too long');
  assert.equal(ladderMemory.get('scripted'), undefined);
});

const ids = (...named: string[]) => ({
  toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'ok', ids: named } }],
});
const inReview = { forcing: 'auto', modelAuthority: 'recommend' } as const;
const recommended = (t: TestSession): readonly string[] =>
  t.store
    .list('oldestFirst')
    .flatMap(({ id, state }) => (state.kind === 'pending' && state.recommendation ? id : []));

test('auto in Review: the model works undisturbed, and votes once on everything when its turn would end', async () => {
  const t = createTestSession({
    files,
    settings: inReview,
    script: [staging, { toolCalls: [write('b.txt')] }, { text: 'Both are ready.' }, ids('p1', 'p2')],
  });
  await t.session.prompt('Write both.');
  assert.equal(
    choices(t.requests),
    '- - - named',
    'and no request follows the votes, which only were recorded',
  );
  assert.deepEqual(recommended(t), ['p1', 'p2']);
  assert.equal(t.session.state, 'awaitingReview');
  const [only, ...others] = reminders(t);
  assert.deepEqual([only?.previewIds, others.length], [['p1', 'p2'], 0]);
  assert.match(
    only?.text ?? '',
    /\nStaged: p1 \(.*\), p2 \(.*\)\. Vote on all of them in one call, with their ids\.$/,
  );
  assert.match(t.results().at(-1)?.content ?? '', /^Your recommendations for p1 .*, p2 .* are recorded/);
  t.assertSound();
});

test('auto in Review: a vote on everything with the closing words ends the turn; one without words, or on a part, does not', async () => {
  const both: ScriptedTurn = { toolCalls: [write('a.txt'), write('b.txt')] };
  const play = async (...script: ScriptedTurn[]): Promise<string> => {
    const t = createTestSession({ files, settings: inReview, script: [both, ...script] });
    await t.session.prompt('Write both.');
    t.assertSound();
    return choices(t.requests);
  };
  const ok = { text: 'ok' };
  assert.equal(await play({ ...ids('p1', 'p2'), text: 'Both are ready.' }), '- -');
  assert.equal(await play(ids('p1', 'p2'), ok), '- - -');
  assert.equal(await play({ ...ids('p1'), text: 'One is ready.' }, ids('p2'), ok), '- - - -');
});

for (const [how, vote] of [
  ['with an id', { id: 'p1' }],
  ['with an id in ids that is no list', { ids: 'p1' }],
  ['without an id', {}],
] as const)
  test(`auto in Review: a vote ${how} with the closing words ends the turn, and an apply then wakes nothing`, async () => {
    const votes = { text: 'Ready.', toolCalls: [resolving(vote)] };
    const t = createTestSession({ files, settings: inReview, script: [staging, votes] });
    await t.session.prompt('Write.');
    assert.equal(choices(t.requests), '- -');
    assert.deepEqual(recommended(t), ['p1']);
    await t.click('p1', 'apply');
    await t.untilState('idle');
    assert.equal(t.requests.length, 2);
    t.assertSound();
  });

test('auto in Review: a vote with an id beside work, or on a part, does not end the turn', async () => {
  const both: ScriptedTurn = { toolCalls: [write('a.txt'), write('b.txt')] };
  const beside = { text: 'On.', toolCalls: [resolving({ id: 'p1' }), ...(reading.toolCalls ?? [])] };
  const part = { text: 'One is ready.', toolCalls: [resolving({ id: 'p1' })] };
  for (const [staged, votes, expected] of [
    [staging, beside, '- - -'],
    [both, part, '- - - named'],
  ] as const) {
    const script = [staged, votes, { text: 'I go on.' }, ids('p2')];
    const t = createTestSession({ files, settings: inReview, script });
    await t.session.prompt('Write.');
    assert.equal(choices(t.requests).slice(0, expected.length), expected);
    t.assertSound();
  }
});

test('auto in Review: a vote without an id is refused with the ids of the previews that it may mean', async () => {
  const both: ScriptedTurn = { toolCalls: [write('a.txt'), write('b.txt')] };
  const bare = { text: 'Ready.', toolCalls: [resolving({})] };
  const named = { ...ids('p1', 'p2'), text: 'Ready.' };
  const t = createTestSession({ files, settings: inReview, script: [both, bare, named] });
  await t.session.prompt('Write.');
  assert.match(
    t.results().at(-2)?.content ?? '',
    /^This vote may mean any of p1 \(.*\), p2 \(.*\)\. Nothing was changed\. Name the ones that you mean with ids\./,
  );
  assert.deepEqual(recommended(t), ['p1', 'p2']);
  assert.equal(choices(t.requests), '- - -');
});

test('auto in Review: a vote without an id is about all that was asked for', async () => {
  const t = createTestSession({
    files,
    settings: inReview,
    script: [{ toolCalls: [write('a.txt'), write('b.txt')] }, { text: 'Ready.' }, applying],
  });
  await t.session.prompt('Write both.');
  assert.deepEqual(recommended(t), ['p1', 'p2']);
});

for (const modelAuthority of ['recommend', 'apply'] as const)
  test(`auto, ${modelAuthority}: the model is asked about a preview together with the one that it builds on`, async () => {
    const edit = (old: string, now: string) => ({
      name: 'edit_file',
      arguments: { path: 'a.txt', edits: [{ old, new: now }] },
    });
    const t = createTestSession({
      files: { 'a.txt': 'one' },
      settings: { forcing: 'auto', modelAuthority },
      script: [{ toolCalls: [edit('one', 'two'), edit('two', 'three')] }, { text: 'Ready.' }, applying],
    });
    await t.session.prompt('Count.');
    assert.deepEqual(
      reminders(t).map(({ previewIds }) => previewIds),
      [['p1', 'p2']],
    );
    if (modelAuthority === 'recommend') {
      assert.deepEqual(recommended(t), ['p1', 'p2']);
      await t.click('p1', 'apply');
      await t.click('p2', 'apply');
    }
    await t.untilState('idle');
    assert.equal(t.workspace.text('a.txt'), 'three');
    assert.equal(choices(t.requests), '- - named');
    t.assertSound();
  });

test('auto: the model is asked about a preview that builds on one which it has recommended; not in Auto, where that blocks its vote', async () => {
  const edit = (old: string, now: string): ScriptedTurn => ({
    toolCalls: [{ name: 'edit_file', arguments: { path: 'a.txt', edits: [{ old, new: now }] } }],
  });
  for (const [before, after, expected] of [
    ['recommend', 'recommend', '- - - - named'],
    ['checked', 'checked', '- - - - named'],
    ['recommend', 'apply', '- - - -'],
  ] as const) {
    const t = createTestSession({
      files: { 'a.txt': 'one' },
      settings: { forcing: 'auto', modelAuthority: before },
      script: [edit('one', 'two'), ids('p1'), edit('two', 'three'), { text: 'Ready.' }, ids('p2'), {}],
    });
    t.session.onDidEmit(({ type }) => {
      if (type === 'turn_start' && t.requests.length === 3) t.settings.modelAuthority = after;
    });
    await t.session.prompt('Count.');
    assert.equal(choices(t.requests), expected);
    assert.deepEqual(recommended(t), after === 'apply' ? ['p1'] : ['p1', 'p2']);
    t.assertSound();
  }
});

test('auto in Review: what the model has voted on by itself is not asked for', async () => {
  const t = createTestSession({
    files,
    settings: inReview,
    script: [{ toolCalls: [write('a.txt'), write('b.txt')] }, ids('p2', 'p1'), { text: 'Ready.' }],
  });
  await t.session.prompt('Write both.');
  assert.equal(choices(t.requests), '- - -');
  assert.deepEqual(recommended(t), ['p1', 'p2']);
});

for (const modelAuthority of ['recommend', 'apply'] as const)
  test(`auto, ${modelAuthority}: discards that are asked for at the end end the turn, by id as by ids; a model that discards unasked may start again`, async () => {
    const both: ScriptedTurn = { toolCalls: [write('a.txt'), write('b.txt')] };
    const play = async (...script: ScriptedTurn[]): Promise<string> => {
      const t = createTestSession({ files, settings: { forcing: 'auto', modelAuthority }, script });
      await t.session.prompt('Write.');
      assert.deepEqual(t.store.list('oldestFirst'), []);
      t.assertSound();
      return choices(t.requests);
    };
    const ready = { text: 'Nothing has to change.' };
    const again = { text: 'I start again.' };
    const open = { name: 'todo', arguments: { items: [{ text: 'Write it anew', state: 'doing' }] } };
    const discarding = (named: object) => resolving({ action: 'discard', ...named });
    for (const text of ['', 'It is wrong.']) {
      for (const named of [{ id: 'p1' }, { ids: ['p1'] }]) {
        const vote = { text, toolCalls: [discarding(named)] };
        assert.equal(await play(staging, ready, vote), '- - named');
        assert.equal(await play(staging, vote, again), '- - -');
        const goingOn = { text, toolCalls: [open, discarding(named)] };
        assert.equal(await play(staging, ready, goingOn, again), '- - named -');
      }
      for (const toolCalls of [
        [discarding({ ids: ['p1', 'p2'] })],
        [discarding({ id: 'p1' }), discarding({ id: 'p2' })],
      ]) {
        assert.equal(await play(both, ready, { text, toolCalls }), '- - named');
        assert.equal(await play(both, { text, toolCalls }, again), '- - -');
      }
      const [first, second] = ['p1', 'p2'].map(id => ({ text, toolCalls: [discarding({ id })] }));
      assert.equal(await play(both, ready, first!, second!), '- - named -', 'one vote in each answer');
    }
  });

test('auto: a vote on a part names the previews that are not voted on yet', async () => {
  for (const modelAuthority of ['recommend', 'apply'] as const) {
    const t = createTestSession({
      files,
      settings: { forcing: 'auto', modelAuthority },
      script: [{ toolCalls: [write('a.txt'), write('b.txt')] }, ids('p1'), ids('p2'), { text: 'ok' }],
    });
    await t.session.prompt('Write both.');
    const [first = '', second = ''] = t
      .results()
      .slice(2)
      .map(({ content }) => content);
    assert.match(first, /\nNot voted on yet: p2\.$/);
    assert.doesNotMatch(second, /Not voted on yet/);
  }
});

test('auto in Manual: a refused vote with the closing words ends the turn, also beside an amendment', async () => {
  const edits = [{ old: 'new', new: 'newer' }];
  const amending = { name: 'edit_file', arguments: { path: 'a.txt', edits, amend: 'p1' } };
  for (const others of [[], [amending]]) {
    const t = createTestSession({
      files,
      settings: { forcing: 'auto', modelAuthority: 'none' },
      script: [staging, { toolCalls: [...others, resolving({ ids: ['p1'] })], text: 'It is ready.' }],
    });
    await t.session.prompt('Write.');
    assert.match(t.results().at(-1)?.content ?? '', /^resolve cannot be called in Manual mode/);
    assert.equal(t.requests.length, 2);
    assert.equal(t.session.state, 'awaitingReview');
    t.assertSound();
  }
});

test('auto in Manual: after a refused vote the model goes on with its open steps, unless the user reviews something', async () => {
  const open = { name: 'todo', arguments: { items: [{ text: 'Step 2', state: 'open' }] } };
  for (const [calls, requests, state] of [
    [[open], 3, 'idle'],
    [[todo], 2, 'idle'],
    [[write('a.txt'), open], 2, 'awaitingReview'],
  ] as const) {
    const t = createTestSession({
      files,
      settings: { forcing: 'auto', modelAuthority: 'none' },
      script: [
        { toolCalls: calls },
        { text: 'Step 2 next.', toolCalls: [resolving({})] },
        { text: 'I go on.' },
      ],
    });
    await t.session.prompt('Write.');
    assert.equal(t.requests.length, requests);
    assert.equal(t.session.state, state);
    t.assertSound();
  }
});

test('auto: a model that discards all of it to start again, as its list says, goes on', async () => {
  const todo = { name: 'todo', arguments: { items: [{ text: 'Write it anew', state: 'doing' }] } };
  const discarding = resolving({ action: 'discard', ids: ['p1'] });
  const t = createTestSession({
    files,
    settings: { forcing: 'auto', modelAuthority: 'apply' },
    script: [
      { toolCalls: [write('a.txt'), todo] },
      { text: 'It is wrong.', toolCalls: [discarding] },
      { text: 'I start again.' },
    ],
  });
  await t.session.prompt('Write.');
  assert.equal(t.requests.length, 3);
});

test('auto in Review: a model that does not vote is asked three times for all, and then everything is left to the user', async () => {
  const no = { text: 'No.' };
  const t = createTestSession({
    files,
    settings: inReview,
    ladderMemory: stuckAt('named'),
    script: [{ toolCalls: [write('a.txt'), write('b.txt')] }, no, no, no, no],
  });
  await t.session.prompt('Write both.');
  assert.equal(choices(t.requests), '- - named named named');
  assert.deepEqual(
    notices(t).map(({ previewIds, text }) => [previewIds, text.split('. ').at(-1)]),
    [[['p1', 'p2'], 'They are now left to the user.']],
  );
  t.assertSound();
});

test('auto in Review: a model that works on instead of voting is not held up', async () => {
  const t = createTestSession({
    files,
    settings: inReview,
    ladderMemory: stuckAt('named'),
    script: [staging, { text: 'Ready.' }, reading, reading, { text: 'Now.' }, applying],
  });
  await t.session.prompt('Write.');
  assert.equal(choices(t.requests), '- - named - - named');
  assert.deepEqual(recommended(t), ['p1']);
});

test('auto in Review: what an extension stages for the user alone while the model answers makes no request', async () => {
  for (const also of [false, true]) {
    const t = createTestSession({
      files,
      settings: inReview,
      script: [...(also ? [staging] : []), { text: 'Ready.' }, ids('p1')],
    });
    t.workspace.isProtected = paths => Promise.resolve(paths.includes('b.txt'));
    t.session.onDidEmit(event => {
      if (event.type !== 'message_update') return;
      const changes = [modify('b.txt', 'b', 'new')];
      t.session.stage({ label: 'Alone', sourceToolName: 'test', changes });
    });
    await t.session.prompt('Write.');
    assert.equal(choices(t.requests), also ? '- - named' : '-');
    assert.deepEqual(
      reminders(t).map(({ previewIds }) => previewIds),
      also ? [['p1']] : [],
    );
  }
});

for (const [before, first] of [
  ['auto', '- - named'],
  ['forced', '- named'],
] as const)
  test(`auto in Review, after ${before}: a request for votes that was stopped is made again when the next turn would end`, async () => {
    const t = createTestSession({
      files,
      settings: { ...inReview, forcing: before },
      script: [
        staging,
        ...(before === 'auto' ? [{ text: 'Ready.' }] : []),
        { text: 'Well', hang: true },
        reading,
        { text: 'Read.' },
        ids('p1'),
      ],
    });
    t.session.onDidEmit(event => {
      if (event.type === 'message_update' && event.delta === 'Well') t.session.stop();
    });
    await t.session.prompt('Write.');
    t.settings.forcing = 'auto';
    await t.session.prompt('Read first.');
    assert.equal(choices(t.requests), `${first} - - named`);
    assert.deepEqual(recommended(t), ['p1']);
  });

const applyingIt = (id: string) => [{ name: 'resolve', arguments: { action: 'apply', reason: 'ok', id } }];

const todo = { name: 'todo', arguments: { items: [{ text: 'Write', state: 'done' }] } };
const discard = { name: 'resolve', arguments: { action: 'discard', reason: 'no', id: 'p2' } };
for (const [how, votes] of [
  ['with ids', ids('p1', 'p2').toolCalls],
  ['beside a list', [todo, ...ids('p1', 'p2').toolCalls]],
  ['with an id, beside a discard', [discard, ...applyingIt('p1')]],
  [
    'in words of other tools',
    [discard, { name: 'resolve', arguments: { decision: 'accept', reason: 'ok', id: 'p1' } }],
  ],
] as const)
  test(`auto in Auto: the model works undisturbed, and its vote at the end, ${how}, is executed and ends the turn`, async () => {
    const t = createTestSession({
      files,
      settings: { forcing: 'auto', modelAuthority: 'apply' },
      script: [
        { toolCalls: [write('a.txt'), write('b.txt')] },
        reading,
        { text: 'Ready.' },
        { toolCalls: votes },
      ],
    });
    await t.session.prompt('Write.');
    assert.equal(choices(t.requests), '- - - named');
    assert.equal(t.workspace.text('a.txt'), 'new');
    assert.equal(t.session.state, 'idle');
    t.assertSound();
  });

test('auto in Auto: an executed vote with the closing words ends the turn, with an id too; without words, or with open steps, it does not', async () => {
  const goingOn = { name: 'todo', arguments: { items: [{ text: 'Step 2', state: 'open' }] } };
  for (const [beside, text, requests] of [
    [[], 'Done.', 2],
    [[todo], 'Done.', 2],
    [[], '', 3],
    [[goingOn], 'Step 1 is done.', 3],
  ] as const)
    for (const votes of [applyingIt('p1'), ids('p1').toolCalls]) {
      const t = createTestSession({
        files,
        settings: { forcing: 'auto', modelAuthority: 'apply' },
        script: [staging, { text, toolCalls: [...beside, ...votes] }, { text: 'I go on.' }],
      });
      await t.session.prompt('Write.');
      assert.equal(t.requests.length, requests, text);
      t.assertSound();
    }
});

test('auto in Auto: a vote that is asked for at the end does not end the turn of a model with open steps', async () => {
  const goingOn = { name: 'todo', arguments: { items: [{ text: 'Step 2', state: 'open' }] } };
  for (const votes of [applyingIt('p1'), [goingOn, ...applyingIt('p1')]]) {
    const t = createTestSession({
      files,
      settings: { forcing: 'auto', modelAuthority: 'apply' },
      script: [
        { toolCalls: [write('a.txt'), goingOn] },
        { text: 'Step 1 is done.' },
        { toolCalls: votes },
        { text: 'I go on.' },
      ],
    });
    await t.session.prompt('Write.');
    assert.equal(choices(t.requests), '- - named -');
    t.assertSound();
  }
});

for (const modelAuthority of ['recommend', 'apply'] as const)
  test(`auto, ${modelAuthority}: steps are open, also those from before the user's last prompt, until the list is done or gone`, async () => {
    const steps = (...states: string[]) => ({
      name: 'todo',
      arguments: { items: states.map(state => ({ text: 'A step', state })) },
    });
    for (const [update, requests] of [
      [[], 5],
      [[steps('done', 'open')], 5],
      [[steps('done', 'done')], 4],
      [[steps()], 4],
    ] as const) {
      const t = createTestSession({
        files,
        settings: { forcing: 'auto', modelAuthority },
        script: [
          { text: 'Which file is it?', toolCalls: [steps('open', 'open')] },
          { text: 'Which file is it?' },
          { toolCalls: [write('a.txt')] },
          { text: 'A is done.', toolCalls: [...update, ...applyingIt('p1')] },
          { text: 'I go on.' },
        ],
      });
      await t.session.prompt('Do A and B.');
      await t.session.prompt('It is a.txt.');
      if (modelAuthority === 'recommend') await t.click('p1', 'apply');
      await t.untilState('idle');
      assert.equal(t.requests.length, requests);
      t.assertSound();
    }
  });

test('auto in Auto: a vote at the end that lands only in part is answered', async () => {
  const t = createTestSession({
    files,
    settings: { forcing: 'auto', modelAuthority: 'apply' },
    script: [staging, { text: 'Ready.' }, ids('p1', 'p9'), { text: 'I see.' }],
  });
  await t.session.prompt('Write.');
  assert.equal(t.answers().at(-1)?.text, 'I see.');
});

test('auto: a submitted plan ends the turn; an empty or a withdrawn one does not', async () => {
  const play = async (...script: ScriptedTurn[]): Promise<number> => {
    const t = createTestSession({ files, settings: { forcing: 'auto' }, script });
    t.session.setPlanMode(true);
    await t.session.prompt('Plan.');
    t.assertSound();
    return t.requests.length;
  };
  const ok = { text: 'ok' };
  const discarding = { toolCalls: [{ name: 'resolve', arguments: { action: 'discard', reason: 'no' } }] };
  assert.equal(await play({ ...applying, text: '# The plan' }), 1);
  assert.equal(await play(applying, ok), 2);
  assert.equal(await play(discarding, ok), 2);
});

for (const forcing of ['auto', 'forced', 'always'] as const)
  for (const modelAuthority of ['recommend', 'apply'] as const)
    test(`${forcing}, ${modelAuthority}: no vote is forced on a protected file; the model is told who decides`, async () => {
      const t = createTestSession({
        files,
        settings: { forcing, modelAuthority },
        script: [staging, { text: 'ok' }],
      });
      t.workspace.isProtected = () => Promise.resolve(true);
      await t.session.prompt('Write.');
      assert.equal(choices(t.requests), '- -');
      assert.deepEqual(reminders(t), []);
      assert.match(
        t.results()[0]?.content ?? '',
        /^Staged as p1, no file modified yet\. Only the user decides on it; /,
      );
      assert.equal(t.session.state, 'awaitingReview');
    });

test('several previews are resolved in the order in which they build on each other, each with its own outcome', async () => {
  const rewrite = (content: string) => ({ name: 'write_file', arguments: { path: 'a.txt', content } });
  const t = createTestSession({
    files,
    settings: { forcing: 'off' },
    script: [{ toolCalls: [rewrite('b'), rewrite('c')] }, ids('p9', 'p2', 'p1'), { text: 'ok' }],
  });
  await t.session.prompt('Write.');
  const result = t.results().at(-1);
  assert.deepEqual(
    result?.content.split('\n').map(line => line.split('preview')[0]?.slice(0, 32)),
    ['There is no ', 'Applied: p1 (Rewrite a.txt), p2 '],
  );
  assert.equal(result?.isError, false);
  assert.equal(t.workspace.text('a.txt'), 'c');
  t.assertSound();
});
