import { test } from 'node:test';
import assert from 'node:assert/strict';
import { silentLogger } from '../../../src/agent/base/logger.ts';
import { Rebaser } from '../../../src/agent/hold/preview/rebase/rebaser.ts';
import { resolvePart } from '../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { nameOf } from '../../../src/agent/hold/preview/preview.ts';
import { commitText } from '../../../src/agent/hold/preview/commitText.ts';
import { modify, textIn } from '../../support/changes.ts';
import type { Script, ScriptedTurn } from '../../support/scriptedProvider.ts';
import {
  createTestSession,
  restoredStore,
  type TestSession,
  type TestSessionOptions,
} from '../../support/testSession.ts';

const TEXT = `one\n${'-\n'.repeat(12)}two\n`;
const edit = (old: string, now: string, more: object = {}) => ({
  name: 'edit_file',
  arguments: { path: 'a.txt', edits: [{ old, new: now }], ...more },
});
const amend = (old: string, now: string, id = 'p1') => edit(old, now, { amend: id });
const calls = (...toolCalls: { name: string; arguments: object }[]): ScriptedTurn => ({ toolCalls });
const ok: ScriptedTurn = { text: 'ok' };
const vote = (action: 'apply' | 'discard', id = 'p1') => ({
  name: 'resolve',
  arguments: { action, reason: 'r', id },
});

/** In Review, without forcing, with a file whose first and last line are far apart. */
function sessionOf(script: Script, over: TestSessionOptions = {}): TestSession {
  return createTestSession({
    files: { 'a.txt': TEXT, 'b.txt': 'b\n' },
    script,
    ...over,
    settings: { modelAuthority: 'recommend', forcing: 'off', ...over.settings },
  });
}

const proposed = (t: TestSession, id = 'p1'): string | undefined =>
  textIn(t.store.get(id)?.changes?.[0]?.after ?? null);
const results = (t: TestSession): readonly string[] => t.results().map(({ content }) => content);

/** A session that has staged p1, with what is done before the model amends it in a second prompt. */
async function amendedAfter(
  between: (t: TestSession) => unknown,
  how: ScriptedTurn = calls(amend('ONE', 'Uno')),
): Promise<TestSession> {
  const t = sessionOf([calls(edit('one', 'ONE')), ok, how, ok], { settings: { continueAfterReview: false } });
  await t.session.prompt('Stage.');
  await between(t);
  await t.session.prompt('Amend.');
  return t;
}

test('Manual: an amendment says who reviews it, and nothing of a vote', async () => {
  const t = sessionOf([calls(edit('one', 'ONE')), calls(amend('ONE', 'Uno')), ok], {
    settings: { modelAuthority: 'none' },
  });
  await t.session.prompt('Stage.');
  assert.match(
    results(t)[1] ?? '',
    /^p1 is now at revision 2, no file modified yet\. The user reviews it\.\n/,
  );
  assert.doesNotMatch(results(t)[1] ?? '', /vote/);
});

test('an amendment of a new file shows its edits', async () => {
  const content = Array.from({ length: 200 }, (_, n) => `line ${n}\n`).join('');
  const t = sessionOf([
    calls({ name: 'write_file', arguments: { path: 'n.txt', content } }),
    calls({
      name: 'edit_file',
      arguments: { path: 'n.txt', edits: [{ old: 'line 150', new: 'last' }], amend: 'p1' },
    }),
    ok,
  ]);
  await t.session.prompt('Write.');
  assert.match(results(t)[1] ?? '', /\nn\.txt: a new file\.\n-151:line 150\n\+151:last$/);
});

test('an amendment is a new revision of the same preview, and the result shows its whole diff', async () => {
  const t = await amendedAfter(() => undefined);
  assert.deepEqual([t.store.open.size, t.store.get('p1')?.revision], [1, 2]);
  assert.equal(proposed(t), TEXT.replace('one', 'Uno'));
  assert.match(
    results(t).at(-1) ?? '',
    /^p1 is now at revision 2, no file modified yet\.\na\.txt: 1 line added, 1 removed\.\n@@ [^\n]*\n-one\n\+Uno$/,
  );
  assert.deepEqual(t.results().at(-1)?.pending, ['p1']);
  await t.click('p1', 'apply');
  assert.equal(t.workspace.text('a.txt'), TEXT.replace('one', 'Uno'));
  t.assertSound();
});

test('an amendment of a preview on which the model has voted says that the vote no longer counts', async () => {
  const t = await amendedAfter(store => store.store.recommend('p1', { action: 'apply', reason: 'r' }));
  assert.match(
    results(t).at(-1) ?? '',
    /^p1 is now at revision 2, no file modified yet\. Your earlier vote on it no longer counts\.\n/,
  );
});

test('the title that the model gives with an amendment is that of the preview, also after a reload', async () => {
  const titled = { ...amend('two', 'TWO').arguments, title: 'Shout\n twice' };
  const t = await amendedAfter(() => undefined, calls({ name: 'edit_file', arguments: titled }));
  assert.equal(t.store.get('p1')?.title, 'Shout twice');
  const restored = restoredStore(t.log).get('p1');
  assert.equal(restored?.title, 'Shout twice');
  assert.equal(restored && nameOf(restored), 'p1 (Shout twice)');
});

test('the label of an amended preview counts the edits that it has now', async () => {
  const t = await amendedAfter(() => undefined, calls(amend('two', 'TWO')));
  assert.equal(t.store.get('p1')?.label, 'Edit a.txt (2 edits)');
  assert.match(results(t).at(-1) ?? '', /^p1 is now at revision 2/);
  await t.click('p1', 'apply');
  assert.equal(t.workspace.text('a.txt'), TEXT.replace('one', 'ONE').replace('two', 'TWO'));
});

test('the label counts what the user typed, too', async () => {
  const t = await amendedAfter(({ store }) => {
    const text = TEXT.replace('one', 'ONE').replace('two', 'Zwei');
    return commitText(store, { previewId: 'p1', path: 'a.txt', text, base: undefined });
  }, ok);
  assert.equal(t.store.get('p1')?.label, 'Edit a.txt (2 edits)');
});

test('a vote before the amendment does not count for it, and the model is asked again', async () => {
  const t = sessionOf(
    [calls(edit('one', 'ONE')), calls(vote('apply'), amend('ONE', 'Uno')), calls(vote('apply')), ok],
    { settings: { forcing: 'forced' } },
  );
  await t.session.prompt('Go.');
  const state = t.store.get('p1')?.state;
  assert.equal(state?.kind === 'pending' && state.recommendation?.action, 'apply');
  assert.deepEqual(
    t.requests.map(({ toolChoice }) => toolChoice !== undefined),
    [false, true, true, false],
  );
});

for (const modelAuthority of ['recommend', 'apply'] as const)
  for (const forcing of ['auto', 'forced', 'always', 'off'] as const)
    test(`${modelAuthority}, ${forcing}: a vote after the amendment in one message is for the amended preview`, async () => {
      const t = sessionOf([calls(edit('one', 'ONE')), calls(amend('ONE', 'Uno'), vote('apply')), ok], {
        settings: { modelAuthority, forcing },
      });
      await t.session.prompt('Go.');
      const state = t.store.get('p1')?.state;
      if (modelAuthority === 'apply') assert.equal(t.workspace.text('a.txt'), TEXT.replace('one', 'Uno'));
      else assert.equal(state?.kind === 'pending' && state.recommendation?.action, 'apply');
      assert.doesNotMatch(results(t).join('\n'), /Nothing was changed/);
      assert.equal(t.requests.length, 3);
      const asked = t.requests[2]?.messages.slice(-3).filter(({ role }) => role === 'steering');
      assert.deepEqual(asked, [], 'it is not asked once more');
      t.assertSound();
    });

test('an amendment beside a vote on everything, with closing words, ends the turn', async () => {
  const both = { name: 'resolve', arguments: { action: 'apply', reason: 'r', ids: ['p1', 'p2'] } };
  const b = { name: 'write_file', arguments: { path: 'b.txt', content: 'B\n' } };
  const t = sessionOf(
    [calls(edit('one', 'ONE'), b), { text: 'Both are done.', ...calls(amend('ONE', 'Uno'), both) }],
    { settings: { modelAuthority: 'apply', forcing: 'auto' } },
  );
  await t.session.prompt('Go.');
  assert.equal(t.workspace.text('a.txt'), TEXT.replace('one', 'Uno'));
  assert.equal(t.workspace.text('b.txt'), 'B\n');
  assert.equal(t.requests.length, 2);
});

test('after an amendment that failed, an apply in the same message does not land what was to be amended', async () => {
  for (const wrong of [amend('none', 'Uno'), { name: 'edit_file', arguments: { path: 'a.txt', amend: 1 } }]) {
    const t = sessionOf([calls(edit('one', 'ONE')), calls(wrong, vote('apply')), calls(vote('apply')), ok], {
      settings: { modelAuthority: 'apply', forcing: 'auto' },
    });
    t.session.onDidEmit(event => {
      if (event.type === 'turn_end' && t.requests.length === 2) assert.equal(t.workspace.text('a.txt'), TEXT);
    });
    await t.session.prompt('Go.');
    assert.match(results(t)[2] ?? '', /^p1 \(.*\) could not be amended, so this vote does not count/);
    assert.equal(
      t.workspace.text('a.txt'),
      TEXT.replace('one', 'ONE'),
      'it may be applied as it is after that',
    );
  }
});

test('after an amendment that failed and one that did not, an apply is for the amended preview', async () => {
  const t = sessionOf(
    [calls(edit('one', 'ONE')), calls(amend('none', 'Uno'), amend('ONE', 'Uno'), vote('apply')), ok],
    { settings: { modelAuthority: 'apply' } },
  );
  await t.session.prompt('Go.');
  assert.equal(t.workspace.text('a.txt'), TEXT.replace('one', 'Uno'));
});

test('several amendments in one message follow each other', async () => {
  const t = await amendedAfter(() => undefined, calls(amend('ONE', 'Uno'), amend('two', 'Due')));
  assert.equal(t.store.get('p1')?.revision, 3);
  assert.equal(proposed(t), TEXT.replace('one', 'Uno').replace('two', 'Due'));
});

test('what builds on an amended preview is rebased onto it, or stale if it cannot be, and the model is told', async () => {
  for (const [old, now] of [
    ['two', 'Due'],
    ['ONE', 'Uno'],
  ] as const) {
    const t = sessionOf([
      calls(edit('one', 'ONE')),
      calls(edit('ONE', 'ONE!')),
      calls(amend(old, now)),
      ok,
      ok,
    ]);
    const rebaser = new Rebaser({ store: t.store, workspace: t.workspace, logger: silentLogger });
    await t.session.prompt('Go.');
    await rebaser.refresh([]);
    rebaser.dispose();
    assert.match(
      results(t)[2] ?? '',
      /no file modified yet\. p2, which builds on it, is rebased or stale now\./,
    );
    await t.session.prompt('And?');
    const told = t.steering().filter(({ kind }) => kind === 'revision');
    if (old === 'two') {
      assert.equal(proposed(t, 'p2'), TEXT.replace('one', 'ONE!').replace('two', 'Due'));
      assert.match(told.at(-1)?.text ?? '', /^p2 \(.*\) was rebased onto the current file/);
    } else
      assert.match(
        told.at(-1)?.text ?? '',
        /^p2 \(.*\) is stale and cannot be applied as it is: p1, on which it builds, changed or became stale\./,
      );
  }
});

const refusals: readonly [what: string, between: (t: TestSession) => unknown, text: RegExp][] = [
  [
    'was applied',
    t => t.click('p1', 'apply'),
    /^p1 \(.*\) was already resolved by the user: applied\..* stage it as a preview of its own\.$/,
  ],
  ['was discarded', t => t.click('p1', 'discard'), /^p1 \(.*\) was already resolved by the user: discarded/],
  [
    'the user edited',
    t =>
      commitText(t.store, {
        previewId: 'p1',
        path: 'a.txt',
        text: TEXT.replace('one', 'mine'),
        base: undefined,
      }),
    /^The user edited p1 \(.*\) and decides on it\./,
  ],
  [
    'is stale',
    t => t.store.markStale('p1', ['a.txt']),
    /^p1 \(.*\) is stale, so it cannot be amended\. Discard it if you may\. If the change is still needed, read a\.txt again and stage it anew\.$/,
  ],
];
for (const [what, between, text] of refusals)
  test(`a preview that ${what} is not amended, and the model is told why`, async () => {
    const t = await amendedAfter(between);
    const before = t.store.get('p1');
    assert.match(results(t).at(-1) ?? '', text);
    assert.equal(t.results().at(-1)?.isError, true);
    assert.equal(t.store.get('p1'), before);
  });

const misfits: readonly [what: string, how: ScriptedTurn, text: RegExp][] = [
  [
    'an unknown id',
    calls(amend('ONE', 'Uno', 'p9')),
    /^There is no preview p9\. Call pending to see yours\./,
  ],
  [
    'a file that it does not change',
    calls({ name: 'edit_file', arguments: { path: 'b.txt', amend: 'p1', edits: [{ old: 'b', new: 'c' }] } }),
    /^p1 \(.*\) proposes no text for b\.txt, but changes a\.txt\./,
  ],
  [
    'a text that it does not propose',
    calls(amend('one', 'Uno')),
    /^old was not found in a\.txt as p1 proposes it\./,
  ],
  [
    'the text as it was',
    calls(amend('ONE', 'one')),
    /^With this, p1 \(.*\) would change nothing\..* the preview should be discarded\.$/,
  ],
  [
    'what it already proposes',
    calls(amend('ONE', 'ONE')),
    /^Nothing to change: p1 already proposes exactly this content/,
  ],
];
for (const [what, how, text] of misfits)
  test(`amending with ${what} changes nothing, and says so`, async () => {
    const t = await amendedAfter(() => undefined, how);
    assert.match(results(t).at(-1) ?? '', text);
    assert.equal(t.store.get('p1')?.revision, 1);
  });

test('the preview of another conversation is not amended', async () => {
  const t = sessionOf([calls(edit('one', 'ONE')), ok, calls(amend('ONE', 'Uno')), ok]);
  await t.session.prompt('Stage.');
  await t.session.new();
  await t.session.prompt('Amend.');
  assert.match(results(t).at(-1) ?? '', /^p1 \(.*\) does not belong to this conversation/);
  assert.equal(t.store.get('p1')?.revision, 1);
});

test('an amendment of a revision that the model was not shown is refused', async () => {
  const script: Script = (_, n) => {
    if (n === 1)
      void t.store.revise('p1', [modify('a.txt', TEXT, TEXT.replace('one', 'ONE!'))], [], 'rebase');
    return [calls(edit('one', 'ONE')), calls(amend('ONE', 'Uno')), ok][n] ?? ok;
  };
  const t: TestSession = sessionOf(script);
  await t.session.prompt('Go.');
  assert.match(
    results(t).at(-1) ?? '',
    /^p1 \(.*\) has changed since your last request\. .*Call pending with id "p1"/,
  );
  assert.equal(t.store.get('p1')?.revision, 2);
});

test('after a part was applied, the rest is amended', async () => {
  const both = calls({
    name: 'edit_file',
    arguments: {
      path: 'a.txt',
      edits: [
        { old: 'one', new: 'ONE' },
        { old: 'two', new: 'TWO' },
      ],
    },
  });
  const t = sessionOf([both, ok, calls(amend('TWO', 'Due')), ok], {
    settings: { continueAfterReview: false },
  });
  await t.session.prompt('Stage.');
  const part = { id: 'p1', revision: 1, action: 'apply', reason: 'r', actor: 'human' } as const;
  await resolvePart(t, part, { path: 'a.txt', hunk: 0 });
  await t.session.prompt('Amend.');
  await t.click('p1', 'apply');
  assert.equal(t.workspace.text('a.txt'), TEXT.replace('one', 'ONE').replace('two', 'Due'));
});

test('what the user has typed into the proposal and not saved is merged with the amendment', async () => {
  const t = await amendedAfter(() => undefined);
  const base = TEXT.replace('one', 'ONE');
  await commitText(t.store, { previewId: 'p1', path: 'a.txt', base, text: base.replace('two', 'typed') });
  assert.equal(proposed(t), TEXT.replace('one', 'Uno').replace('two', 'typed'));
});

test('an amendment on a branch that was left is told; one whose result the model sees is not', async () => {
  const t = await amendedAfter(() => undefined);
  const told = (): readonly string[] =>
    t
      .steering()
      .filter(({ kind }) => kind === 'revision')
      .map(({ text }) => text);
  assert.deepEqual(told(), []);
  const [, , answer] = t.session.tree.trunk;
  assert.ok(answer !== undefined);
  await t.session.revert({ target: t.session.tree.trunk[3] ?? null, category: null, summary: null });
  await t.session.prompt('And?');
  assert.deepEqual(
    told().map(text => text.replace(/ \(.*?\)\)/, '')),
    [
      'Your last amendment of p1 was made, although you did not get its result: it is now at revision 2. Call pending with its id to see it.',
    ],
  );
});

test('an amendment survives a reload', async () => {
  const t = await amendedAfter(() => undefined);
  const { workspace, log, sessionLog, settings } = t;
  const after = createTestSession({ workspace, log, sessionLog, settings, script: [ok] });
  assert.deepEqual([after.store.get('p1')?.revision, proposed(after)], [2, TEXT.replace('one', 'Uno')]);
  await after.session.prompt('And?');
  assert.deepEqual(
    after.steering().filter(({ kind }) => kind === 'revision'),
    [],
  );
});

for (const ends of ['prompt', 'stop'] as const)
  test(`an amended preview is in review again, also after the review was ended (${ends}): a discard with a reason wakes the model`, async () => {
    const t = createTestSession({
      files: { 'a.txt': 'a' },
      settings: { forcing: 'off', modelAuthority: 'recommend' },
      script: [
        { toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'b' } }] },
        { text: 'Written.' },
        {
          toolCalls: [
            {
              name: 'edit_file',
              arguments: { path: 'a.txt', edits: [{ old: 'b', new: 'c' }], amend: 'p1' },
            },
          ],
        },
        { text: 'Amended.' },
        { text: 'I hear you.' },
      ],
    });
    await t.session.prompt('Write.');
    if (ends === 'stop') t.session.stop();
    await t.session.prompt('Make it c.');
    assert.equal(t.store.get('p1')?.revision, 2);
    const { promise: idle, resolve } = Promise.withResolvers<void>();
    t.session.onDidEmit(event => {
      if (event.type === 'state_changed' && event.state === 'idle') resolve();
    });
    await t.click('p1', 'discard', 'Neither.');
    await idle;
    assert.equal(t.answers().at(-1)?.text, 'I hear you.');
    assert.equal(t.requests.length, 5);
  });
