import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { resolvePart } from '../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { reopenAction } from '../../../../src/agent/hold/preview/undo.ts';
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
    store: harness.store,
    logger: silentLogger,
    settings: { order: 'newestFirst', ...none },
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
  return { harness, at, settled, counted };
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

test('a number is an address: it stays the same, whatever is decided of the others', async () => {
  const { harness, at, settled } = setUp();
  await settled();
  const { store, invoker } = harness;
  const vote = (id: string, action: 'apply' | 'discard', path: string, hunk: number): Promise<unknown> => {
    const revision = store.get(id)?.revision ?? assert.fail();
    return resolvePart(
      { store, invoker },
      { id, revision, action, actor: 'human', reason: '' },
      { path, hunk },
    );
  };
  await vote('p2', 'apply', 'money.ts', 0);
  await settled();
  assert.equal(at('p1', 'cart.ts', 0), '1/5 1/3');
  assert.equal(at('p2', 'tax.ts', 0), '3/5 2/3');
  assert.equal(at('p2', 'money.ts', 0), '5/5 3/3', 'the hunk that is left of it');
  await harness.resolve({ id: 'p1' });
  await settled();
  assert.equal(at('p2', 'money.ts', 0), '5/5 3/3');
});

test('hunk 3 of 5 stays 3, also as the copy of what was discarded', async () => {
  const { harness, at, counted } = setUp();
  const lines = Array.from({ length: 25 }, (_, line) => `${line}\n`);
  const change = modify(
    'five.ts',
    lines.join(''),
    lines.map((line, index) => (index % 5 === 2 ? `x${line}` : line)).join(''),
  );
  harness.workspace.put('five.ts', lines.join(''));
  const { store, invoker } = harness;
  const origin = { sessionId: 's1', asksModel: true, setId: 'five' };
  const { id } = store.stage(draft({ label: 'Edit', changes: [change], origin })).preview;
  const numbers = async (): Promise<(string | undefined)[]> => {
    const hunks = (await hunksOnce(store.get(id)?.changes?.[0] ?? assert.fail())).length;
    while (at(id, 'five.ts', 0) === undefined) await counted();
    return Array.from({ length: hunks }, (_, hunk) => at(id, 'five.ts', hunk)?.split(' ')[0]);
  };
  assert.deepEqual(await numbers(), ['1/5', '2/5', '3/5', '4/5', '5/5']);
  for (const [action, hunk] of [
    ['discard', 1],
    ['apply', 2],
  ] as const) {
    const revision = store.get(id)?.revision ?? assert.fail();
    await resolvePart(
      { store, invoker },
      { id, revision, action, actor: 'human', reason: '' },
      { path: 'five.ts', hunk },
    );
  }
  assert.deepEqual(await numbers(), ['1/5', '3/5', '5/5']);
  const discarded = store.all().find(({ state }) => state.kind === 'discarded') ?? assert.fail();
  const { reopens, changes } = reopenAction(discarded) ?? assert.fail();
  const copy = store.stage(
    draft({ label: 'Again', changes: changes ?? assert.fail(), reopens: reopens ?? '', origin }),
  );
  assert.deepEqual(await numbers(), ['1/5', '3/5', '5/5']);
  assert.equal(at(copy.preview.id, 'five.ts', 0), '2/5 1/1');
});

test('the hunk at a line is the one that holds it, or the last one above', async () => {
  const hunks = await hunksOnce(twoHunks('cart.ts'));
  const lines = [0, 1, 5, 7, 8];
  assert.deepEqual(
    lines.map(line => hunkAt(hunks, 'proposal', line)),
    [-1, 0, 0, 1, 1],
  );
});
