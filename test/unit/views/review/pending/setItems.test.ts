import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../../../src/agent/base/event.ts';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { textOf, type FileChange } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { resolvePart } from '../../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { reopenAction } from '../../../../../src/agent/hold/preview/undo.ts';
import { create, modify } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { InvokerHarness } from '../../../../support/invokerHarness.ts';

stub.useVscodeStub();
const { SetItems } = await import('../../../../../src/views/review/pending/setItems.ts');
const { childrenOf } = await import('../../../../../src/views/review/pending/pendingNodes.ts');
const { ReviewList } = await import('../../../../../src/views/review/reviewList.ts');
const { ReviewPlaces } = await import('../../../../../src/views/review/reviewPlaces.ts');

const lines = (count: number): string[] => Array.from({ length: count }, (_, at) => `${at}\n`);
/** A file in which every fifth line changes. */
const inHunks = (path: string, hunks: number): FileChange => {
  const before = lines(hunks * 5);
  return modify(path, before.join(''), before.map((line, at) => (at % 5 === 0 ? `x${line}` : line)).join(''));
};

/** Waits until one of them has changed. */
const once = (...all: readonly { readonly onDidChange: Event<void> }[]): Promise<void> =>
  new Promise(resolve => {
    for (const { onDidChange } of all) onDidChange(resolve);
  });

/** The row of a change set, and what the strip says at the first hunk of a preview. */
function setUp() {
  const harness = new InvokerHarness('none');
  const { store } = harness;
  const none = { onDidChange: () => ({ dispose: () => undefined }) };
  const agent = { store, logger: silentLogger, settings: { order: 'oldestFirst', ...none } } as never;
  const review = new ReviewList(agent);
  const places = new ReviewPlaces(agent, review);
  const edits = { hasUnsaved: () => false };
  const items = new SetItems({ store, logger: silentLogger, review, edits } as never);
  const origin = { sessionId: 's1', asksModel: true, setId: 's', setTitle: 'Prompt' };
  const stage = (change: FileChange, reopens?: string): string => {
    if (change.before) harness.workspace.put(change.path, textOf(change.before));
    const over = reopens === undefined ? {} : { reopens };
    return store.stage(draft({ changes: [change], origin, ...over })).preview.id;
  };
  const row = (): readonly [unknown, string] => {
    const [node] = childrenOf(store, review.list(), undefined);
    const item = node?.kind === 'set' ? items.itemOf(node) : assert.fail('no set');
    return [item.label, String(item.description)];
  };
  const place = (id: string): string | undefined => {
    const preview = store.get(id) ?? assert.fail();
    const at = places.of(preview, preview.changes?.[0], 0);
    return at && `${at.hunk}/${at.hunks}`;
  };
  /** Waits until both have counted, and the row says so. */
  const counted = async (id: string, said: string): Promise<void> => {
    while (place(id) === undefined || !row()[1].startsWith(said)) await once(review, places);
  };
  const discard = (id: string): Promise<unknown> =>
    harness.invoker.resolve({ id, action: 'discard', actor: 'human', reason: 'No.' });
  return { harness, review, stage, row, place, counted, discard };
}

test('the row of a set and the strip count the same: a copy in place of what was discarded', async () => {
  const { harness, stage, place, counted, discard } = setUp();
  const first = stage(create('n.ts', 'x\n'));
  const second = stage(inHunks('a.ts', 3));
  await counted(second, '2 files · +');
  assert.equal(place(second), '2/4');
  await discard(first);
  await counted(second, '1 of 4 decided · ');
  assert.equal(place(second), '2/4');
  const { changes } = reopenAction(harness.store.get(first) ?? assert.fail()) ?? assert.fail();
  stage(changes?.[0] ?? assert.fail(), first);
  await counted(second, '2 files · +');
  assert.equal(place(second), '2/4');
});

test('a hundred hunks that are decided alone stay counted', async () => {
  const { harness, stage, place, counted } = setUp();
  stage(create('n.ts', 'x\n'));
  const id = stage(inHunks('a.ts', 105));
  const { store, invoker } = harness;
  for (let decided = 0; decided < 101; decided++) {
    const revision = store.get(id)?.revision ?? assert.fail();
    const vote = { id, revision, action: 'discard', actor: 'human', reason: 'No.' } as const;
    await resolvePart({ store, invoker }, vote, { path: 'a.ts', hunk: 0 });
  }
  await counted(id, '101 of 106 decided · ');
  assert.equal(place(id), '103/106');
});

test('a decision does not make the row blink while what is left is counted', async () => {
  const { harness, stage, row, counted } = setUp();
  stage(create('n.ts', 'x\n'));
  const id = stage(inHunks('a.ts', 3));
  await counted(id, '2 files · +');
  const { store, invoker } = harness;
  const vote = { id, revision: 1, action: 'discard', actor: 'human', reason: 'No.' } as const;
  await resolvePart({ store, invoker }, vote, { path: 'a.ts', hunk: 0 });
  assert.match(row()[1], /^2 files · \+/);
  await counted(id, '1 of 4 decided · ');
});

test('lines that are a guess say so', async () => {
  const { stage, row, place, counted } = setUp();
  stage(create('n.ts', 'x\n'));
  const before = lines(3_000);
  const id = stage(modify('a.ts', before.join(''), before.toReversed().join('')));
  await counted(id, '2 files · +');
  assert.deepEqual([row(), place(id)], [['Prompt', '2 files · +~3001 −~3000'], '2/2']);
});
