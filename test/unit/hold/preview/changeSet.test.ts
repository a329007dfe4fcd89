import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviceOfSet, inSets, setOfPrompt } from '../../../../src/agent/hold/preview/changeSet.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { reopenAction, undoAction } from '../../../../src/agent/hold/preview/undo.ts';
import { resolvePart } from '../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { create } from '../../../support/changes.ts';
import { createTestSession, restoredStore } from '../../../support/testSession.ts';

const write = (path: string) => ({ name: 'write_file', arguments: { path, content: `${path}\n` } });

test('what one prompt produces is one set, over all answers, parts and copies; the next prompt begins another', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    files: { 'a.txt': 'a\n' },
    script: [
      { toolCalls: [write('b.txt'), write('c.txt')] },
      { toolCalls: [{ name: 'edit_file', arguments: { path: 'a.txt', edits: [{ old: 'a', new: 'A' }] } }] },
      { text: 'Done.' },
      { toolCalls: [write('d.txt')] },
      { text: 'Done.' },
    ],
  });
  await t.session.prompt('Add the tax\nper country.');
  await t.session.prompt('And another.');
  await t.invoker.resolve({ id: 'p1', action: 'discard', reason: 'no', actor: 'human' });
  const request = { id: 'p2', revision: 1, action: 'apply', reason: 'r', actor: 'human' } as const;
  await resolvePart(t, request, { path: 'c.txt' });
  const discarded = t.store.get('p1') ?? assert.fail();
  const { id: again } = t.session.stageForUser(reopenAction(discarded) ?? assert.fail()).preview;
  for (const store of [t.store, restoredStore(t.log)]) {
    const sets = inSets(store.all());
    assert.deepEqual(
      sets.map(({ title, previews }) => [title, previews.map(({ id }) => id)]),
      [
        ['Add the tax per country.', ['p1', 'p2', 'p3', again]],
        ['And another.', ['p4']],
      ],
    );
  }
});

test('what is brought from elsewhere is one set, and undoing it is no part of that', async () => {
  const t = createTestSession({ settings: { modelAuthority: 'none' } });
  const agent = { name: 'branch x', version: '' };
  const change = create('b.txt', 'b\n');
  const brought = { label: 'Create b.txt', sourceToolName: 'branch', changes: [change], agent };
  const { id } = t.session.stageForUser({ ...brought, sessionId: 'branch-x' }).preview;
  assert.equal(t.store.get(id)?.origin?.setId, 'branch-x');
  await t.invoker.resolve({ id, action: 'apply', reason: 'r', actor: 'human' });
  const applied = t.store.get(id) ?? assert.fail();
  const { preview } = t.session.stageForUser(undoAction(applied) ?? assert.fail());
  assert.deepEqual([preview.origin?.agent, preview.origin?.setId], [agent, undefined]);
});

test('the ledger says what led to a decision: the prompt, the recommendation, and that the user edited it', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    script: [{ toolCalls: [write('b.txt')] }, { text: 'Done.' }],
  });
  await t.session.prompt('Add b.');
  await t.store.revise('p1', t.store.get('p1')?.changes ?? [], [], 'user');
  await t.store.recommend('p1', { action: 'apply', reason: 'Please look at it.' });
  await t.invoker.resolve({ id: 'p1', action: 'apply', reason: 'r', actor: 'human' });
  const [entry] = restoredStore(t.log).ledger();
  const { prompt, recommendation, editedByUser, setId } = entry ?? {};
  assert.deepEqual(
    { prompt, recommendation, editedByUser, setId },
    {
      prompt: 'Add b.',
      recommendation: { action: 'apply', reason: 'Please look at it.' },
      editedByUser: true,
      setId: t.store.get('p1')?.origin?.setId,
    },
  );
});

test('one vote on several previews of a set is one of the set; what is said of a single preview is its own', async () => {
  const vote = (action: 'apply' | 'discard', reason: string, ...ids: string[]) => ({
    name: 'resolve',
    arguments: { action, reason, ids },
  });
  const t = createTestSession({
    settings: { modelAuthority: 'recommend' },
    script: [
      { toolCalls: ['a.txt', 'b.txt', 'c.txt', 'd.txt'].map(write) },
      { toolCalls: [vote('apply', 'As asked.', 'p1', 'p2', 'p3'), vote('apply', 'Please look.', 'p4')] },
      { text: 'Done.' },
      { toolCalls: [write('e.txt')] },
      { toolCalls: [vote('apply', 'All of it.', 'p4', 'p5')] },
      { text: 'Done.' },
    ],
  });
  const said = ({ state }: Preview) => state.kind === 'pending' && state.recommendation;
  await t.session.prompt('Add four.');
  const [ofSet, alone] = [
    { action: 'apply', reason: 'As asked.', isOfSet: true },
    { action: 'apply', reason: 'Please look.' },
  ];
  for (const store of [t.store, restoredStore(t.log)]) {
    assert.deepEqual(store.all().map(said), [ofSet, ofSet, ofSet, alone]);
    assert.deepEqual(adviceOfSet(store.all()), [{ action: 'apply', reason: 'As asked.', count: 3, of: 4 }]);
  }
  await t.session.prompt('And one more.');
  const other = { action: 'apply', reason: 'All of it.' };
  assert.deepEqual(t.store.all().slice(3).map(said), [other, other], 'each is alone of its set');
  await t.invoker.resolve({ id: 'p4', action: 'discard', reason: 'no', actor: 'human' });
  await t.invoker.resolve({ id: 'p1', action: 'apply', reason: 'r', actor: 'human' });
  assert.deepEqual(adviceOfSet(t.store.all().slice(0, 4)), [
    { action: 'apply', reason: 'As asked.', count: 2, of: 2 },
  ]);
  assert.deepEqual(restoredStore(t.log).ledger().at(-1)?.recommendation, ofSet);
});

test('a long prompt gives the set its beginning, and an empty one no title', () => {
  assert.equal(setOfPrompt('s', 'x'.repeat(300)).setTitle?.length, 200);
  assert.deepEqual(setOfPrompt('s', ' \n'), { setId: 's' });
});
