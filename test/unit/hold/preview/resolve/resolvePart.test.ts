import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted } from '../../../../../src/agent/hold/preview/label.ts';
import { resolvePart } from '../../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { outcomeText } from '../../../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { keepsHunks, seenPart } from '../../../../../src/agent/hold/preview/resolve/ownParts.ts';
import { linkTo, sideOfText } from '../../../../../src/agent/hold/preview/fileChange.ts';
import type { Prover } from '../../../../../src/agent/hold/preview/resolve/proof.ts';
import { modify, rename } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import { createTestSession, restoredStore, type TestSession } from '../../../../support/testSession.ts';

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const TEXT = `${LINES.join('\n')}\n`;

/** A session in which the model has proposed to change the first, the fifth and the last line of a.txt. */
async function threeHunks(): Promise<TestSession> {
  const edits = ['one', 'five', 'nine'].map(old => ({ old, new: old.toUpperCase() }));
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    files: { 'a.txt': TEXT },
    script: [{ toolCalls: [{ name: 'edit_file', arguments: { path: 'a.txt', edits } }] }, { text: 'ok' }],
  });
  await t.session.prompt('Shout.');
  return t;
}

async function vote(t: TestSession, action: 'apply' | 'discard', path: string, hunk?: number): Promise<void> {
  const revision = t.store.get('p1')?.revision ?? assert.fail();
  const request = { id: 'p1', revision, action, reason: 'r', actor: 'human' } as const;
  await resolvePart(t, request, { path, ...(hunk === undefined ? {} : { hunk }) });
}

const labels = (t: TestSession): string[] => t.store.all().map(({ id, label }) => `${id} ${label}`);

test('each hunk that is resolved alone has the number that it had in the whole, and the rest counts what is left', async () => {
  const t = await threeHunks();
  assert.deepEqual(labels(t), ['p1 Edit a.txt (3 edits)']);
  await vote(t, 'apply', 'a.txt', 1);
  await vote(t, 'discard', 'a.txt', 1);
  assert.deepEqual(labels(t), [
    'p1 Edit a.txt (1 edit)',
    'p2 Edit a.txt (1 edit), hunk 2',
    'p3 Edit a.txt (1 edit), hunk 3',
  ]);
  const titles = t.store.all().map(({ title }) => title);
  assert.deepEqual(titles, ['Edit a.txt', 'Edit a.txt, hunk 2', 'Edit a.txt, hunk 3']);
  await vote(t, 'apply', 'a.txt', 0);
  assert.deepEqual(
    t.store.ledger().map(({ previewId, label }) => `${previewId} ${label}`),
    ['p2 Edit a.txt (1 edit), hunk 2', 'p3 Edit a.txt (1 edit), hunk 3', 'p1 Edit a.txt (1 edit)'],
  );
  assert.equal(t.workspace.text('a.txt'), TEXT.replace('one', 'ONE').replace('five', 'FIVE'));
});

test('what the model recommends for a proposal stays with its parts and with what is left, also after a reload', async () => {
  const t = await threeHunks();
  await t.store.recommend('p1', {
    action: 'apply',
    reason: '`five` changes its meaning, so please look at it',
  });
  const recommended: unknown[] = [];
  t.store.onDidRevise(
    ({ part }) => part?.state.kind === 'pending' && recommended.push(part.state.recommendation),
  );
  await vote(t, 'discard', 'a.txt', 1);
  const reason = '`five` changes its meaning, so please look at it';
  const recommendation = { action: 'apply', reason, isOfWhole: true };
  assert.deepEqual(recommended, [recommendation]);
  for (const store of [t.store, restoredStore(t.log)])
    assert.deepEqual(store.get('p1')?.state, { kind: 'pending', stale: [], recommendation });
});

test('what is left of a preview that a person took apart is not written with the next vote of the model', async () => {
  const tried: string[] = [];
  const prove: Prover['prove'] = previews => {
    tried.push(previews.map(({ id, revision }) => `${id}@${revision}`).join(' '));
    return Promise.resolve({ isProved: false, why: 'failed', checks: [] });
  };
  const t = createTestSession({
    settings: { modelAuthority: 'checked' },
    files: { 'a.txt': TEXT, 'b.txt': 'b', 'c.txt': 'c' },
    prover: { prove, factsOf: () => [] },
  });
  t.stage({
    label: 'Shout',
    changes: [modify('a.txt', TEXT, TEXT.replace('one', 'ONE').replace('nine', 'NINE'))],
  });
  for (const name of ['b', 'c'])
    t.stage({ label: name, changes: [modify(`${name}.txt`, name, name + name)] });
  const byModel = (id: string): Promise<unknown> =>
    t.invoker.resolve({ id, action: 'apply', reason: 'r', actor: 'model' });
  await byModel('p1');
  await byModel('p2');
  await vote(t, 'discard', 'a.txt', 0);
  await byModel('p3');
  assert.deepEqual(tried, ['p1@1', 'p1@1 p2@1', 'p2@1', 'p2@1 p3@1', 'p3@1']);
});

test('a hunk that shares its edit with another one counts as one edit, and the title says which hunk it is', async () => {
  const edits = [{ old: 'two\nthree\nfour', new: 'TWO\nthree\nFOUR' }];
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    files: { 'a.txt': TEXT },
    script: [
      { toolCalls: [{ name: 'edit_file', arguments: { path: 'a.txt', edits, title: 'Shout' } }] },
      { text: 'ok' },
    ],
  });
  await t.session.prompt('Shout.');
  await vote(t, 'apply', 'a.txt', 0);
  assert.deepEqual(labels(t), ['p1 Edit a.txt (1 edit)', 'p2 Edit a.txt (1 edit), hunk 1']);
  assert.equal(t.store.get('p2')?.title, 'Shout: a.txt, hunk 1');
});

test('a vote on a part that is refused splits nothing', async () => {
  const t = await threeHunks();
  t.workspace.put('a.txt', TEXT.replace('two', 'changed by someone'));
  await assert.rejects(vote(t, 'apply', 'a.txt', 1));
  assert.deepEqual(labels(t), ['p1 Edit a.txt (3 edits)']);
  const state = t.store.get('p1')?.state;
  assert.deepEqual(state?.kind === 'pending' && state.stale, ['a.txt']);
});

test('a vote on a part that is refused because its file has changed leaves the other files stale', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    files: { 'a.txt': TEXT, 'b.txt': 'b' },
  });
  const shouted = TEXT.replace('one', 'ONE').replace('nine', 'NINE');
  t.stage({ label: 'Shout', changes: [modify('a.txt', TEXT, shouted), modify('b.txt', 'b', 'B')] });
  const stale = (): unknown => {
    const state = t.store.get('p1')?.state;
    return state?.kind === 'pending' && state.stale;
  };
  t.workspace.put('b.txt', 'changed by someone');
  await assert.rejects(vote(t, 'apply', 'b.txt'));
  assert.deepEqual(stale(), ['b.txt']);
  t.workspace.put('a.txt', 'changed by someone');
  await assert.rejects(vote(t, 'apply', 'a.txt', 0));
  assert.deepEqual(stale(), ['a.txt', 'b.txt']);
  await assert.rejects(vote(t, 'apply', 'a.txt', 0));
  assert.deepEqual(stale(), ['a.txt', 'b.txt']);
});

test('a vote on a part splits nothing if what it builds on gets a new revision while its files are read', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    files: { 'a.txt': 'a', 'b.txt': 'b' },
  });
  t.stage({ label: 'Below', changes: [modify('a.txt', 'a', 'A')] });
  t.store.stage(
    draft({
      label: 'Above',
      changes: [modify('a.txt', 'A', 'AA'), modify('b.txt', 'b', 'B')],
      dependsOn: ['p1'],
    }),
  );
  t.workspace.beforeRead = () => {
    t.workspace.beforeRead = undefined;
    void t.store.revise('p1', [modify('a.txt', 'a', 'A!')], [], 'user');
  };
  const request = { id: 'p2', revision: 1, action: 'apply', reason: 'r', actor: 'human' } as const;
  await assert.rejects(
    resolvePart(t, { ...request, chain: { p1: 1 } }, { path: 'b.txt' }),
    /p1 .* revision 2/,
  );
  assert.deepEqual(labels(t), ['p1 Below', 'p2 Above']);
});

test('the label of a preview counts the files that are left, in the ledger too and after a reload', async () => {
  const paths = ['a.ts', 'b.ts', 'c.ts'];
  const t = createTestSession({ settings: { modelAuthority: 'none' } });
  const changes = paths.map(path => {
    const [before, after] = [sideOfText('log(1)'), sideOfText('warn(1)')];
    return { kind: 'modify', path, before, after, edits: [{ start: 0, end: 3, text: 'warn' }] } as const;
  });
  for (const path of paths) t.workspace.put(path, 'log(1)');
  const [replacements, inFiles] = [
    { noun: 'replacement', count: 3 } as const,
    { noun: 'file', count: 3 } as const,
  ];
  t.stage({ ...counted('AST Edit: ', replacements, ' in ', inFiles), changes });
  await vote(t, 'discard', 'b.ts');
  const left = ['p1 AST Edit: 2 replacements in 2 files', 'p2 AST Edit: 1 replacement in 1 file: b.ts'];
  assert.deepEqual(labels(t), left);
  assert.deepEqual(
    restoredStore(t.log)
      .all()
      .map(({ id, label }) => `${id} ${label}`),
    left,
  );
  await t.click('p1', 'discard');
  assert.equal(t.store.ledger().at(-1)?.label, 'AST Edit: 2 replacements in 2 files');
});

test('nothing is counted in the label that someone else wrote', async () => {
  const t = createTestSession({ settings: { modelAuthority: 'none' } });
  const changes = ['a.ts', 'b.ts'].map(path => ({
    ...({ kind: 'create', path, before: null, after: sideOfText('x') } as const),
  }));
  t.stage({ label: 'Compare 2 files side by side', changes });
  await vote(t, 'discard', 'b.ts');
  assert.deepEqual(labels(t), ['p1 Compare 2 files side by side', 'p2 Compare 2 files side by side: b.ts']);
});

test('a link or a binary file is decided as a whole, and the model is told what it was', async () => {
  const t = createTestSession({ files: { 'a.txt': TEXT } });
  const before = await t.store.blobs.put(Uint8Array.of(0, 1));
  t.workspace.putWhole('i.png', Uint8Array.of(0, 1));
  t.store.stage(
    draft({
      changes: [
        { kind: 'modify', path: 'i.png', before, after: linkTo('a.txt') },
        { kind: 'create', path: 'new', before: null, after: linkTo('a.txt') },
      ],
    }),
  );
  await vote(t, 'apply', 'i.png', 0);
  assert.equal((await t.workspace.placeOf('i.png')).link, 'a.txt');
  assert.deepEqual(
    t.store.get('p1')?.changes?.map(({ path }) => path),
    ['new'],
  );
  const { part } = t.store.get('p2') ?? assert.fail();
  assert.deepEqual(part, {
    previewId: 'p1',
    hunks: 1,
    number: 1,
    revision: 1,
    patch: '--- i.png\n+++ i.png\n-a binary file, 2 bytes\n+a symbolic link to a.txt',
  });
});

test('a move that is refused alone is told with both paths, and with the preview of which it was a part', async () => {
  const t = createTestSession({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' }, script: [{ text: 'ok' }] });
  t.stage({ label: 'Both', changes: [modify('a.txt', 'a\n', 'A\n'), rename('b.txt', 'c.txt', 'b\n')] });
  await vote(t, 'discard', 'c.txt');
  const entry = t.store.ledger().at(-1) ?? assert.fail();
  const preview = t.store.get('p2') ?? assert.fail();
  assert.match(
    outcomeText(entry, { preview }),
    /^The user discarded p2 \(Both: c\.txt\), a part of p1\. This is [^]*\nThe refused part:\n```\n--- b\.txt\n\+\+\+ c\.txt\n```$/,
  );
});

test('the name of a hunk has its file, unless the name of the whole says it alone', async () => {
  const t = createTestSession({ files: { 'a.ts': TEXT, 'data.ts': TEXT }, script: [{ text: 'ok' }] });
  const shouted = TEXT.replace('one', 'ONE').replace('nine', 'NINE');
  const [a, data] = ['a.ts', 'data.ts'].map(path => modify(path, TEXT, shouted));
  for (const changes of [[a!, data!], [a!]]) t.stage({ label: 'Change a.ts, data.ts', changes });
  t.stage({ label: 'Change data.ts', changes: [a!] });
  t.stage({ label: 'Change a.ts', changes: [a!] });
  for (const { id, revision } of t.store.list('oldestFirst')) {
    const request = { id, revision, action: 'discard', reason: 'r', actor: 'human' } as const;
    await resolvePart(t, request, { path: 'a.ts', hunk: 0 });
  }
  assert.deepEqual(labels(t).slice(4), [
    'p5 Change a.ts, data.ts: a.ts, hunk 1',
    'p6 Change a.ts, data.ts: a.ts, hunk 1',
    'p7 Change data.ts: a.ts, hunk 1',
    'p8 Change a.ts, hunk 1',
  ]);
});

test('a hunk that was seen before own decisions is the same hunk after them, a decided one is decided, and an amended one outdated', async () => {
  const t = await threeHunks();
  const now = (seen: number, hunk: number): string => {
    const preview = t.store.get('p1') ?? assert.fail();
    const found = seenPart(t.store, preview, seen, { path: 'a.txt', hunk });
    return found.kind === 'same' ? `same ${found.hunk}` : found.kind;
  };
  await vote(t, 'apply', 'a.txt', 1);
  assert.deepEqual([now(1, 0), now(1, 1), now(1, 2), now(2, 1)], ['same 0', 'decided', 'same 1', 'same 1']);
  await vote(t, 'discard', 'a.txt', 0);
  assert.deepEqual([now(1, 0), now(1, 2), now(2, 0), now(2, 1)], ['decided', 'same 0', 'decided', 'same 0']);
  assert.equal(now(4, 0), 'outdated', 'a revision that there is not yet');
  await t.store.revise('p1', t.store.get('p1')?.changes ?? [], [], 'amend');
  assert.deepEqual([now(3, 0), now(4, 0)], ['outdated', 'same 0']);
});

test('a decision that leaves other lines than the ones that were seen makes the next vote outdated', async () => {
  const t = await threeHunks();
  await vote(t, 'apply', 'a.txt', 1);
  const [before, after] = ['a\nb\nc\n', 'A\nb\nC\n'].map(text => sideOfText(text));
  const split = await keepsHunks({ kind: 'modify', path: 'b', before: before!, after: after! }, 0, {
    kind: 'modify',
    path: 'b',
    before: before!,
    after: sideOfText('a\nb\nD\n'),
  });
  assert.equal(split, false);
});
