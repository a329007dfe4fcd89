import { test } from 'node:test';
import assert from 'node:assert/strict';
import { textResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { create, modify, rename } from '../../../support/changes.ts';
import type { SessionSettings } from '../../../../src/agent/session/sessionOptions.ts';
import { createTestSession, type TestSession } from '../../../support/testSession.ts';

const files = { 'a.txt': 'a\n', 'b.txt': 'b\n' };
const settings = { modelAuthority: 'recommend', forcing: 'off', continueAfterReview: false } as const;
const pending = (args: object = {}) => ({ toolCalls: [{ name: 'pending', arguments: args }] });

/** What `pending` answers a model after something was done. */
async function listed(
  before: (t: TestSession) => unknown,
  args: object = {},
  over: Partial<SessionSettings> = {},
): Promise<string> {
  const t = createTestSession({
    files,
    settings: { ...settings, ...over },
    script: [pending(args), { text: 'ok' }],
  });
  await before(t);
  await t.session.prompt('What is pending?');
  return t.results()[0]?.content ?? '';
}

const staged = (t: TestSession): unknown => t.stage({ label: 'A', changes: [modify('a.txt', 'a\n', 'A\n')] });

/** What is done once p1 is staged. */
const after =
  (more: (t: TestSession) => unknown) =>
  (t: TestSession): unknown => {
    staged(t);
    return more(t);
  };

test('nothing is pending', async () => {
  assert.equal(await listed(() => undefined), 'Nothing of this conversation is pending.');
});

test('each preview is listed with its revision, its files, what it builds on, and on whom it waits', async () => {
  const said = await listed(async t => {
    staged(t);
    t.stage({ label: 'B', changes: [modify('a.txt', 'A\n', 'AA\n'), modify('b.txt', 'b\n', 'B\n')] });
    await t.store.recommend('p1', { action: 'apply', reason: 'r' });
    t.stage({ label: 'Deploy', apply: () => Promise.resolve(textResult('done')), humanOnly: true });
    t.session.stageForUser({
      label: 'Undo',
      sourceToolName: 'undo',
      changes: [modify('b.txt', 'b\n', 'c\n')],
    });
    t.stageForAgent({ label: 'of others', sourceToolName: 'x', changes: [modify('b.txt', 'b\n', 'd\n')] });
  });
  assert.deepEqual(said.split('\n'), [
    'p1 (A), revision 1: you recommended to apply it, and the user decides [modify a.txt]',
    'p3 (Deploy), revision 1: only the user decides',
    'p4 (Undo), revision 1: the user asked for it and decides [modify b.txt]',
    'p2 (B), revision 1: p1 must be applied first; waits for your vote [modify a.txt; modify b.txt; builds on p1]',
  ]);
});

test('a move is listed with both of its paths', async () => {
  const said = await listed(t => t.stage({ label: 'Move', changes: [rename('b.txt', 'c.txt', 'b\n')] }));
  assert.equal(said, 'p1 (Move), revision 1: waits for your vote [rename b.txt to c.txt]');
});

test('what is stale, was edited by the user or failed says so, with what helps', async () => {
  const one = async (before: (t: TestSession) => unknown): Promise<string> =>
    (await listed(after(before))).replace('p1 (A), ', '');
  assert.equal(
    await one(t => t.store.markStale('p1', ['a.txt'])),
    'revision 1: stale, since a.txt changed [modify a.txt]\nDiscard it if you may. If the change is still needed, read a.txt again and stage it anew.',
  );
  assert.equal(
    await one(t => t.store.revise('p1', [modify('a.txt', 'a\n', 'AA\n')], [], 'user')),
    'revision 2: the user edited it and decides [modify a.txt]',
  );
  const conflict = 'a\n<<<<<<< current file\nb\n=======\nc\n>>>>>>> proposed change\n';
  assert.match(
    await one(t => t.store.revise('p1', [modify('a.txt', 'a\n', conflict)], [], 'rebase')),
    /^revision 2: the user must settle the conflicts in a\.txt/,
  );
});

test('what is stale since a preview beneath was discarded says so, and names no decided preview as its base', async () => {
  const said = await listed(async t => {
    t.stage({ label: 'New', changes: [create('n.txt', 'n\n')] });
    t.stage({ label: 'On it', changes: [modify('n.txt', 'n\n', 'N\n')] });
    await t.click('p1', 'discard');
    await t.store.markStale('p2', ['n.txt']);
  });
  assert.deepEqual(said.split('\n'), [
    'p2 (On it), revision 1: stale, since p1, on which it builds, was not applied [modify n.txt]',
    'Discard it if you may. If the change is still needed, stage it anew.',
  ]);
});

test('the advice on several stale previews stands once', async () => {
  const said = await listed(async t => {
    staged(t);
    t.stage({ label: 'B', changes: [modify('b.txt', 'b\n', 'B\n')] });
    await t.store.markStale('p1', ['a.txt']);
    await t.store.markStale('p2', ['b.txt']);
  });
  assert.deepEqual(said.split('\n'), [
    'p1 (A), revision 1: stale, since a.txt changed [modify a.txt]',
    'p2 (B), revision 1: stale, since b.txt changed [modify b.txt]',
    'Discard the stale ones if you may. If their changes are still needed, read a.txt, b.txt again and stage them anew.',
  ]);
});

for (const [what, call, stale] of [
  ['a list', { name: 'pending', arguments: {} }, ['p1', 'p2']],
  ['a look', { name: 'pending', arguments: { id: 'p1' } }, ['p1']],
  ['a refused amendment', amendment('p1'), ['p1']],
] as const)
  test(`of what ${what} calls stale, no message says so again`, async () => {
    const edit = (path: string) => ({
      name: 'edit_file',
      arguments: { path, edits: [{ old: path[0], new: 'x' }] },
    });
    const t = createTestSession({
      files: { 'a.txt': 'a\n', 'b.txt': 'b\n' },
      settings: { forcing: 'off' },
      script: [
        { toolCalls: [edit('a.txt'), edit('b.txt')] },
        async () => {
          await t.store.markStale('p1', ['a.txt']);
          await t.store.markStale('p2', ['b.txt']);
          return { toolCalls: [call] };
        },
        {},
      ],
    });
    await t.session.prompt('Go.');
    const told = t.steering().flatMap(({ text }) => [...text.matchAll(/^(p\d) .* is stale/gm)]);
    assert.deepEqual(
      told.map(([, id]) => id),
      ['p1', 'p2'].filter(id => !(stale as readonly string[]).includes(id)),
    );
    t.assertSound();
  });

function amendment(id: string) {
  return {
    name: 'edit_file',
    arguments: { path: 'a.txt', edits: [{ old: 'x', new: 'y' }], amend: id },
  };
}

test('in Manual mode the user decides on all of it', async () => {
  assert.match(
    await listed(staged, {}, { modelAuthority: 'none' }),
    /^p1 \(A\), revision 1: the user decides/,
  );
});

test('with an id, the preview is shown as it is now', async () => {
  const revise = after(t => t.store.revise('p1', [modify('a.txt', 'a\n', 'now\n')], [], 'rebase'));
  assert.equal(
    await listed(revise, { id: 'p1' }),
    'p1 (A), revision 2: waits for your vote [modify a.txt]\n```\na.txt: 1 line added, 1 removed.\n@@ -1,1 +1,1 @@\n-a\n+now\n```',
  );
  assert.match(await listed(staged, { id: 'p9' }), /^p9 is not pending in this conversation\./);
});
