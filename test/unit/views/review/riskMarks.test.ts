import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { PreviewStore } from '../../../../src/agent/preview/previewStore.ts';
import { RiskMarks } from '../../../../src/views/review/riskMarks.ts';
import { create, modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

function given() {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const marks = new RiskMarks(store, silentLogger);
  const found = (): Promise<void> => new Promise(resolve => marks.onDidChange(resolve));
  const kindsOf = (id: string): string[] => marks.of(store.get(id) ?? assert.fail()).map(({ kind }) => kind);
  return { store, marks, found, kindsOf };
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
