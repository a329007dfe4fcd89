import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Emitter } from '../../../../src/agent/base/event.ts';
import type { Preview } from '../../../../src/agent/preview/preview.ts';
import { PreviewStore } from '../../../../src/agent/preview/previewStore.ts';
import type { ResolveOrder } from '../../../../src/agent/preview/resolveSettings.ts';
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

test('a change set is in reading order once that is loaded, unless the user arranged it', async t => {
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
  assert.deepEqual(ids(), ['p3', 'p2', 'p1'], 'the setting counts only where reading leaves the order open');
  list.setArrangement({ arrange: previews => previews.slice(1), isReading: true, filter: 'two' });
  assert.deepEqual(ids(), ['p2', 'p1']);
  list.setArrangement({ arrange: previews => previews, isReading: false, filter: undefined });
  assert.deepEqual(ids(), ['p3', 'p2', 'p1']);
});

test('what the user arranged is the list, and a note tells how much a filter hides', t => {
  const { list, stage, ids } = given(t);
  for (let n = 0; n < 3; n++) stage();
  assert.equal(list.filterNote, '');
  list.setArrangement({
    arrange: previews => previews.slice(1).reverse(),
    isReading: false,
    filter: 'not yet viewed',
  });
  assert.deepEqual(ids(), ['p3', 'p2']);
  assert.equal(list.hidden, 1);
  assert.equal(list.filterNote, '2 of 3 shown: not yet viewed');
  stage();
  assert.deepEqual(ids(), ['p4', 'p3', 'p2']);
  list.setArrangement(undefined);
  assert.equal(list.hidden, 0);
});

test('it is arranged once for each change, however often it is read', t => {
  const { list, stage, ids } = given(t);
  let times = 0;
  const arrange = (previews: readonly Preview[]): readonly Preview[] => {
    times++;
    return previews;
  };
  list.setArrangement({ arrange, isReading: false, filter: undefined });
  stage();
  for (let n = 0; n < 3; n++) ids();
  assert.equal(times, 1);
  list.refresh();
  ids();
  assert.equal(times, 2);
});
