import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { create, modify } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';

stub.useVscodeStub();
const { askImports, revisionNow } = await import('../../../../../src/views/review/commands/importGuard.ts');

/** A store with p1, which imports what p2 and p3 bring, and a user who answers each question with the next of these. */
function given(...answers: (string | undefined)[]) {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const asked: string[] = [];
  Object.assign(stub.window, {
    showWarningMessage: (text: string, { detail }: { detail: string }, ...buttons: string[]) => {
      asked.push(`${text}|${detail}|${buttons.join(',')}`);
      assert.ok(answers.length > 0, 'it is asked once more');
      return Promise.resolve(answers.shift());
    },
  });
  return { store, asked };
}

test('who applies what imports a pending file is asked once, and may take it along', async () => {
  const { store, asked } = given(undefined, 'Apply Both', 'Apply Only This');
  const cart = modify('src/cart.ts', '', "import { rate } from './tax';\n");
  store.stage(draft({ changes: [cart] }));
  const { id } = store.stage(draft({ changes: [create('src/tax.ts', '')] })).preview;
  assert.equal(await askImports(store, [cart]), undefined);
  assert.deepEqual(await askImports(store, [cart]), [{ id, revision: 1 }]);
  assert.deepEqual(await askImports(store, [cart]), []);
  assert.deepEqual(await askImports(store, [cart]), [], 'the user has decided to do without');
  assert.equal(asked.length, 3);
  assert.match(asked[0] ?? '', /^cart\.ts imports tax\.ts, which is still pending\.\|/);
  assert.match(asked[0] ?? '', /\|Apply Both,Apply Only This$/);
});

test('what else is missing then is taken along, a file of several by itself', async () => {
  const { store } = given('Apply All of Them');
  const shop = create('shop.ts', "import './rates';\n");
  store.stage(draft({ changes: [shop] }));
  const two = [create('rates.ts', "import './land';\n"), create('unrelated.ts', '')];
  const rates = store.stage(draft({ changes: two })).preview.id;
  const land = store.stage(draft({ changes: [create('land.ts', '')] })).preview.id;
  assert.deepEqual(await askImports(store, [shop]), [
    { id: rates, revision: 1, path: 'rates.ts' },
    { id: land, revision: 1 },
  ]);
});

test('a title of several lines is one line of the question', async () => {
  const { store, asked } = given(undefined);
  const cart = modify('src/cart.ts', '', "import { rate } from './tax';\n");
  store.stage(draft({ changes: [create('src/tax.ts', '')], title: 'Tax\nshop.ts imports nothing' }));
  await askImports(store, [cart]);
  assert.match(asked[0] ?? '', /\|cart\.ts imports tax\.ts: Tax shop\.ts imports nothing\|/);
});

test('nothing is asked if nothing is missing', async () => {
  const { store, asked } = given();
  const alone = create('alone.ts', "import './gone';\n");
  store.stage(draft({ changes: [alone] }));
  assert.deepEqual(await askImports(store, [alone]), []);
  assert.deepEqual(asked, []);
});

test('a vote moves on to the revision that others made, if it proposes the same', async () => {
  const { store } = given();
  const changes = [create('a.ts', 'a'), create('b.ts', 'b')];
  const { preview } = store.stage(draft({ changes }));
  await store.revise(preview.id, [create('b.ts', 'b')], [], 'user');
  assert.equal(revisionNow(store, preview, changes.slice(1)), 2);
  assert.equal(revisionNow(store, preview, changes), 1, 'a.ts is no longer in it, so the vote is outdated');
});
