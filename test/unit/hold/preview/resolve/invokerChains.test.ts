import { test } from 'node:test';
import assert from 'node:assert/strict';
import { modify } from '../../../../support/changes.ts';
import { createTestSession, type TestSession } from '../../../../support/testSession.ts';

/** `p2` is made on what `p1` makes of `a.txt`; `p1` also changes `b.txt`. */
function stacked(): TestSession {
  const t = createTestSession({ files: { 'a.txt': '1\n', 'b.txt': 'x\n' } });
  t.stage({ label: 'low', changes: [modify('a.txt', '1\n', '2\n'), modify('b.txt', 'x\n', 'y\n')] });
  t.stage({ label: 'high', changes: [modify('a.txt', '2\n', '3\n')] });
  return t;
}

const chained = (t: TestSession, chain: Record<string, number>): Promise<unknown> =>
  t.invoker.resolve({ id: 'p2', revision: 1, action: 'apply', reason: 'r', actor: 'human', chain });

test('a chain applies all previews that were seen, at the revisions that were seen', async () => {
  const t = stacked();
  await chained(t, { p1: 1 });
  assert.deepEqual(t.workspace.snapshot(), { 'a.txt': '3\n', 'b.txt': 'y\n' });
  assert.deepEqual(
    t.store.ledger().map(({ previewId, outcome }) => `${previewId} ${outcome}`),
    ['p1 applied', 'p2 applied'],
  );
});

test('a chain is refused when a preview beneath was revised since, also in a file that the head does not touch', async () => {
  const t = stacked();
  await t.store.revise(
    'p1',
    [modify('a.txt', '1\n', '2\n'), modify('b.txt', 'x\n', 'unseen\n')],
    [],
    'rebase',
  );
  assert.equal(t.store.get('p2')?.revision, 1);
  await assert.rejects(
    chained(t, { p1: 1 }),
    /^ToolError: p1 \(low\) is now at revision 2, but this vote was for revision 1, so it does not count\./,
  );
  assert.deepEqual(t.workspace.snapshot(), { 'a.txt': '1\n', 'b.txt': 'x\n' });
  assert.deepEqual(t.store.ledger(), []);
  await chained(t, { p1: 2 });
  assert.equal(t.workspace.text('b.txt'), 'unseen\n');
});

test('a chain is refused when it leaves out a preview beneath', async () => {
  const t = stacked();
  await assert.rejects(chained(t, {}), { name: 'BlockedPreviewError', blockers: ['p1'] });
  await assert.rejects(chained(t, { p7: 1 }), { name: 'BlockedPreviewError', blockers: ['p1'] });
  assert.equal(t.workspace.text('a.txt'), '1\n');
});
