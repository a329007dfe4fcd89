import { test } from 'node:test';
import assert from 'node:assert/strict';
import { textResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { modify } from '../../support/changes.ts';
import { createTestSession, type TestSessionOptions } from '../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const stageBoth: ScriptedTurn = {
  toolCalls: ['a.txt', 'b.txt'].map(path => ({ name: 'write_file', arguments: { path, content: 'new' } })),
};

/** A session that awaits the review of p1 and p2. Nothing is forced, so that only the review has an effect. */
async function awaitingReview(after: readonly ScriptedTurn[], over: TestSessionOptions = {}) {
  const t = createTestSession({
    files,
    script: [stageBoth, { text: 'Please review.' }, ...after],
    ...over,
    settings: { modelAuthority: 'recommend', forcing: 'off', ...over.settings },
  });
  await t.session.prompt('Write both.');
  assert.equal(t.session.state, 'awaitingReview');
  assert.equal(t.requests.length, 2);
  return t;
}

test('once the last preview is resolved the session continues, with one message telling each outcome', async () => {
  const t = await awaitingReview([{ text: 'Thanks.' }]);
  await t.click('p1', 'apply');
  assert.equal(t.session.state, 'awaitingReview', 'one is still pending');
  assert.equal(t.requests.length, 2);
  await t.click('p2', 'discard', 'not this one');
  await t.untilState('idle');
  assert.equal(t.requests.length, 3);
  const last = t.requests[2]?.messages.at(-1);
  assert.equal(last?.role === 'steering' && last.tells?.length, 2);
  assert.deepEqual(
    { ...last, tells: undefined },
    {
      role: 'steering',
      kind: 'outcome',
      text:
        'The user applied p1 (Rewrite a.txt).\n' +
        'The user discarded p2 (Rewrite b.txt). This is the user\'s decision, not a failure. Reason: "not this one"',
      previewIds: ['p1', 'p2'],
      tells: undefined,
    },
  );
  assert.equal(t.answers().at(-1)?.text, 'Thanks.');
  t.assertSound();
});

test('a chain is one resolution: the request after it tells the outcome of each', async () => {
  const edit = (old: string, now: string): ScriptedTurn => ({
    toolCalls: [{ name: 'edit_file', arguments: { path: 'a.txt', edits: [{ old, new: now }] } }],
  });
  const t = createTestSession({
    files: { 'a.txt': 'one' },
    settings: { modelAuthority: 'recommend', forcing: 'off' },
    script: [edit('one', 'two'), edit('two', 'three'), { text: 'Please review.' }, { text: 'Thanks.' }],
  });
  await t.session.prompt('Count.');
  await t.invoker.resolve({ id: 'p2', action: 'apply', reason: 'fine', actor: 'human', chain: { p1: 1 } });
  await t.untilState('idle');
  assert.equal(t.requests.length, 4);
  const told = t.requests[3]?.messages.at(-1);
  assert.match(told?.role === 'steering' ? told.text : '', /^The user applied p1 .*\nThe user applied p2 /);
});

test('an extension that resolves is named as such', async () => {
  const t = await awaitingReview([{ text: 'Thanks.' }, { text: 'Thanks.' }]);
  await t.invoker.resolve({ id: 'p1', action: 'discard', reason: 'policy', actor: 'extension' });
  await t.untilState('awaitingReview');
  assert.match(t.steering().at(-1)?.text ?? '', /^Another extension discarded p1 .*Reason: "policy"$/m);
  await t.invoker.resolve({ id: 'p2', action: 'apply', reason: 'policy', actor: 'extension' });
  await t.untilState('idle');
  assert.match(t.steering().at(-1)?.text ?? '', /^Another extension applied p2/m);
});

test('the model goes on at once with what it can go on with: a discard with a reason; a plain one wakes nobody', async () => {
  const t = await awaitingReview([{ text: 'I see.' }]);
  await t.click('p1', 'discard', 'Not like this.');
  await t.untilState('awaitingReview');
  assert.match(t.steering().at(-1)?.text ?? '', /The user discarded p1 .*Reason: "Not like this\."/);
  const told = t.steering().length;
  await t.click('p2', 'discard');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.steering().length, told);

  const plain = await awaitingReview([{ text: 'Thanks.' }]);
  await plain.click('p1', 'discard');
  assert.equal(plain.session.state, 'awaitingReview');
  await plain.click('p2', 'apply');
  await plain.untilState('idle');
  assert.equal(plain.steering().filter(({ kind }) => kind === 'outcome').length, 1);
});

test('a click that finds the file changed wakes the model with the outcome and a new reminder in one request', async () => {
  const t = await awaitingReview([{ text: 'I will read it again.' }, { text: 'Done.' }]);
  t.workspace.put('a.txt', 'changed by hand');
  await t.click('p1', 'apply').catch(() => undefined);
  await t.untilState('awaitingReview');
  const woken = t.requests[2]?.messages.slice(t.requests[1]?.messages.length);
  const told = woken?.flatMap(m => (m.role === 'steering' && m.previewIds.includes('p1') ? m.kind : []));
  assert.deepEqual(told, ['outcome', 'resolve-reminder']);
  await t.click('p1', 'apply').catch(() => undefined);
  await t.untilState('awaitingReview');
  const again = t.requests[3]?.messages.slice(t.requests[2]?.messages.length);
  assert.deepEqual(
    again?.flatMap(m => (m.role === 'steering' && m.previewIds.includes('p1') ? m.kind : [])),
    ['outcome', 'resolve-reminder'],
    'also when it was stale before',
  );
});

test('a failed click is told too, and the review continues', async () => {
  const t = await awaitingReview([{ text: 'Thanks.' }]);
  t.workspace.failWrite(1);
  await assert.rejects(t.click('p1', 'apply'));
  assert.equal(t.session.state, 'awaitingReview');
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  await t.untilState('idle');
  const told =
    t
      .steering()
      .findLast(({ kind }) => kind === 'outcome')
      ?.text.split('\n') ?? [];
  assert.match(
    told[0] ?? '',
    /^The user tried to apply p1 .*, which failed, so it was not applied: a\.txt could not be written/,
  );
  assert.deepEqual(told.slice(1), [
    'The user applied p1 (Rewrite a.txt).',
    'The user applied p2 (Rewrite b.txt).',
  ]);
});

test('with continueAfterReview off the outcomes wait for the next prompt', async () => {
  const t = await awaitingReview([{ text: 'I see.' }], { settings: { continueAfterReview: false } });
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.requests.length, 2);
  await t.session.prompt('What now?');
  assert.deepEqual(
    t.requests[2]?.messages.slice(-2).map(message => message.role),
    ['steering', 'user'],
  );
  t.assertSound();
});

test('a prompt in the middle of a review is sent with the outcomes so far; the rest stays pending', async () => {
  const t = await awaitingReview([{ text: 'Go on.' }]);
  await t.click('p1', 'apply');
  await t.session.prompt('And the other?');
  assert.match(t.steering().at(-1)?.text ?? '', /^The user applied p1 /);
  assert.equal(t.store.get('p2')?.state.kind, 'pending');
  assert.equal(t.session.state, 'awaitingReview');
  t.assertSound();
});

test('after a newer prompt the session does not continue by itself when the older previews are resolved', async () => {
  const t = await awaitingReview([{ text: 'Fine.' }]);
  await t.session.prompt('Something else.');
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.requests.length, 3);
});

test('after Stop the session does not continue by itself', async () => {
  const t = await awaitingReview([]);
  t.session.stop();
  assert.equal(t.session.state, 'idle');
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.requests.length, 2);
});

test('after the end of the review as a whole the session does not continue by itself; the outcomes wait', async () => {
  const t = await awaitingReview([{ text: 'ok' }]);
  t.session.endReview();
  await t.click('p1', 'discard');
  await t.click('p2', 'discard');
  assert.equal(t.requests.length, 2);
  await t.session.prompt('Again.');
  assert.match(t.steering().at(-1)?.text ?? '', /discarded p1[\s\S]*discarded p2/);
});

test('after a reload the session does not continue by itself; it knows its previews and tells their outcomes', async () => {
  const before = await awaitingReview([]);
  before.session.dispose();
  const t = createTestSession({
    workspace: before.workspace,
    log: before.log,
    sessionLog: before.sessionLog,
    settings: { modelAuthority: 'recommend', forcing: 'off' },
    script: [{ text: 'ok' }],
  });
  assert.equal(t.session.id, before.session.id);
  assert.deepEqual(t.session.messages, before.session.messages);
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.requests.length, 0, 'nothing is sent by itself');
  await t.session.prompt('What now?');
  assert.match(t.steering().at(-1)?.text ?? '', /^The user applied p1 .*\nThe user applied p2 /);
  t.assertSound();
});

test('a session that was interrupted in a turn comes back idle with a valid history, and says so', async () => {
  const before = createTestSession({ files, script: [{ hang: true }] });
  void before.session.prompt('Read.');
  assert.equal(before.session.state, 'running');
  const t = createTestSession({
    files,
    sessionLog: before.sessionLog,
    script: [{ text: 'ok' }],
  });
  assert.equal(t.session.state, 'idle');
  assert.equal(t.requests.length, 0);
  assert.match(t.steering()[0]?.text ?? '', /interrupted/);
  await t.session.prompt('Again.');
  t.assertSound();
  before.session.stop();
});

test('what is resolved while the model still talks is told right after, in the same run', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend', forcing: 'off' },
    script: [
      stageBoth,
      async () => {
        await t.click('p1', 'apply');
        await t.click('p2', 'apply');
        return { text: 'Please review.' };
      },
      { text: 'Thanks.' },
    ],
  });
  await t.session.prompt('Write both.');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.answers().at(-1)?.text, 'Thanks.');
  t.assertSound();
});

test('a click at any moment around the end of the run is told, and the session continues exactly once', async () => {
  for (let ticks = 0; ticks < 12; ticks++) {
    const t = createTestSession({
      settings: { modelAuthority: 'recommend', forcing: 'off' },
      script: [{ text: 'Please review.' }, { text: 'Thanks.' }],
    });
    let clicked: Promise<unknown> | undefined;
    t.session.onDidEmit(event => {
      if (event.type !== 'turn_start' || clicked) return;
      t.stage({ label: 'Opaque', apply: () => Promise.resolve(textResult('done')) });
      clicked = (async () => {
        await t.nextEvent(({ type }) => type === 'turn_end');
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        await t.click('p1', 'apply');
      })();
    });
    await t.session.prompt('Go.');
    await clicked;
    await t.untilState('idle');
    assert.equal(t.requests.length, 2, `after ${ticks} ticks`);
    assert.equal(t.steering().filter(({ kind }) => kind === 'outcome').length, 1);
    t.assertSound();
  }
});

test('previews of other origins do not concern the session', async () => {
  const t = await awaitingReview([{ text: 'Thanks.' }]);
  const { preview } = t.store.stage({
    label: 'foreign',
    sourceToolName: 'x',
    kind: 'files',
    changes: [],
    dependsOn: [],
    origin: null,
    stagedAt: '2026-01-01T00:00:00.000Z',
  });
  await t.click(preview.id, 'discard');
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  await t.untilState('idle');
  assert.ok(!t.steering().some(({ text }) => text.includes('foreign')));
});

test('the review of a new session does not include previews of the old one', async () => {
  const t = await awaitingReview([{ text: 'Hello.' }]);
  await t.session.new();
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.requests.length, 2);
  await t.session.prompt('Hi.');
  assert.deepEqual(t.steering(), []);
});

test('previews that the user asked for are not forced or reminded of, but their outcome is told', async () => {
  const t = createTestSession({ files, script: [{ text: 'Hello.' }, { text: 'I see.' }] });
  const { preview } = t.session.stageForUser({
    label: 'Undo',
    sourceToolName: 'x',
    apply: () => Promise.resolve(textResult('undone')),
  });
  await t.session.prompt('Hi.');
  assert.equal(t.requests[0]?.toolChoice, undefined);
  assert.deepEqual(t.steering(), []);
  await t.click(preview.id, 'apply');
  await t.untilState('idle');
  await t.session.prompt('And?');
  assert.match(t.steering().at(-1)?.text ?? '', /^The user applied p1 \(Undo\)/);
});

/** Turns in which the model stages the two files and recommends both, with its closing words. */
const recommended: readonly ScriptedTurn[] = [
  stageBoth,
  {
    text: 'Done.',
    toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'ok', ids: ['p1', 'p2'] } }],
  },
];

async function recommendedBoth(after: readonly ScriptedTurn[], before: readonly ScriptedTurn[] = []) {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend', forcing: 'auto' },
    script: [...before, ...recommended, ...after],
  });
  await t.session.prompt('Write both.');
  assert.equal(t.session.state, 'awaitingReview');
  return t;
}

test('a model that has left nothing to do is not woken by an Apply of all that it recommended', async () => {
  const t = await recommendedBoth([{ text: 'I see.' }]);
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  assert.equal(t.session.state, 'idle');
  assert.equal(t.requests.length, 2);
  await t.session.prompt('Thank you.');
  assert.match(t.steering().at(-1)?.text ?? '', /^The user applied p1 .*\nThe user applied p2 /);
  t.assertSound();
});

for (const modelAuthority of ['recommend', 'apply'] as const)
  for (const [action, reason] of [
    ['apply'],
    ['discard'],
    ['apply', 'Well done.'],
    ['discard', 'Not like this.'],
  ] as const)
    test(`${modelAuthority}: a click (${action}, ${reason ?? 'no reason'}) that crosses the vote is told once, by its result, and brings a request only with a reason`, async () => {
      const votes = recommended[1] ?? {};
      for (const isAsked of [false, true]) {
        const crossing = async (): Promise<ScriptedTurn> => {
          await t.click('p1', action, reason);
          await t.click('p2', action, reason);
          return { ...votes, text: isAsked ? '' : 'Done.' };
        };
        const t = createTestSession({
          files,
          settings: { modelAuthority, forcing: 'auto' },
          script: [
            stageBoth,
            ...(isAsked ? [{ text: 'Done.' }] : []),
            crossing,
            { text: 'I see.' },
            { text: 'ok' },
          ],
        });
        await t.session.prompt('Write both.');
        assert.equal(t.session.state, 'idle');
        assert.equal(t.requests.length, 2 + (isAsked ? 1 : 0) + (reason ? 1 : 0));
        assert.match(t.results().at(-1)?.content ?? '', /^p1 .* was already resolved by the user.*\np2 /);
        await t.session.prompt('And now?');
        assert.ok(!t.steering().some(({ kind }) => kind === 'outcome'));
        t.assertSound();
      }
    });

test('a click that crossed the vote is not told again after a reload, unless a revert has left its result', async () => {
  const settings = { modelAuthority: 'recommend', forcing: 'auto' } as const;
  const t = createTestSession({
    files,
    settings,
    script: [
      stageBoth,
      async () => {
        await t.click('p1', 'apply');
        return recommended[1] ?? {};
      },
    ],
  });
  await t.session.prompt('Write both.');
  await t.session.close(Promise.resolve());
  const { workspace, log, sessionLog } = t;
  const script = [{ text: 'ok' }, { text: 'ok' }];
  const after = createTestSession({ workspace, log, sessionLog, settings, script });
  await after.click('p2', 'apply');
  await after.session.prompt('And now?');
  const told = (): readonly string[] =>
    after.steering().flatMap(({ kind, text }) => (kind === 'outcome' ? text : []));
  assert.match(told().join('\n'), /^The user applied p2 [^\n]*$/);

  const staged = after.session.tree.trunk[3] ?? null;
  await after.session.revert({ target: staged, category: null, summary: null });
  await after.session.prompt('And here?');
  assert.match(told().join('\n'), /^The user applied p1 [^\n]*\nThe user applied p2 [^\n]*$/);
  assert.deepEqual(after.provider.violations, []);
});

test('what the closing vote names, although the model knows its outcome, brings no request', async () => {
  const [, closing = {}] = recommended;
  const early = { name: 'resolve', arguments: { action: 'apply', reason: 'ok', id: 'p1' } };
  for (const modelAuthority of ['recommend', 'apply'] as const)
    for (const actor of ['model', 'human'] as const) {
      const t = createTestSession({
        files,
        settings: { modelAuthority, forcing: 'auto' },
        script: [
          stageBoth,
          async () => {
            if (actor === 'human') await t.click('p1', 'discard', 'Not like this.');
            const read = { name: 'read_file', arguments: { path: 'a.txt' } };
            return { toolCalls: [actor === 'human' ? read : early] };
          },
          closing,
          { text: 'I see.' },
        ],
      });
      await t.session.prompt('Write both.');
      assert.equal(t.requests.length, 3, `${modelAuthority}, ${actor}`);
      t.assertSound();
    }
});

for (const modelAuthority of ['recommend', 'apply'] as const)
  test(`${modelAuthority}: a discard that meets what the user has applied meanwhile is answered`, async () => {
    for (const isAsked of [false, true]) {
      const discard = { action: 'discard', reason: 'It breaks b.', ids: ['p1', 'p2'] };
      const t = createTestSession({
        files,
        settings: { modelAuthority, forcing: 'auto' },
        script: [
          stageBoth,
          ...(isAsked ? [{ text: 'Done.' }] : []),
          async () => {
            await t.click('p1', 'apply');
            return { text: 'It is wrong.', toolCalls: [{ name: 'resolve', arguments: discard }] };
          },
          { text: 'I mend it.' },
        ],
      });
      await t.session.prompt('Write both.');
      assert.equal(t.answers().at(-1)?.text, 'I mend it.');
      assert.match(t.results().at(-1)?.content ?? '', /^p1 .* was already resolved by the user: applied\./);
      t.assertSound();
    }
  });

for (const how of ['an edit', 'a conflict'] as const)
  for (const modelAuthority of ['recommend', 'apply'] as const)
    test(`${modelAuthority}: ${how} by the user that crosses the closing vote is answered, though another preview waits`, async () => {
      const write = { name: 'write_file', arguments: { path: '.vscode/c.txt', content: 'c' } };
      const t = createTestSession({
        files,
        settings: { modelAuthority, forcing: 'auto' },
        script: [
          { toolCalls: [...(stageBoth.toolCalls ?? []), write] },
          async () => {
            if (how === 'an edit')
              await t.store.revise('p1', [modify('a.txt', 'a', 'edited')], [], 'user', '-A\n+edited');
            else t.workspace.put('a.txt', 'theirs');
            await t.click('p1', 'apply').catch(() => undefined);
            const ids = ['p1', 'p2', 'p3'];
            const vote = { name: 'resolve', arguments: { action: 'apply', reason: 'ok', ids } };
            return { text: 'Done.', toolCalls: [vote] };
          },
          { text: 'I see.' },
          { text: 'Done.' },
        ],
      });
      await t.session.prompt('Write them.');
      assert.equal(t.answers()[2]?.text, 'I see.');
      assert.match(
        JSON.stringify(t.requests[2]?.messages),
        how === 'an edit' ? /\+edited/ : /p1 [^"]*changed since|a\.txt[^"]*changed/,
      );
      t.assertSound();
    });

test('after a click that crosses the vote, an apply of what the user has edited is told, and wakes the model', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend', forcing: 'auto' },
    script: [
      stageBoth,
      async () => {
        await t.click('p1', 'apply');
        await t.store.revise('p2', [modify('b.txt', 'b', 'edited')], [], 'user');
        await t.click('p2', 'apply');
        return recommended[1] ?? {};
      },
      { text: 'I see.' },
    ],
  });
  await t.session.prompt('Write both.');
  assert.equal(t.requests.length, 3);
  assert.match(t.steering().at(-1)?.text ?? '', /^The user applied p2 /);
  t.assertSound();
});

test('an Apply of what the user has edited among the last wakes it; a refusal without a reason does not', async () => {
  const t = await recommendedBoth([{ text: 'I see.' }]);
  await t.click('p1', 'apply');
  await t.store.revise('p2', [modify('b.txt', 'b', 'edited')], [], 'user');
  await t.click('p2', 'apply');
  await t.untilState('idle');
  assert.equal(t.requests.length, 3);

  for (const first of ['apply', 'discard'] as const) {
    const plain = await recommendedBoth([{ text: 'I see.' }]);
    await plain.click('p1', first);
    await plain.click('p2', 'discard');
    assert.equal(plain.session.state, 'idle');
    assert.equal(plain.requests.length, 2);
    await plain.session.prompt('And now?');
    assert.match(plain.steering().at(-1)?.text ?? '', /The user discarded p2 .*This is the user's decision/);
  }
});

test('a model whose list says that it goes on after the apply is woken by a plain one', async () => {
  const todo = (state: string): ScriptedTurn => ({
    toolCalls: [{ name: 'todo', arguments: { items: [{ text: 'Then rename it', state }] } }],
  });
  for (const [state, requests] of [
    ['open', 4],
    ['done', 3],
  ] as const) {
    const t = await recommendedBoth([{ text: 'Renamed.' }], [todo(state)]);
    await t.click('p1', 'apply');
    await t.click('p2', 'apply');
    await t.untilState('idle');
    assert.equal(t.requests.length, requests, state);
    assert.match(t.requests[0]?.system ?? '', /open todo steps wake you after an apply\./);
  }
});

for (const ends of ['prompt', 'stop'] as const)
  test(`a model that votes again after the review was ended (${ends}), and has open steps, is woken by the apply`, async () => {
    const open = { name: 'todo', arguments: { items: [{ text: 'Then rename it', state: 'open' }] } };
    const [, votes = {}] = recommended;
    const t = await recommendedBoth([votes, { text: 'Renamed.' }], [{ toolCalls: [open] }]);
    if (ends === 'stop') t.session.stop();
    await t.session.prompt('Are you sure?');
    await t.click('p1', 'apply');
    await t.click('p2', 'apply');
    await t.untilState('idle');
    assert.equal(t.answers().at(-1)?.text, 'Renamed.');
    t.assertSound();
  });

for (const modelAuthority of ['recommend', 'checked', 'apply'] as const)
  test(`${modelAuthority}: a vote to apply what has become stale is refused, and nothing else says that it is stale`, async () => {
    const vote = { name: 'resolve', arguments: { action: 'apply', reason: 'ok', id: 'p1' } };
    const t = createTestSession({
      files,
      settings: { modelAuthority, forcing: 'auto' },
      script: [
        stageBoth,
        async () => {
          t.workspace.put('a.txt', 'other');
          await t.store.markStale('p1', ['a.txt']);
          return { toolCalls: [vote] };
        },
        {
          toolCalls: [
            {
              ...vote,
              arguments: { ...vote.arguments, action: 'discard', id: undefined, ids: ['p1', 'p2'] },
            },
          ],
        },
        { text: 'Discarded.' },
      ],
    });
    await t.session.prompt('Write both.');
    assert.match(
      t.results()[2]?.content ?? '',
      /^Nothing was written: a\.txt changed after the preview was made\./,
    );
    const said = JSON.stringify(t.requests[2]?.messages.slice(-3));
    assert.equal(said.split('changed after the preview was made').length, 2, said);
    assert.doesNotMatch(said, /recorded|kept/);
    t.assertSound();
    const next = createTestSession({
      workspace: t.workspace,
      log: t.log,
      sessionLog: t.sessionLog,
      script: [{ text: 'ok' }],
    });
    await next.session.prompt('And now?');
    assert.doesNotMatch(next.steering().at(-1)?.text ?? '', /stale/);
  });

test('of what becomes stale after the vote, the model is told that it was after the vote', async () => {
  const t = await recommendedBoth([{ text: 'I see.' }]);
  t.workspace.put('a.txt', 'other');
  await t.store.markStale('p1', ['a.txt']);
  await t.untilState('awaitingReview');
  assert.match(
    t.steering().at(-1)?.text ?? '',
    /^p1 .* has become stale since your vote and cannot be applied as it is: /,
  );
});

test('a model that has said more after its vote is woken by a plain apply', async () => {
  const vote = { name: 'resolve', arguments: { action: 'apply', reason: 'ok', ids: ['p1', 'p2'] } };
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'recommend', forcing: 'auto' },
    script: [stageBoth, { toolCalls: [vote] }, { text: 'Then I go on.' }, { text: 'I go on.' }],
  });
  await t.session.prompt('Write both.');
  assert.equal(t.requests.length, 3);
  await t.click('p1', 'apply');
  await t.click('p2', 'apply');
  await t.untilState('idle');
  assert.equal(t.requests.length, 4);
});

const act = (ids: string): ScriptedTurn => ({ text: `About ${ids}.` });

test('a reason wakes the model after a newer prompt, and after a reload; opening it sends nothing', async () => {
  const t = await recommendedBoth([act('else'), act('p1')]);
  await t.session.prompt('Something else.');
  await t.click('p1', 'discard', 'Not like this.');
  await t.untilState('awaitingReview');
  assert.equal(t.requests.length, 4);

  t.session.dispose();
  const after = createTestSession({
    workspace: t.workspace,
    log: t.log,
    sessionLog: t.sessionLog,
    settings: { modelAuthority: 'recommend', forcing: 'auto' },
    script: [act('p2')],
  });
  assert.equal(after.session.state, 'awaitingReview');
  assert.equal(after.requests.length, 0);
  after.workspace.put('b.txt', 'changed by another program');
  await after.store.markStale('p2', ['b.txt']);
  assert.equal(after.requests.length, 0, 'what is found out by itself sends nothing');
  await after.click('p2', 'discard', 'Nor this.');
  await after.untilState('idle');
  assert.match(after.steering().at(-1)?.text ?? '', /discarded p2 .*Reason: "Nor this\."/);
  assert.equal(after.requests.length, 1);
});

for (const isReloaded of [false, true])
  test(`a reason wakes the model after a request that failed${isReloaded ? ', after a reload too' : ''}; a stop wins`, async () => {
    const settings = { modelAuthority: 'recommend', forcing: 'off' } as const;
    const script = [stageBoth, { error: { code: 'server' } }, act('p1')] satisfies ScriptedTurn[];
    let t = createTestSession({ files, settings, script });
    await t.session.prompt('Write both.');
    assert.equal(t.session.state, 'awaitingReview');
    if (isReloaded) {
      const { workspace, log, sessionLog } = t;
      t.session.dispose();
      t = createTestSession({ workspace, log, sessionLog, settings, script: [act('p1')] });
    }
    const before = t.requests.length;
    await t.click('p1', 'discard', 'Not like this.');
    await t.untilState('awaitingReview');
    assert.equal(t.requests.length, before + 1);
    assert.equal(t.answers().at(-1)?.text, 'About p1.');
    t.session.stop();
    await t.click('p2', 'discard', 'Nor this.');
    assert.equal(t.requests.length, before + 1);
    t.assertSound();
  });

test('a command that the user runs after a newer prompt wakes the model with its result', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'recommend', forcing: 'off' },
    script: [{ text: 'Run it.' }, { text: 'Hello.' }, { text: 'It ran.' }],
  });
  let staged = false;
  t.session.onDidEmit(event => {
    if (event.type !== 'turn_start' || staged) return;
    staged = true;
    t.stage({ label: 'Command', apply: () => Promise.resolve(textResult('42')) });
  });
  await t.session.prompt('Go.');
  await t.session.prompt('Something else.');
  await t.click('p1', 'apply');
  await t.untilState('idle');
  assert.equal(t.answers().at(-1)?.text, 'It ran.');
});

test('the model’s own discard that ends after its conversation was left and opened again sends nothing', async () => {
  const discard = { name: 'resolve', arguments: { action: 'discard', reason: 'r', id: 'p1' } };
  const t = createTestSession({
    settings: { modelAuthority: 'apply', forcing: 'auto' },
    script: [{ toolCalls: [discard] }],
  });
  const rejecting = Promise.withResolvers<undefined>();
  const isDiscarding = Promise.withResolvers<undefined>();
  t.stage({
    label: 'Command',
    apply: () => Promise.resolve(textResult('42')),
    reject: async () => {
      isDiscarding.resolve(undefined);
      await rejecting.promise;
    },
  });
  t.stage({ label: 'Another command', apply: () => Promise.resolve(textResult('43')) });
  const { id } = t.session;
  const ended = t.session.prompt('Go.');
  await isDiscarding.promise;
  await t.session.new();
  await ended;
  await t.session.open(t.sessionLog.stored(id) ?? assert.fail('stored'));
  assert.equal(t.session.state, 'awaitingReview');
  const { length } = t.requests;
  rejecting.resolve(undefined);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  assert.equal(t.store.get('p1')?.state.kind, 'discarded');
  assert.equal(t.session.state, 'awaitingReview');
  assert.equal(t.requests.length, length);
});

test('Stop and Discard All win, after a reload too', async () => {
  for (const end of ['stop', 'endReview'] as const) {
    const t = await recommendedBoth([]);
    t.session[end]();
    await t.session.close(Promise.resolve());
    const after = createTestSession({
      workspace: t.workspace,
      log: t.log,
      sessionLog: t.sessionLog,
      settings: { modelAuthority: 'recommend', forcing: 'auto' },
    });
    assert.equal(after.session.state, 'idle');
    await after.click('p1', 'discard', 'Not like this.');
    assert.equal(after.requests.length, 0, end);
  }
});
