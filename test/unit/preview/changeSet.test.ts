import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inSets, setOfPrompt } from '../../../src/agent/preview/changeSet.ts';
import { reopenAction } from '../../../src/agent/preview/undo.ts';
import { resolvePart } from '../../../src/agent/preview/resolve/resolvePart.ts';
import { createTestSession, restoredStore } from '../../support/testSession.ts';

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

test('the ledger says what led to a decision: the prompt, the recommendation, and that the user edited it', async () => {
  const t = createTestSession({
    settings: { modelAuthority: 'none' },
    script: [{ toolCalls: [write('b.txt')] }, { text: 'Done.' }],
  });
  await t.session.prompt('Add b.');
  await t.store.revise('p1', t.store.get('p1')?.changes ?? [], [], 'user');
  await t.store.recommend('p1', 'apply', 'Please look at it.');
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

test('a long prompt gives the set its beginning, and an empty one no title', () => {
  assert.equal(setOfPrompt('s', 'x'.repeat(300)).setTitle?.length, 200);
  assert.deepEqual(setOfPrompt('s', ' \n'), { setId: 's' });
});
