import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Emitter } from '../../../../../src/agent/base/event.ts';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { textResult } from '../../../../../src/agent/hold/preview/pendingAction.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import type { Risk } from '../../../../../src/agent/hold/preview/reading/risks.ts';
import type { PendingNode } from '../../../../../src/views/review/pending/pendingNode.ts';
import { create } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { InvokerHarness } from '../../../../support/invokerHarness.ts';

stub.useVscodeStub();
const { previewItem } = await import('../../../../../src/views/review/pending/pendingItems.ts');
const { PendingTree } = await import('../../../../../src/views/review/pending/pendingTree.ts');
const { ReviewList } = await import('../../../../../src/views/review/reviewList.ts');

/** A tree with two change sets and a preview in none, as VS Code would have drawn it. */
async function drawnTree() {
  const { store, invoker } = new InvokerHarness('none');
  const none = { onDidChange: () => ({ dispose: () => undefined }) };
  const agent = { store, logger: silentLogger, settings: { order: 'oldestFirst', ...none } };
  const stage = (path: string, setId?: string): string => {
    const origin = setId === undefined ? null : { sessionId: 's1', asksModel: true, setId, setTitle: setId };
    return store.stage(draft({ label: `Create ${path}`, changes: [create(path, 'x\n')], origin })).preview.id;
  };
  for (const [path, set] of [
    ['a.ts', 'one'],
    ['b.ts', 'one'],
    ['c.ts', 'two'],
    ['d.ts', 'two'],
    ['e.ts'],
  ] as const)
    stage(path, set);
  const risks = new Map<string, readonly Risk[]>();
  const [checked, risked, looked, edited] = [0, 1, 2, 3].map(() => new Emitter<void>());
  const parts = {
    ...agent,
    files: (path: string) => stub.Uri.file(`/w/${path}`),
    review: new ReviewList(agent as never),
    looks: { count: () => 0, has: () => false, onDidChange: looked?.event },
    checks: { marksOf: () => [], onDidChange: checked?.event },
    risks: { of: ({ id }: Preview) => risks.get(id) ?? [], onDidChange: risked?.event },
    edits: { hasUnsaved: () => false, onDidChangeUnsaved: edited?.event },
  };
  const tree = new PendingTree(parts as never);
  const draw = async (above?: PendingNode): Promise<void> => {
    for (const row of tree.getChildren(above)) {
      const item = tree.getTreeItem(row);
      if (Number(item.collapsibleState) > 0) await draw(row);
    }
  };
  /** What is drawn again because of this, by label; everything if that is `all`. */
  const redrawnBy = async (change: () => unknown): Promise<readonly unknown[]> => {
    const { promise, resolve } = Promise.withResolvers<readonly PendingNode[] | undefined>();
    const following = tree.onDidChangeTreeData(resolve);
    await change();
    const rows = await promise;
    following.dispose();
    if (!rows) await draw();
    else for (const row of rows) await draw(row);
    const items = (rows ?? []).map(row => tree.getTreeItem(row));
    return rows ? items.map(({ label }) => label) : ['all'];
  };
  await draw();
  // The counts of the sets, which are made in the background.
  await redrawnBy(() => undefined);
  const discard = (id: string): Promise<unknown> =>
    invoker.resolve({ id, action: 'discard', actor: 'human', reason: 'No.' });
  return { tree, store, stage, risks, risked, checked, redrawnBy, discard };
}

test('a change draws anew the rows that it concerns, and no other', async () => {
  const { stage, risks, risked, checked, redrawnBy, discard, store } = await drawnTree();
  assert.deepEqual(
    await redrawnBy(() => discard('p1')),
    ['Apply all 4 changes', 'one'],
    'all, and its set, which count it',
  );
  // News that changes no row draws none: what follows it comes alone.
  checked?.fire();
  risks.set('p5', [{ kind: 'deletes', path: 'e.ts' }]);
  assert.deepEqual(await redrawnBy(() => risked?.fire()), ['⚠ Create e.ts']);
  assert.deepEqual(await redrawnBy(() => store.markStale('p3', ['c.ts'])), [
    'Apply all 3 changes',
    'Create c.ts',
  ]);
  assert.deepEqual(
    await redrawnBy(() => store.markStale('p5', ['e.ts'])),
    ['Apply all 2 changes', 'Create e.ts'],
    'the icon of a problem is the only sign',
  );
  assert.deepEqual(await redrawnBy(() => stage('f.ts')), ['all'], 'the top has a new row');
});

test('the command of a row is the same whenever it is drawn', async () => {
  const { tree } = await drawnTree();
  const rows = tree.getChildren();
  const items = [...rows, ...tree.getChildren(rows[1])].map(row => tree.getTreeItem(row));
  assert.deepEqual(new Set(items.map(({ command }) => command?.arguments?.length)), new Set([0]));
});

test('a row of one file has none below it', async () => {
  const { tree } = await drawnTree();
  const single = tree.getTreeItem(tree.getChildren().at(-1) ?? assert.fail());
  assert.equal(Number(single.collapsibleState), 0);
});

test('the row of a plan says what became of it in the words of its card', async () => {
  for (const [actor, action, word] of [
    ['human', 'apply', 'approved'],
    ['human', 'discard', 'sent back'],
    ['model', 'discard', 'discarded'],
  ] as const) {
    const { store, invoker, stage } = new InvokerHarness('none');
    const { id, revision } = stage({ kind: 'plan', apply: () => Promise.resolve(textResult('Approved.')) });
    await invoker.resolve({ id, revision, action, actor, reason: '' });
    const item = previewItem(store.get(id) ?? assert.fail(), (path: string) => stub.Uri.file(path) as never);
    assert.equal(item.description, word);
  }
});
