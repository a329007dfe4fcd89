import { test } from 'node:test';
import assert from 'node:assert/strict';
import { textResult } from '../../../../../src/agent/hold/preview/pendingAction.ts';
import { OutcomeWait } from '../../../../../src/agent/hold/preview/resolve/outcomeWait.ts';
import { resolvePart } from '../../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { modify } from '../../../../support/changes.ts';
import { createTestSession } from '../../../../support/testSession.ts';

const apply = () => Promise.resolve(textResult('done'));

function setUp(...labels: string[]) {
  const t = createTestSession();
  const watch = new OutcomeWait(t.store);
  const ids = labels.map(label => t.stage({ label, apply }).id);
  for (const id of ids) watch.add(id);
  return { ...t, watch, ids };
}

test('nothing to wait for is over at once', async () => {
  const { watch } = setUp();
  assert.equal(await watch.outcome(), '');
});

test('all are waited for, and their outcomes are told in the order of events', async () => {
  const { watch, ids, click, invoker } = setUp('One', 'Two', 'Three');
  const [one, two, three] = ids as [string, string, string];
  await click(two, 'discard', 'No.');
  await invoker.resolve({ id: one, action: 'apply', reason: 'policy', actor: 'extension' });
  assert.deepEqual(watch.open, [three]);
  const outcome = watch.outcome();
  await click(three, 'apply');
  assert.equal(
    await outcome,
    `The user discarded p2 (Two). This is the user's decision, not a failure. Reason: "No."
Another extension applied p1 (One). Reason: "policy"
The user applied p3 (Three).`,
  );
});

test('to the agent that waits, Redline’s own model is a third party', async () => {
  const { watch, invoker } = setUp('One');
  await invoker.resolve({ id: 'p1', action: 'apply', reason: 'It fits.', actor: 'model' });
  assert.equal(
    await watch.outcome(),
    'p1 (One) was already resolved by the model: applied. Reason: It fits.',
  );
});

test('a preview that can no longer be applied is over, too', async () => {
  const { watch, invoker } = setUp('One');
  const outcome = watch.outcome();
  invoker.expire('p1');
  assert.match(await outcome, /^p1 \(One\) has expired: /);
});

test('what becomes of other previews is not told', async () => {
  const { watch, stage, click } = setUp('One');
  await click(stage({ label: 'Other', apply }).id, 'apply');
  await click('p1', 'apply');
  assert.equal(await watch.outcome(), 'The user applied p1 (One).');
});

test('what becomes of others before the first is added ends nothing', async () => {
  const { watch, stage, click } = setUp();
  await click(stage({ label: 'Other', apply }).id, 'apply');
  const { id } = stage({ label: 'One', apply });
  watch.add(id);
  const outcome = watch.outcome();
  await click(id, 'discard', 'No.');
  assert.match(await outcome, /^The user discarded p2 \(One\)\. /);
});

test('a part that could not be applied is waited for, also once the rest is decided and forgotten', async () => {
  const t = createTestSession({ files: { 'a.txt': 'a', 'b.txt': 'b' } });
  const { store, invoker, workspace, click } = t;
  const watch = new OutcomeWait(store);
  const changes = [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')];
  const { id } = t.stage({ label: 'Edit', changes });
  watch.add(id);
  const outcome = watch.outcome();
  workspace.failWrite(1);
  const vote = { id, revision: 1, action: 'apply', reason: '', actor: 'human' } as const;
  await assert.rejects(resolvePart({ store, invoker }, vote, { path: 'a.txt' }));
  await click(id, 'discard');
  await store.forgetResolved(new Date(Date.now() + 60_000));
  assert.equal(store.get(id), undefined);
  const [part] = store.list('oldestFirst');
  await click(part?.id ?? assert.fail('it is pending'), 'apply');
  const late = new Promise<string>(resolve => setImmediate(resolve, 'it still waits'));
  assert.match(await Promise.race([outcome, late]), /The user applied p2/);
});

test('what became of a preview is told although it is forgotten by the time the last one is decided', async () => {
  const { watch, store, click } = setUp('One', 'Two');
  const outcome = watch.outcome();
  await click('p1', 'discard', 'No.');
  await store.forgetResolved(new Date(Date.now() + 60_000));
  assert.equal(store.get('p1'), undefined);
  await click('p2', 'apply');
  assert.match(await outcome, /^The user discarded p1 \(One\)\..*\nThe user applied p2 \(Two\)\.$/);
});
