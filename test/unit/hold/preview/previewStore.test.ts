import { test } from 'node:test';
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LedgerEntry } from '../../../../src/agent/hold/preview/ledger.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import type { PreviewLogEntry } from '../../../../src/agent/hold/preview/log/previewLog.ts';
import { EncodingError } from '../../../../src/agent/base/log/jsonLines.ts';
import { JournalError } from '../../../../src/agent/hold/preview/errors.ts';
import { UnstoredLog } from '../../../../src/agent/hold/preview/log/unstoredLog.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { draft } from '../../../support/drafts.ts';
import { Gate } from '../../../support/gate.ts';
import { noSpace } from '../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

const failOnLog = (error: unknown): void => assert.fail(String(error));
const openStore = (log = new MemoryPreviewLog()): PreviewStore => {
  const store = new PreviewStore(log, failOnLog);
  store.restore(log.entries);
  return store;
};
const ids = (previews: readonly Preview[]): string[] => previews.map(preview => preview.id);
const attempt = (preview: Preview, over: Partial<LedgerEntry> = {}): LedgerEntry => ({
  previewId: preview.id,
  label: preview.label,
  kind: preview.kind,
  sourceToolName: preview.sourceToolName,
  action: 'apply',
  actor: 'human',
  reason: 'because',
  outcome: 'applied',
  at: '2026-01-01T00:00:00.000Z',
  files: [],
  ...over,
});

test('previews are numbered from p1 and pending at revision 1', () => {
  const store = openStore();
  assert.equal(store.hasPending, false);
  const { preview } = store.stage(draft());
  assert.equal(preview.id, 'p1');
  assert.equal(preview.revision, 1);
  assert.deepEqual(preview.state, { kind: 'pending', stale: [] });
  assert.equal(store.get('p1'), preview);
  assert.equal(store.hasPending, true);
  assert.equal(store.stage(draft()).preview.id, 'p2');
});

test('the head of the list is the newest or the oldest, by order', () => {
  const store = openStore();
  for (let n = 0; n < 3; n++) store.stage(draft());
  assert.deepEqual(ids(store.list('newestFirst')), ['p3', 'p2', 'p1']);
  assert.deepEqual(ids(store.list('oldestFirst')), ['p1', 'p2', 'p3']);
});

test('a preview is listed while it is being resolved, and not afterwards', async () => {
  const store = openStore();
  const { preview } = store.stage(draft());
  store.beginResolving('p1', 'apply', 'human');
  assert.deepEqual(store.get('p1')?.state, { kind: 'applying', action: 'apply', actor: 'human' });
  assert.deepEqual(ids(store.list('newestFirst')), ['p1']);
  await store.endResolving([attempt(preview)], [preview]);
  assert.deepEqual(store.list('newestFirst'), []);
  assert.equal(store.hasPending, false);
  assert.deepEqual(ids(store.all()), ['p1'], 'but kept');
});

test('an attempt that failed gives back the state before it, with the error', async () => {
  const store = openStore();
  store.stage(draft());
  await store.recommend('p1', { action: 'apply', reason: 'ok' });
  const before = store.get('p1') ?? assert.fail();
  store.beginResolving('p1', 'apply', 'human');
  await store.endResolving([attempt(before, { outcome: 'failed', message: 'no space' })], [before]);
  assert.deepEqual(store.get('p1')?.state, {
    kind: 'pending',
    stale: [],
    recommendation: { action: 'apply', reason: 'ok' },
    lastError: 'no space',
  });
});

test('listeners get each change with the new state, and a resolution after the change', async () => {
  const store = openStore();
  const heard: string[] = [];
  store.onDidChange(preview => heard.push(`${preview.id} ${preview.state.kind}`));
  store.onDidResolve(entries => {
    for (const { previewId } of entries)
      heard.push(`resolved ${previewId} ${store.get(previewId)?.state.kind}`);
  });
  const { preview } = store.stage(draft());
  await store.markStale('p1', ['a.txt']);
  store.beginResolving('p1', 'apply', 'human');
  await store.endResolving([attempt(preview)], [preview]);
  assert.deepEqual(heard, ['p1 pending', 'p1 pending', 'p1 applying', 'p1 applied', 'resolved p1 applied']);
});

test('staleness is recorded, and cleared by an empty list', async () => {
  const store = openStore();
  store.stage(draft());
  await store.markStale('p1', ['a.txt']);
  assert.deepEqual(store.get('p1')?.state, { kind: 'pending', stale: ['a.txt'] });
  await store.markStale('p1', []);
  assert.deepEqual(store.get('p1')?.state, { kind: 'pending', stale: [] });
});

test('nothing that comes late makes a preview pending again that is being resolved or is resolved', async () => {
  const store = openStore();
  const { preview } = store.stage(draft());
  store.beginResolving('p1', 'apply', 'human');
  await store.markStale('p1', ['a.txt']);
  await store.recommend('p1', { action: 'discard', reason: 'late' });
  assert.equal(store.get('p1')?.state.kind, 'applying');
  await store.endResolving([attempt(preview)], [preview]);
  await store.markStale('p1', ['a.txt']);
  await store.recommend('p1', { action: 'discard', reason: 'late' });
  assert.equal(store.get('p1')?.state.kind, 'applied');
});

test('after a reload everything is as it was, and ids go on counting', async () => {
  const log = new MemoryPreviewLog();
  const store = openStore(log);
  const { preview } = store.stage(draft({ details: { n: 1 } }));
  store.stage(draft({ label: 'second' }));
  store.stage(draft({ label: 'third' }));
  store.beginResolving('p1', 'apply', 'human');
  await store.endResolving([attempt(preview)], [preview]);
  await store.recommend('p2', { action: 'discard', reason: 'no' });
  await store.markStale('p3', ['a.txt']);

  const reloaded = openStore(log);
  assert.deepEqual(reloaded.all(), store.all());
  assert.deepEqual(reloaded.ledger(), store.ledger());
  assert.equal(reloaded.stage(draft()).preview.id, 'p4');
});

test('a preview that was being resolved when the process ended is pending again', () => {
  const log = new MemoryPreviewLog();
  const store = openStore(log);
  store.stage(draft());
  store.beginResolving('p1', 'apply', 'model');
  assert.equal(openStore(log).get('p1')?.state.kind, 'pending');
});

test('opaque previews expire with a reload, once; what was resolved stays so', async () => {
  const log = new MemoryPreviewLog();
  const store = openStore(log);
  store.stage(draft({ changes: null }));
  const { preview } = store.stage(draft({ changes: null }));
  store.beginResolving(preview.id, 'apply', 'human');
  await store.endResolving([attempt(preview)], [preview]);

  for (let reload = 0; reload < 2; reload++) {
    const reloaded = openStore(log);
    assert.equal(reloaded.get('p1')?.state.kind, 'expired');
    assert.equal(reloaded.get('p2')?.state.kind, 'applied');
    assert.deepEqual(reloaded.list('newestFirst'), []);
  }
  assert.equal(log.entries.filter(entry => entry.type === 'expired').length, 1);
});

test('an id that occurs anywhere in the log is not reused, even if its preview could not be read', () => {
  const log = new MemoryPreviewLog();
  const store = openStore(log);
  const { preview } = store.stage(draft());
  const lost: readonly PreviewLogEntry[] = [
    { type: 'resolved', entries: [attempt({ ...preview, id: 'p7' })] },
    { type: 'stale', id: 'nonsense', paths: [] },
  ];
  for (const entry of lost) void log.append(entry);
  assert.equal(openStore(log).stage(draft()).preview.id, 'p8');
});

test('a log that cannot be written is reported once, rejects nothing, and does not stop the store', async () => {
  const log = new MemoryPreviewLog();
  const failures: unknown[] = [];
  const store = new PreviewStore(log, error => failures.push(error));
  log.fault = new Error('disk full');
  const { preview, stored } = store.stage(draft());
  await stored;
  await store.recommend('p1', { action: 'apply', reason: 'ok' });
  assert.deepEqual(failures, [log.fault]);
  assert.equal(store.get('p1')?.id, preview.id);
});

test('what could not be written is written later, in order, and the recovery is reported once', async () => {
  const log = new MemoryPreviewLog();
  let recoveries = 0;
  const store = new PreviewStore(log, () => undefined, { onLogRecovery: () => void recoveries++ });
  log.fault = new Error('disk full');
  store.stage(draft());
  await store.recommend('p1', { action: 'apply', reason: 'ok' });
  assert.deepEqual(log.lines, []);
  log.fault = undefined;
  await store.stage(draft()).stored;
  assert.deepEqual(log.lines, [], 'it joins what waits');
  assert.equal(await store.drain(), true);
  assert.deepEqual(openStore(log).all(), store.all());
  assert.equal(recoveries, 1);
});

test('once what could not be synced is, the recovery is reported, unless something waits to be written', async context => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const log = new MemoryPreviewLog();
  const told: string[] = [];
  const store = new PreviewStore(log, error => told.push(String(error)), {
    onLogRecovery: () => void told.push('recovered'),
  });
  const later = async (): Promise<void> => {
    context.mock.timers.tick(1_000);
    await nextTurn();
  };
  log.flush = () => Promise.reject(new Error('not synced'));
  store.stage(draft());
  await later();
  log.flush = () => Promise.resolve();
  await later();
  assert.deepEqual(told.splice(0), ['Error: not synced', 'recovered']);
  log.flush = () => Promise.reject(new Error('not synced'));
  store.stage(draft());
  await later();
  log.fault = new Error('not written');
  await store.stage(draft()).stored;
  log.flush = () => Promise.resolve();
  await later();
  assert.deepEqual(told.splice(0), ['Error: not synced', 'Error: not written']);
  log.fault = undefined;
  await store.drain();
  assert.deepEqual(told, ['recovered']);
});

test('a journal that cannot be written rejects and is dropped; one that follows what waits is written after it', async () => {
  const log = new MemoryPreviewLog();
  const store = new PreviewStore(log, () => undefined);
  const rollback = { newFolders: [], modes: {} };
  log.fault = new Error('disk full');
  const { preview } = store.stage(draft());
  await assert.rejects(store.beginCommit([preview.id], rollback), /disk full/);
  log.fault = undefined;
  await store.beginCommit([preview.id], rollback);
  assert.deepEqual(
    log.entries.map(({ type }) => type),
    ['staged', 'commit'],
  );
});

test('a preview that can never be stored holds up no other, and is not applied: a crash could not be recovered from', async () => {
  const log = new MemoryPreviewLog();
  const failures: unknown[] = [];
  const store = new PreviewStore(log, error => failures.push(error));
  const rollback = { newFolders: [], modes: {} };
  log.fault = new EncodingError(new RangeError('Invalid string length'));
  const { preview, stored } = store.stage(draft());
  const applying = store.beginCommit([preview.id], rollback); // before that is known
  await stored;
  assert.deepEqual(failures[0], log.fault);
  log.fault = undefined;
  await assert.rejects(applying, JournalError);
  const other = store.stage(draft());
  await store.beginCommit([other.preview.id], rollback);
  await assert.rejects(store.beginCommit([preview.id], rollback), JournalError);
  await assert.rejects(store.beginAction(preview.id) ?? assert.fail('it was written'), JournalError);
  assert.deepEqual(
    log.entries.map(({ type }) => type),
    ['staged', 'commit'],
  );
});

test('that holds too for one whose entry waited before it turned out that it can never be stored', async () => {
  const log = new MemoryPreviewLog();
  const unstorable: (readonly string[])[] = [];
  const store = new PreviewStore(log, () => undefined, { onUnstorable: ids => unstorable.push(ids) });
  log.failAppend(1);
  const { preview, stored } = store.stage(draft());
  await stored;
  log.failAppend(1, 1, new EncodingError(new RangeError('Invalid string length')));
  await assert.rejects(store.beginCommit([preview.id], { newFolders: [], modes: {} }), JournalError);
  assert.deepEqual(unstorable, [[preview.id]]);
});

test('closing writes what waits, and says whether all is written', async () => {
  const log = new MemoryPreviewLog();
  const store = new PreviewStore(log, () => undefined);
  log.failAppend(1);
  await store.stage(draft()).stored;
  await store.stage(draft()).stored;
  assert.equal(await store.close(), true);
  assert.deepEqual(
    log.entries.map(({ type }) => type),
    ['staged', 'staged'],
  );
  const full = new MemoryPreviewLog();
  const failing = new PreviewStore(full, () => undefined);
  full.fault = new Error('disk full');
  await failing.stage(draft()).stored;
  assert.equal(await failing.close(), false);
});

test('history is not cleared while entries wait: they would bring it back', async () => {
  const log = new MemoryPreviewLog();
  const store = new PreviewStore(log, () => undefined);
  log.failAppend(2, 2);
  const { preview } = store.stage(draft());
  await store.endResolving([attempt(preview)], [preview]);
  await assert.rejects(store.forgetResolved(new Date()), /cannot be written/);
  const other = store.stage(draft()).preview;
  await store.endResolving([attempt(other)], [other]);
  await store.forgetResolved(new Date());
  assert.deepEqual(
    log.entries.map(({ type }) => type),
    ['resolved', 'resolved'],
  );
});

test('a long log is restored in turns, to the same state as at once', async context => {
  const log = new MemoryPreviewLog();
  const staging = openStore(log);
  for (let n = 0; n < 50; n++) staging.stage(draft(n % 2 ? {} : { changes: null }));
  log.lines.splice(20, 0, '{"type":"staged","id":"p77"');
  const { entries, unreadable } = log.load();
  const [atOnce, inTurns] = [log, new MemoryPreviewLog(log.lines)].map(
    log => new PreviewStore(log, error => assert.fail(String(error))),
  ) as [PreviewStore, PreviewStore];
  atOnce.restore(entries, unreadable);

  let now = 0;
  context.mock.method(performance, 'now', () => (now += 6)); // two looks at the clock use up a slice
  let turns = 0;
  let restoring = true;
  const others = (): void => {
    turns++;
    if (restoring) setImmediate(others);
  };
  setImmediate(others);
  await inTurns.restoreInTurns(entries, unreadable);
  restoring = false;
  assert.ok(turns >= 20, `${turns} turns`);
  assert.deepEqual(inTurns.all(), atOnce.all());
  assert.deepEqual(inTurns.interruptedCommits, atOnce.interruptedCommits);
  assert.equal(inTurns.stage(draft()).preview.id, 'p78');
});

for (const leaves of ['nothing', 'a torn line', 'the line'] as const)
  test(`a write that is said to have failed and leaves ${leaves}: what is read later is what happened`, async () => {
    const log = new MemoryPreviewLog();
    const store = new PreviewStore(log, () => undefined);
    log.failAppend(1, 2, noSpace(), leaves); // staging it with the journal, and once more
    const { preview } = store.stage(draft());
    await assert.rejects(store.beginCommit([preview.id], { newFolders: [], modes: {} }), JournalError);
    await store.endResolving([attempt(preview, { outcome: 'failed' })], [preview]);
    assert.equal(await store.drain(), false);
    assert.equal(openStore(new MemoryPreviewLog(log.lines)).ledger().length, 0, 'the process could die here');
    assert.equal(await store.drain(), true);
    const restored = openStore(log);
    assert.deepEqual(restored.all(), store.all());
    assert.deepEqual(restored.ledger(), store.ledger());
    assert.deepEqual(restored.interruptedCommits, []);

    log.failAppend(1, 1, noSpace(), leaves);
    await store.endResolving([attempt(preview, { outcome: 'failed' })], [preview]);
    assert.equal(await store.drain(), true);
    assert.equal(openStore(log).ledger().length, 2, 'each attempt once');
  });

test('entries reach the log in the order of the calls', async () => {
  const log = new MemoryPreviewLog();
  const store = openStore(log);
  const { preview } = store.stage(draft());
  void store.recommend('p1', { action: 'apply', reason: 'ok' });
  store.beginResolving('p1', 'apply', 'human');
  await store.endResolving([attempt(preview)], [preview]);
  assert.deepEqual(
    log.entries.map(entry => entry.type),
    ['staged', 'recommended', 'resolved'],
  );
});

test('resolving a preview that does not exist is a programming error', () => {
  assert.throws(() => openStore().beginResolving('p1', 'apply', 'human'), /No preview p1/);
});

test('reading a ledger without marks, which an older version wrote, looks at each line a few times only', () => {
  let looks = 0;
  const lines = Array.from({ length: 500 }, (_, n): PreviewLogEntry => {
    const attempt: LedgerEntry = {
      previewId: '',
      label: 'x',
      kind: 'files',
      sourceToolName: 't',
      action: 'apply',
      actor: 'human',
      reason: '',
      outcome: n % 2 === 0 ? 'applied' : 'failed',
      at: '2026-01-01T00:00:00.000Z',
      files: [],
    };
    const look = (): string => {
      looks++;
      return `p${n + 1}`;
    };
    const previewId = { get: look, enumerable: true };
    return { type: 'resolved', entries: [Object.defineProperty(attempt, 'previewId', previewId)] };
  });
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  store.restore([...lines, ...lines]);
  assert.equal(store.ledger().length, 500);
  assert.ok(looks < 20 * lines.length, `${looks} looks`);
});

test('what this window forgets while it takes over the storage keeps nothing else from being told', async context => {
  let now = 0;
  context.mock.method(performance, 'now', () => (now += 6)); // two looks at the clock use up a slice
  const log = new MemoryPreviewLog();
  const other = openStore(log);
  const first = other.stage(draft()).preview;
  await other.endResolving([attempt(first)], [first]);
  for (let n = 0; n < 50; n++) other.stage(draft());
  const store = new PreviewStore(new UnstoredLog(), failOnLog);
  const told = new Set<string>();
  store.onDidChange(({ id, state }) => told.add(`${id} ${state.kind}`));
  let isOver = false;
  const adopted = store.adopt(log.entries).finally(() => (isOver = true));
  while (!isOver) {
    await store.forgetResolved(new Date());
    await nextTurn();
  }
  await adopted;
  assert.equal(store.get(first.id), undefined);
  assert.equal([...told].filter(each => each.endsWith('pending')).length, 50, [...told].join(', '));
});

test('a store is closed once the forgetting that runs has ended, and begins no other', async () => {
  const log = new MemoryPreviewLog();
  const store = openStore(log);
  const { preview } = store.stage(draft());
  await store.endResolving([attempt(preview)], [preview]);
  const gate = new Gate();
  const compact = log.compact.bind(log);
  log.compact = async (...given) => {
    await gate.pass();
    await compact(...given);
  };
  const forgotten = store.forgetResolved(new Date());
  const again = store.forgetResolved(new Date());
  await gate.reached;
  let isClosed = false;
  const closed = store.close().finally(() => (isClosed = true));
  await nextTurn();
  assert.equal(isClosed, false, 'another window would write what is removed');
  gate.open();
  assert.equal(await closed, true);
  await forgotten;
  await assert.rejects(again, /cannot be written/);
});
