import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { resolvePart } from '../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { create, modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { hunkAt, hunksOnce, ReviewPlaces } = await import('../../../../src/views/review/reviewPlaces.ts');
const { ReviewList } = await import('../../../../src/views/review/reviewList.ts');

const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni\n';
const twoHunks = (path: string): FileChange =>
  modify(path, before, before.replace('b', 'B').replace('h', 'H'));

function setUp() {
  const harness = new InvokerHarness('none');
  for (const path of ['cart.ts', 'money.ts']) harness.workspace.put(path, before);
  const none = { onDidChange: () => ({ dispose: () => undefined }) };
  const agent = {
    ...{ store: harness.store, logger: silentLogger },
    settings: { order: 'oldestFirst', ...none },
  } as never;
  const review = new ReviewList(agent);
  const places = new ReviewPlaces(agent, review);
  const counted = (): Promise<void> =>
    new Promise(resolve => {
      const following = places.onDidChange(() => {
        following.dispose();
        resolve();
      });
    });
  const stage = (setId: string, ...changes: readonly FileChange[]): void => {
    const origin = { sessionId: 's1', asksModel: true, setId };
    harness.store.stage(draft({ label: 'Edit', changes, origin }));
  };
  stage('s', twoHunks('cart.ts'));
  stage('s', create('tax.ts', 'x\n'), twoHunks('money.ts'));
  stage('another', create('other.ts', 'x\n'));
  const at = (id: string, path: string, hunk: number) => {
    const preview = harness.store.get(id) ?? assert.fail();
    const place = places.of(
      preview,
      preview.changes?.find(change => change.path === path),
      hunk,
    );
    return place && `${place.hunk}/${place.hunks} ${place.file}/${place.files}`;
  };
  /** Asks until all of the set is counted. */
  const settled = async (): Promise<void> => {
    while (at('p2', 'money.ts', 1) === undefined) await counted();
  };
  return { harness, at, settled };
}

test('the place of a hunk counts all hunks and files of its change set, and nothing of others', async () => {
  const { at, settled } = setUp();
  assert.equal(at('p1', 'cart.ts', 0), undefined, 'not counted yet');
  await settled();
  assert.equal(at('p1', 'cart.ts', 0), '1/5 1/3');
  assert.equal(at('p1', 'cart.ts', 1), '2/5 1/3');
  assert.equal(at('p2', 'tax.ts', 0), '3/5 2/3');
  assert.equal(at('p2', 'money.ts', 1), '5/5 3/3');
});

test('what is decided stays counted, so that the number goes up with each decision', async () => {
  const { harness, at, settled } = setUp();
  await settled();
  const { store, invoker } = harness;
  const vote = { id: 'p1', revision: 1, action: 'apply', actor: 'human', reason: 'ok' } as const;
  await resolvePart({ store, invoker }, vote, { path: 'cart.ts', hunk: 0 });
  await settled();
  assert.equal(at('p1', 'cart.ts', 0), '2/5 1/3', 'the hunk that is left is the second');
  await harness.resolve({ id: 'p1' });
  await settled();
  assert.equal(at('p2', 'tax.ts', 0), '3/5 2/3');
});

test('the hunk at a line is the one that holds it, or the last one above', async () => {
  const hunks = await hunksOnce(twoHunks('cart.ts'));
  const lines = [0, 1, 5, 7, 8];
  assert.deepEqual(
    lines.map(line => hunkAt(hunks, 'proposal', line)),
    [-1, 0, 0, 1, 1],
  );
});
