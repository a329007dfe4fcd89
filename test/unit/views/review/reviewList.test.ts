import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Emitter } from '../../../../src/agent/base/event.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import type { ResolveOrder } from '../../../../src/agent/hold/preview/resolveSettings.ts';
import { create } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

stub.useVscodeStub();
const { ReviewList } = await import('../../../../src/views/review/reviewList.ts');

function given(t: TestContext) {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const settings = { order: 'oldestFirst' as ResolveOrder, changed: new Emitter<void>() };
  const list = new ReviewList({
    store,
    settings: {
      get order() {
        return settings.order;
      },
      onDidChange: settings.changed.event,
    },
  } as never);
  t.after(() => list.dispose());
  const stage = (name = ''): string => {
    const origin = { sessionId: name, asksModel: false, agent: { name, version: '' } };
    return store.stage(draft({ changes: [create('a', 'x')], ...(name === '' ? {} : { origin }) })).preview.id;
  };
  const ids = (): string[] => list.list().map(({ id }) => id);
  return { store, settings, list, stage, ids };
}

test('the list is that of the store, with the previews of one agent together', t => {
  const { stage, ids, settings } = given(t);
  for (const name of ['Claude', '', 'Claude', '']) stage(name);
  assert.deepEqual(ids(), ['p1', 'p3', 'p2', 'p4']);
  settings.order = 'newestFirst';
  settings.changed.fire();
  assert.deepEqual(ids(), ['p4', 'p2', 'p3', 'p1']);
});

test('a change set is in reading order once that is loaded', async t => {
  const { store, list, ids, settings } = given(t);
  const origin = { sessionId: 's', asksModel: false, setId: 's/1' };
  const cart = create('cart.ts', "import './tax';");
  for (const change of [create('cart.test.ts', ''), cart, create('tax.ts', '')])
    store.stage(draft({ changes: [change], origin }));
  assert.deepEqual(ids(), ['p1', 'p2', 'p3']);
  await new Promise<void>(resolve => list.onDidChange(resolve));
  assert.deepEqual(ids(), ['p3', 'p2', 'p1']);
  settings.order = 'newestFirst';
  settings.changed.fire();
  assert.deepEqual(ids(), ['p3', 'p2', 'p1']);
});

test('files of a change set of which none comes first stay in the order of the proposal, whatever set comes first', async t => {
  const { store, list, ids, settings } = given(t);
  for (const set of ['s/1', 's/2'])
    for (const name of ['one.txt', 'two.txt']) {
      const origin = { sessionId: 's', asksModel: false, setId: set };
      store.stage(draft({ changes: [create(`${set}/${name}`, '')], origin }));
    }
  assert.equal(ids().length, 4);
  await new Promise<void>(resolve => list.onDidChange(resolve));
  assert.deepEqual(ids(), ['p1', 'p2', 'p3', 'p4']);
  settings.order = 'newestFirst';
  settings.changed.fire();
  assert.deepEqual(ids(), ['p3', 'p4', 'p1', 'p2']);
});

test('a decision or a revision moves no preview of a set, and decided ones have a place among the others', async t => {
  const { store, list, ids } = given(t);
  const origin = { sessionId: 's', asksModel: false, setId: 's/1' };
  // The shop imports the cart, and the cart imports the tax. The note was proposed before.
  const changes = [
    create('note.ts', ''),
    create('shop.ts', "import './cart';"),
    create('tax.ts', ''),
    create('cart.ts', "import './tax';"),
  ];
  for (const change of changes) store.stage(draft({ changes: [change], origin }));
  assert.equal(ids().length, 4);
  await new Promise<void>(resolve => list.onDidChange(resolve));
  const inOrder = ['p1', 'p3', 'p4', 'p2'];
  assert.deepEqual(ids(), inOrder);
  // Without the cart, nothing says that the tax comes before the shop.
  await store.expire('p4');
  assert.deepEqual(ids(), ['p1', 'p3', 'p2']);
  await store.revise('p2', [create('shop.ts', '')], [], 'user');
  assert.deepEqual(ids(), ['p1', 'p3', 'p2']);
  assert.deepEqual(
    list.inOrder(store.all()).map(({ id }) => id),
    inOrder,
  );
});
