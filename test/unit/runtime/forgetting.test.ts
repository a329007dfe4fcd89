import { test } from 'node:test';
import assert from 'node:assert/strict';
import { textResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import { resolvePart } from '../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { undoAction } from '../../../src/agent/hold/preview/undo.ts';
import { modify } from '../../support/changes.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';

const before = Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join('');
const after = before.replace('line 2\n', 'first hunk\n').replace('line 25\n', 'second hunk\n');
const later = (): Date => new Date(Date.now() + 1_000);
const open = (t: TestSession): string[] => t.store.list('oldestFirst').map(({ id }) => id);
const stored = (t: TestSession): string => JSON.stringify(t.log.entries);

/** Another process on the same storage. */
function reloaded({ workspace, log, sessionLog, settings }: TestSession): TestSession {
  return createTestSession({ workspace, log, sessionLog, settings });
}

/** `p1` with two hunks in one file. */
function withTwoHunks(): TestSession {
  const t = createTestSession({ files: { 'a.txt': before } });
  t.stage({ label: 'Two hunks', changes: [modify('a.txt', before, after)] });
  return t;
}

function resolveFirstHunk(t: TestSession, action: 'apply' | 'discard'): Promise<unknown> {
  const request = { id: 'p1', revision: 1, action, reason: 'r', actor: 'human' } as const;
  return resolvePart(t, request, { path: 'a.txt', hunk: 0 });
}

test('a hunk that could not be applied stays pending over Clear History and a reload after the rest was discarded', async () => {
  const t = withTwoHunks();
  t.workspace.failWrite(1);
  await assert.rejects(resolveFirstHunk(t, 'apply'), /ENOSPC/);
  await t.click('p1', 'discard');
  const part = t.store.get('p2');
  await t.store.forgetResolved(later());
  assert.ok(!stored(t).includes('second hunk'), 'what was discarded is gone');

  const again = reloaded(t);
  assert.deepEqual(open(again), ['p2']);
  assert.deepEqual(again.store.get('p2'), part);
  await again.click('p2', 'apply');
  assert.equal(again.workspace.text('a.txt'), before.replace('line 2\n', 'first hunk\n'));
});

test('beyond a number of characters the oldest of what was resolved is forgotten, in memory and on disk', async () => {
  const t = createTestSession({ files: { 'a.txt': 'v0' }, settings: { modelAuthority: 'none' } });
  for (let n = 0; n < 6; n++) {
    t.stage({ label: `Edit ${n}`, changes: [modify('a.txt', `v${n}`, `v${n + 1}`)] });
    await t.click(`p${n + 1}`, n === 2 ? 'discard' : 'apply');
    if (n === 2) t.workspace.put('a.txt', 'v3');
  }
  t.stage({ label: 'Pending', changes: [modify('a.txt', 'v6', 'v7')] });
  // Two characters each, and those that two previews have count once.
  await t.store.forgetResolved(new Date(0), 6);
  assert.deepEqual(
    t.store.all().map(({ id }) => id),
    ['p5', 'p6', 'p7'],
  );
  assert.ok(!stored(t).includes('"v3"'), 'an id may have these letters by chance');
  assert.equal(t.store.ledger().length, 6);
  const again = reloaded(t);
  assert.deepEqual(open(again), ['p7']);
  assert.ok(undoAction(again.store.get('p5') ?? assert.fail()));
});

test('the model hears the outcome of a hunk after the preview that it was split off from is forgotten', async () => {
  const t = withTwoHunks();
  t.workspace.failWrite(1);
  await assert.rejects(resolveFirstHunk(t, 'apply'), /ENOSPC/);
  await t.click('p1', 'discard');
  await t.store.forgetResolved(later());
  const { workspace, log, sessionLog, settings } = t;
  const script = [{ text: 'ok' }];
  const again = createTestSession({ workspace, log, sessionLog, settings, script });
  await again.click('p2', 'discard', 'no more');
  await again.session.prompt('Hello.');
  const told = again.steering().map(({ text }) => text);
  assert.ok(
    told.some(text => /^The user discarded p2 .*"no more"/m.test(text)),
    told.join(),
  );
});

test('a hunk that was discarded is forgotten with its text, while the rest stays pending as it was', async () => {
  const t = withTwoHunks();
  await resolveFirstHunk(t, 'discard');
  const rest = t.store.get('p1');
  assert.ok(stored(t).includes('first hunk'));
  await t.store.forgetResolved(later());
  const again = reloaded(t);
  assert.deepEqual(again.store.get('p1'), rest);
  assert.equal(again.store.get('p2'), undefined, 'nothing is left to reopen');
  const splits = again.log.entries.filter(entry => entry.type === 'revised');
  assert.ok(!JSON.stringify(splits).includes('first hunk'));
  assert.equal(again.stage({ label: 'next', changes: [modify('b.txt', '', 'x')] }).id, 'p3', 'ids go on');
});

test('each half of a split is stale after Clear History and a reload as it was before', async () => {
  for (const action of ['apply', 'discard'] as const) {
    const t = withTwoHunks();
    await t.store.markStale('p1', ['a.txt']);
    t.workspace.failWrite(1);
    await resolveFirstHunk(t, action).catch(() => undefined);
    if (action === 'apply') await t.click('p1', 'discard');
    const [survivor = assert.fail()] = t.store.list('oldestFirst');
    assert.deepEqual(survivor.state.kind === 'pending' && survivor.state.stale, ['a.txt']);
    await t.store.forgetResolved(later());
    assert.deepEqual(reloaded(t).store.get(survivor.id), survivor);
  }
});

test('an expired preview is not forgotten until it is dismissed, however old it is', async () => {
  const t = createTestSession();
  t.stage({ label: 'Deploy', apply: () => Promise.resolve(textResult('done')) });
  const again = reloaded(t);
  await again.store.forgetResolved(later());
  assert.deepEqual(again.store.get('p1')?.state, { kind: 'expired' });
  await again.store.dismiss('p1');
  await again.store.forgetResolved(later());
  assert.equal(again.store.get('p1'), undefined);
  assert.ok(!stored(again).includes('Deploy'));
});

test('listeners hear of each preview that is forgotten, once it is gone', async () => {
  const t = createTestSession({ files: { 'a.txt': 'a' } });
  for (const label of ['one', 'two']) t.stage({ label, changes: [modify('a.txt', 'a', label)] });
  await t.click('p1', 'discard');
  const heard: string[] = [];
  t.store.onDidChange(({ id, state }) =>
    heard.push(`${id} ${state.kind}, ${t.store.get(id) ? 'still known' : 'gone'}`),
  );
  await t.store.forgetResolved(later());
  assert.deepEqual(heard, ['p1 discarded, gone']);
});
