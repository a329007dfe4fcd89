import { beforeEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { Rebaser } from '../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

stub.useVscodeStub();
const { BulkVotes } = await import('../../../../src/views/review/commands/bulkVotes.ts');

const told: (readonly string[])[] = [];
Object.assign(stub.window, {
  showInformationMessage: (...shown: string[]) => {
    told.push(shown);
    return Promise.resolve(undefined);
  },
});
const messages: unknown[] = [];
/** Cancels the progress that is shown. */
let cancel: (() => void) | undefined;
Object.assign(stub.window, {
  withProgress: (_: object, work: (progress: object, token: object) => unknown) =>
    work(
      { report: ({ message }: { message: unknown }) => messages.push(message) },
      { onCancellationRequested: (listener: () => void) => (cancel = listener) },
    ),
});
beforeEach(() => {
  for (const list of [told, messages]) list.splice(0);
  cancel = undefined;
});

/** Three previews of one file, each made on the one before, and one of another file. */
function given() {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const workspace = new MemoryWorkspace({ 'a.txt': 'a', 'b.txt': 'b' });
  const invoker = new Invoker(store, workspace, () => 'apply');
  const rebaser = new Rebaser({ store, workspace, logger: silentLogger });
  const stage = (path: string, from: string, to: string, dependsOn: readonly string[] = []): string =>
    store.stage(draft({ changes: [modify(path, from, to)], dependsOn })).preview.id;
  const first = stage('a.txt', 'a', 'b');
  const other = stage('b.txt', 'b', 'c');
  const second = stage('a.txt', 'b', 'c', [first]);
  const third = stage('a.txt', 'c', 'd', [second]);
  const revised: string[] = [];
  store.onDidRevise(({ preview }) => revised.push(preview.id));
  /** The previews whose proposals hold what the user has typed and not saved. */
  const typed = new Set<string>();
  const edits = { hasUnsaved: (id: string) => typed.has(id) };
  const options = { store, invoker, rebaser, edits, logger: silentLogger };
  const votes = new BulkVotes(options as never);
  return { store, workspace, invoker, rebaser, votes, revised, typed, ids: [first, other, second, third] };
}

test('what needs a vote of its own is left pending, and the summary says how many are', async () => {
  for (const [count, rest] of [
    [0, ''],
    [1, ' 1 command, tool call or plan still needs its own Apply.'],
    [2, ' 2 commands, tool calls or plans still need their own Apply.'],
  ] as const) {
    const { store, votes, rebaser, ids } = given();
    const own = Array.from(
      { length: count },
      () => store.stage(draft({ changes: null, humanOnly: true })).preview.id,
    );
    await votes.applyAll([...own, ...ids].map(id => ({ id })));
    assert.deepEqual(told.at(-1), [`Applied 4 previews.${rest}`]);
    assert.deepEqual(
      own.map(id => store.get(id)?.state.kind),
      own.map(() => 'pending'),
    );
    rebaser.dispose();
  }
});

test('Discard All discards each preview before those that it builds on, so that none is rebased on the way', async () => {
  for (const arranged of [(ids: string[]) => ids, (ids: string[]) => ids.toReversed()]) {
    const { store, rebaser, votes, revised, ids } = given();
    const count = await votes.discardAll(arranged(ids).map(id => ({ id })));
    await rebaser.refresh([]);
    assert.equal(count, 4);
    const order = store.ledger().map(({ previewId }) => previewId);
    const [first = '', , second = '', third = ''] = ids;
    assert.deepEqual(
      order.filter(id => id !== ids[1]),
      [third, second, first],
    );
    assert.deepEqual(revised, []);
    assert.deepEqual(told.at(-1), ['Discarded 4 previews.', 'Reopen']);
    rebaser.dispose();
  }
});

test('Apply All leaves alone what the user begins to type into while it applies others', async () => {
  const { store, workspace, rebaser, votes, typed, ids } = given();
  const [, other = ''] = ids;
  store.onDidResolve(() => typed.add(other));
  assert.equal(await votes.applyAll(ids.map(id => ({ id }))), false);
  assert.deepEqual([workspace.text('a.txt'), workspace.text('b.txt')], ['d', 'b']);
  assert.equal(store.get(other)?.state.kind, 'pending');
  assert.match(String(told.at(-1)), /^Applied 3 previews\. .*It has edits that you have not saved\./);
  rebaser.dispose();
});

/** Two agents' changes of one file, and what becomes of them. */
function twoAgents(first: string, second: string) {
  const text = 'one\ntwo\nthree\nfour\nfive\n';
  const { store, workspace, rebaser, votes } = given();
  workspace.put('c.txt', text);
  const stage = (to: string): string =>
    store.stage(draft({ label: 'Edit c.txt', changes: [modify('c.txt', text, to)] })).preview.id;
  const ids = [stage(text.replace('one', first)), stage(text.replace('five', second))];
  return { store, workspace, rebaser, votes, ids, text };
}

test('Apply All goes on over the revisions that it makes itself: two agents changed one file', async () => {
  const { store, workspace, rebaser, votes, ids } = twoAgents('ONE', 'FIVE');
  await votes.applyAll(ids.map(id => ({ id, revision: 1 })));
  assert.deepEqual(told, [['Applied 2 previews.']]);
  assert.equal(store.get(ids[1] ?? '')?.revision, 2);
  assert.equal(workspace.text('c.txt'), 'ONE\ntwo\nthree\nfour\nFIVE\n');
  rebaser.dispose();
});

test('Apply All does not apply what someone else has changed meanwhile, and says which and why', async () => {
  const { store, rebaser, votes, ids, text } = twoAgents('ONE', 'FIVE');
  const [first = '', second = ''] = ids;
  store.onDidResolve(([entry]) => {
    if (entry?.previewId === first)
      void store.revise(second, [modify('c.txt', text, text.replace('five', 'SIX'))], [], 'user');
  });
  await votes.applyAll(ids.map(id => ({ id, revision: 1 })));
  assert.equal(store.get(second)?.state.kind, 'pending');
  assert.match(
    told[0]?.[0] ?? '',
    /^Applied 1 preview\. 1 was not applied and stays pending\. “Edit c\.txt”: It has changed since it was shown\.$/,
  );
  rebaser.dispose();
});

test('Apply All says which preview is left because an earlier one changed the same lines', async () => {
  const { text, rebaser, votes, ids, store } = twoAgents('ONE', 'FIVE');
  const third = store.stage(
    draft({ label: 'Other', changes: [modify('c.txt', text, text.replace('one', 'EINS'))] }),
  ).preview;
  await votes.applyAll([...ids, third.id].map(id => ({ id, revision: 1 })));
  assert.deepEqual(told, [
    [
      'Applied 2 previews. 1 was not applied and stays pending. “Other”: Stale: c.txt changed after this was proposed.',
    ],
  ]);
  rebaser.dispose();
});

test('rows that were out of date are not discarded, and the message says that they stay pending', async () => {
  const { store, rebaser, votes, ids } = given();
  rebaser.dispose();
  const [first = '', other = '', , third = ''] = ids;
  await store.revise(other, [modify('b.txt', 'b', 'd')], [], 'user');
  await store.revise(third, [modify('a.txt', 'c', 'e')], ids.slice(2, 3), 'user');
  const rows = [
    { id: other, revision: 1 },
    { id: first, revision: 1 },
    { id: third, revision: 1 },
  ];
  assert.equal(await votes.discardAll(rows), 1);
  assert.deepEqual(told, [
    [
      'Discarded 1 preview. 2 were not discarded and stay pending. “Edit a.txt”: It has changed since it was shown. “Edit a.txt”: It has changed since it was shown.',
      'Reopen',
    ],
  ]);

  told.splice(0);
  assert.equal(
    await votes.discardAll([
      { id: other, revision: 1 },
      { id: third, revision: 2 },
    ]),
    1,
  );
  assert.deepEqual(told, [
    [
      'Discarded 1 preview. 1 was not discarded and stays pending. “Edit a.txt”: It has changed since it was shown.',
      'Reopen',
    ],
  ]);
});

test('when uncommitted changes of the user were held back and go, too, the message says so', async () => {
  const { store, rebaser, votes } = given();
  rebaser.dispose();
  const held = draft({ changes: [modify('c.txt', 'c', 'd')], purpose: 'holdBack' });
  const { id } = store.stage(held).preview;
  assert.equal(await votes.discardAll([{ id }]), 1);
  const says = 'Discarded 1 preview. That includes your uncommitted changes, which you can reopen.';
  assert.deepEqual(told, [[says, 'Reopen']]);
});

for (const action of ['apply', 'discard'] as const)
  for (const isCancelled of [false, true])
    test(`a callback that never settles keeps no one waiting: ${action}, ${isCancelled ? 'until the user gives up' : 'for some seconds'}`, async context => {
      context.mock.timers.enable({ apis: ['setTimeout'] });
      const { store, votes, invoker, rebaser, ids } = given();
      rebaser.dispose();
      const hanging = Promise.withResolvers<undefined>();
      const calls: string[] = [];
      const foreign = (name: string, answer: Promise<undefined>): string => {
        const { id } = store.stage(draft({ changes: null, label: name, sourceToolName: 'deploy' })).preview;
        const called = (): Promise<undefined> => {
          calls.push(`${name} ${ids.every(file => store.get(file)?.state.kind !== 'pending')}`);
          return answer;
        };
        invoker.attach(id, { apply: called as never, reject: called });
        return id;
      };
      const slow = foreign('Slow', hanging.promise);
      const quick = foreign('Quick', Promise.resolve(undefined));
      const all = [slow, ...ids, quick].map(id => ({ id }));
      let isOver = false;
      const voting = (action === 'apply' ? votes.applyAll(all) : votes.discardAll(all)).then(
        () => (isOver = true),
      );
      const clock = async (milliseconds: number): Promise<void> => {
        for (let turn = 0; turn < 100; turn++) await new Promise(resolve => setImmediate(resolve));
        context.mock.timers.tick(milliseconds);
        for (let turn = 0; turn < 100; turn++) await new Promise(resolve => setImmediate(resolve));
      };
      await clock(1_000);
      assert.deepEqual(calls.toSorted(), ['Quick true', 'Slow true'], 'at once, after the files');
      assert.equal(messages.at(-1), '5 of 6. No answer yet from “Slow” (deploy).');
      assert.equal(isOver, false);
      if (isCancelled) cancel?.();
      else await clock(10_000);
      await voting;
      const done = action === 'apply' ? 'Applied 5 previews.' : 'Discarded 5 previews.';
      assert.equal(told.at(-1)?.[0], `${done} No answer yet from “Slow” (deploy).`);
      assert.equal(store.get(slow)?.state.kind, 'applying');
      hanging.resolve(undefined);
      await clock(0);
      assert.equal(store.get(slow)?.state.kind, action === 'apply' ? 'applied' : 'discarded');
    });

test('a discard of files whose callback hangs does not keep the others waiting', async context => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { store, votes, invoker, rebaser, ids } = given();
  rebaser.dispose();
  const [, other = ''] = ids;
  invoker.attach(other, { reject: () => new Promise(() => undefined) });
  const voting = votes.discardAll(ids.map(id => ({ id })));
  for (let second = 0; second < 12; second++) {
    for (let turn = 0; turn < 100; turn++) await new Promise(resolve => setImmediate(resolve));
    context.mock.timers.tick(1_000);
  }
  assert.equal(await voting, 3);
  assert.equal(told.at(-1)?.[0], 'Discarded 3 previews. No answer yet from “Edit a.txt” (test).');
  assert.equal(store.get(other)?.state.kind, 'applying');
});

test('what imports others stays pending if one of these is refused', async () => {
  for (const [text, kind] of [
    ['changed', 'pending'],
    ['b', 'applied'],
  ] as const) {
    const { store, votes, workspace, ids } = given();
    const [first = '', other = ''] = ids;
    workspace.put('b.txt', text);
    const target = (id: string) => ({ id, revision: 1 });
    assert.equal(await votes.applyAll([target(first)], [target(other)]), kind === 'applied');
    const kinds = [first, other].map(id => store.get(id)?.state.kind);
    assert.deepEqual(kinds, [kind, kind]);
  }
  assert.match(told[0]?.[0] ?? '', /^Applied 0 previews\. 2 were not applied and stay pending\. “.*”: .+ “/);
});
