import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { textOf, type FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import type { LedgerEntry } from '../../../../src/agent/hold/preview/ledger.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import type { TextSearch } from '../../../../src/agent/hold/preview/textSearch.ts';
import { RiskMarks } from '../../../../src/views/review/riskMarks.ts';
import { create, modify, remove } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

function given() {
  const disk = { cart: "import './money';", searches: 0, until: Promise.resolve() };
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const search: TextSearch['search'] = async ({ query }, _limit, _signal, pending) => {
    disk.searches++;
    await disk.until;
    const side = pending.at('src/cart.ts')?.side;
    const text = side ? textOf(side) : disk.cart;
    return {
      matches: text.includes(query) ? [{ path: 'src/cart.ts', line: 1, text, at: 0 }] : [],
    };
  };
  const marks = new RiskMarks(store, silentLogger, search);
  const found = (): Promise<void> => new Promise(resolve => marks.onDidChange(resolve));
  const kindsOf = (id: string): string[] => marks.of(store.get(id) ?? assert.fail()).map(({ kind }) => kind);
  return { store, disk, marks, found, kindsOf };
}

test('risks are found in the background, and again for each revision', async () => {
  const { store, found, kindsOf } = given();
  const { id } = store.stage(draft({ changes: [create('package.json', '{}')] })).preview;
  assert.deepEqual(kindsOf(id), []);
  await found();
  assert.deepEqual(kindsOf(id), ['configuration']);
  await store.revise(id, [create('.github/ci.yml', 'x\n'.repeat(201))], [], 'user');
  assert.deepEqual(kindsOf(id), []);
  await found();
  assert.deepEqual(kindsOf(id), ['configuration', 'large']);
  store.beginResolving(id, 'discard', 'human');
  assert.deepEqual(kindsOf(id), [], 'it is decided');
});

test('a deleted file that is still imported is marked until a pending change takes the import away', async () => {
  const { store, found, kindsOf } = given();
  const origin = { sessionId: 's', asksModel: false, setId: 's/1' };
  const stage = (...changes: readonly FileChange[]): string =>
    store.stage(draft({ changes, origin })).preview.id;
  const deleting = stage(remove('src/money.ts', 'x\n'));
  kindsOf(deleting);
  await found();
  assert.deepEqual(kindsOf(deleting), ['imported', 'deletes']);
  const mending = stage(modify('src/cart.ts', "import './money';", '// nothing'));
  kindsOf(deleting);
  await found();
  assert.deepEqual(kindsOf(deleting), ['deletes']);
  store.beginResolving(mending, 'discard', 'human');
  await store.endResolving([discarded(mending)], []);
  kindsOf(deleting);
  await found();
  assert.deepEqual(kindsOf(deleting), ['imported', 'deletes']);
});

test('an import that is removed by hand takes the mark away', async () => {
  const { store, disk, marks, found, kindsOf } = given();
  const { id } = store.stage(draft({ changes: [remove('src/money.ts', 'x\n')] })).preview;
  kindsOf(id);
  await found();
  assert.deepEqual([kindsOf(id), marks.importers()], [['imported', 'deletes'], ['src/cart.ts']]);
  disk.cart = '// nothing';
  marks.filesChanged(['src/other.ts']);
  const told = found();
  marks.filesChanged(['src/cart.ts']);
  await told;
  kindsOf(id);
  await found();
  assert.deepEqual([kindsOf(id), marks.importers()], [['deletes'], []]);
});

test('while one is looked at, those that are decided are not waited for', async () => {
  const { store, disk, marks, found, kindsOf } = given();
  const origin = { sessionId: 's', asksModel: false, setId: 's/1' };
  const ids = Array.from(
    { length: 40 },
    (_, at) => store.stage(draft({ changes: [remove(`d/${at}.ts`, 'x\n')], origin })).preview.id,
  );
  const show = (): void => {
    for (const preview of store.open) marks.of(preview);
  };
  show();
  while (kindsOf(ids.at(-1) ?? '').length === 0) await found();
  assert.equal(disk.searches, 40);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  disk.until = promise;
  for (const id of ids) {
    store.beginResolving(id, 'discard', 'human');
    show();
    await store.endResolving([discarded(id)], []);
    show();
  }
  resolve(undefined);
  const last = store.stage(draft({ changes: [create('package.json', '{}')] })).preview.id;
  show();
  while (kindsOf(last).length === 0) await found();
  assert.ok(disk.searches <= 41, `${disk.searches} searches`);
});

function discarded(previewId: string): LedgerEntry {
  return {
    previewId,
    action: 'discard',
    actor: 'human',
    reason: 'No.',
    outcome: 'discarded',
    at: '2026-01-01T00:00:00.000Z',
    label: 'Edit',
    sourceToolName: 'edit_file',
    files: [],
  } as never;
}

test('only the plan that the user approved for the same prompt counts', async () => {
  const { store, found, kindsOf } = given();
  const origin = (setId: string) => ({ sessionId: 's', asksModel: false, setId });
  const stagePlan = (setId: string): string => {
    const details = { title: 'Plan', text: 'Change src/a.ts.' };
    return store.stage({
      ...draft({ changes: null, details, origin: origin(setId) }),
      kind: 'plan',
      changes: null,
    }).preview.id;
  };
  const approved = stagePlan('s/1');
  stagePlan('s/2');
  store.beginResolving(approved, 'apply', 'human');
  const by = { previewId: approved, action: 'apply', actor: 'human', reason: 'Fine.' } as const;
  await store.endResolving(
    [
      {
        ...by,
        at: '2026-01-01T00:00:00.000Z',
        label: 'Plan',
        sourceToolName: 'plan',
        outcome: 'applied',
      } as never,
    ],
    [],
  );
  const changes = [modify('src/b.ts', 'a', 'b')];
  const inside = store.stage(draft({ changes: [modify('src/a.ts', 'a', 'b')], origin: origin('s/1') }))
    .preview.id;
  const outside = store.stage(draft({ changes, origin: origin('s/1') })).preview.id;
  const other = store.stage(draft({ changes: [...changes], origin: origin('s/2') })).preview.id;
  for (const id of [inside, other, outside]) kindsOf(id);
  await found();
  assert.deepEqual([inside, outside, other].map(kindsOf), [[], ['outsidePlan'], []]);
});
