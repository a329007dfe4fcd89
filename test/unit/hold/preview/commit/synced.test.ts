import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { completeUnsynced } from '../../../../../src/agent/hold/preview/commit/unsynced.ts';
import { recoverCommits } from '../../../../../src/agent/hold/preview/commit/recovery.ts';
import { type FileChange } from '../../../../../src/agent/hold/preview/fileChange.ts';
import type { ResolvingFiles } from '../../../../../src/agent/hold/preview/resolve/refusals.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create, modify, remove, rename } from '../../../../support/changes.ts';
import { DiskWorkspace } from '../../../../support/diskWorkspace.ts';
import { draft } from '../../../../support/drafts.ts';
import { Random } from '../../../../support/fuzz/random.ts';
import { Gate } from '../../../../support/gate.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { ModelDisk } from '../../../../support/modelDisk.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';
import { MemoryPreviewLog, restoredStore } from '../../../../support/testSession.ts';

const before = { 'a.txt': 'a', 'gone.txt': 'gone', 'from.sh': 'run' };
const after = { 'a.txt': 'A', 'new.txt': 'new', 'to.sh': 'run' };
const changes: readonly FileChange[] = [
  modify('a.txt', 'a', 'A'),
  create('new.txt', 'new'),
  remove('gone.txt', 'gone'),
  rename('from.sh', 'to.sh', 'run', 'run'),
];

/** A workspace whose syncs are recorded, or end as a test says. */
class Disk extends MemoryWorkspace {
  readonly synced: string[][] = [];
  failed: ReadonlyMap<string, unknown> = new Map();
  waiting: Promise<void> | undefined;

  override async sync(paths: readonly string[] = []): Promise<ReadonlyMap<string, unknown>> {
    this.synced.push([...paths].sort());
    await this.waiting;
    return new Map([...this.failed].filter(([path]) => paths.includes(path)));
  }
}

function world(disk: ResolvingFiles, log = new MemoryPreviewLog()) {
  const told: string[] = [];
  const store = restoredStore(log, () => undefined, {
    onUnsynced: (_, failed) => void told.push(...failed.keys()),
  });
  const invoker = new Invoker(store, disk, () => 'apply');
  const apply = (staged = changes): Promise<unknown> =>
    invoker.resolve({
      id: store.stage(draft({ changes: staged })).preview.id,
      action: 'apply',
      reason: 'ok',
      actor: 'human',
    });
  const types = (): string[] => log.lines.map(line => (JSON.parse(line) as { type: string }).type);
  return { store, log, told, apply, types };
}

/** What a start after a power cut finds, that took these files. */
async function cut(lines: readonly string[], found: Readonly<Record<string, string>>) {
  const disk = new Disk(found);
  const { store } = world(disk, new MemoryPreviewLog(lines));
  const rolledBack = await recoverCommits(store, disk);
  return { store, disk, rolledBack, reports: await completeUnsynced(store, disk) };
}

test('files are synced after the answer, new names before old ones go, and the log tells it', async () => {
  const disk = new Disk(before);
  const { apply, types } = world(disk);
  let end = (): void => undefined;
  disk.waiting = undefined;
  const written = disk.write.bind(disk);
  disk.write = async (path, bytes, ...more) => {
    if (bytes === null) assert.deepEqual(disk.synced, [['new.txt', 'to.sh']]);
    if (bytes === null) disk.waiting = new Promise(resolve => (end = resolve));
    return written(path, bytes, ...more);
  };
  await apply();
  assert.deepEqual(types(), ['staged', 'commit', 'resolved'], 'the answer does not wait');
  assert.deepEqual(disk.synced.at(-1), ['a.txt', 'from.sh', 'gone.txt', 'new.txt', 'to.sh']);
  end();
  await new Promise(setImmediate);
  assert.deepEqual(types(), ['staged', 'commit', 'resolved', 'synced']);
});

test('a start without that line writes again what a power cut took, and tells which files', async () => {
  const disk = new Disk(before);
  const { apply, log } = world(disk);
  await apply();
  await new Promise(setImmediate);
  assert.deepEqual((await cut(log.lines, before)).reports, [], 'it was synced');
  const unsynced = log.lines.slice(0, -1);
  assert.deepEqual((await cut(unsynced, after)).reports, [], 'nothing was lost');
  for (const [found, completed] of [
    [before, ['a.txt', 'from.sh', 'gone.txt', 'new.txt', 'to.sh']],
    [{ ...after, 'new.txt': '' }, ['new.txt']],
    [{ ...after, 'to.sh': '\0\0\0', 'a.txt': 'a' }, ['a.txt', 'to.sh']],
    [{ ...after, 'gone.txt': 'gone' }, ['gone.txt']],
  ] as const) {
    const { disk: now, store, reports } = await cut(unsynced, found);
    assert.deepEqual(now.snapshot(), after);
    assert.deepEqual(reports, [{ previewIds: ['p1'], completed, changed: [], failed: [] }]);
    assert.deepEqual(store.unsyncedCommits, []);
  }
});

test('a file of which another preview was discarded since is compared, too', async () => {
  const disk = new Disk(before);
  const { store, apply, log } = world(disk);
  await apply();
  await new Promise(setImmediate);
  const { id } = store.stage(draft({ changes: [modify('a.txt', 'A', 'B')] })).preview;
  const invoker = new Invoker(store, disk, () => 'apply');
  await invoker.resolve({ id, action: 'discard', reason: 'no', actor: 'human' });
  const lines = log.lines.filter(line => !line.includes('"synced"'));
  const { disk: now, reports } = await cut(lines, { ...after, 'a.txt': 'a' });
  assert.deepEqual(now.snapshot(), after);
  assert.deepEqual(reports[0]?.completed, ['a.txt']);
});

test('a renamed file whose old name is back has the new text there, too', async () => {
  const disk = new Disk({ 'from.sh': 'run' });
  const { apply, log } = world(disk);
  await apply([rename('from.sh', 'to.sh', 'run', 'RUN')]);
  const found = { 'from.sh': 'RUN', 'to.sh': 'RUN' };
  const ended = await cut(log.lines.slice(0, 3), found);
  assert.deepEqual(ended.disk.snapshot(), { 'to.sh': 'RUN' });
  assert.deepEqual(ended.reports[0]?.completed, ['from.sh']);
  const interrupted = await cut(log.lines.slice(0, 2), found);
  assert.deepEqual(interrupted.disk.snapshot(), { 'from.sh': 'run' });
  assert.deepEqual(interrupted.rolledBack[0]?.leftAlone, []);
});

test('permission bits that were lost are given again', async () => {
  const disk = new Disk({ 'a.sh': 'a', 'b.sh': 'b' });
  const { apply, log } = world(disk);
  await apply([{ ...modify('a.sh', 'a', 'A'), mode: 0o755 } as FileChange]);
  const { disk: now, reports } = await cut(log.lines.slice(0, 3), { 'a.sh': 'A', 'b.sh': 'b' });
  assert.equal((await now.placeOf('a.sh')).mode, 0o755);
  assert.deepEqual(reports[0]?.completed, ['a.sh']);
});

test('what has changed since is left alone and named', async () => {
  const disk = new Disk(before);
  const { apply, log } = world(disk);
  await apply();
  const found = { ...after, 'a.txt': 'typed since' };
  const { disk: now, reports } = await cut(log.lines.slice(0, 3), found);
  assert.deepEqual(now.snapshot(), found);
  assert.deepEqual(reports, [{ previewIds: ['p1'], completed: [], changed: ['a.txt'], failed: [] }]);
});

test('a commit on the same file waits for the sync of the one before, and only the last one counts', async () => {
  const disk = new Disk({ 'a.txt': 'a' });
  const { apply, log, types } = world(disk);
  let end = (): void => undefined;
  disk.waiting = new Promise(resolve => (end = resolve));
  await apply([modify('a.txt', 'a', 'b')]);
  const second = apply([modify('a.txt', 'b', 'c')]);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  assert.equal(disk.text('a.txt'), 'b');
  end();
  await second;
  assert.equal(disk.text('a.txt'), 'c');
  assert.deepEqual(types().slice(0, 4), ['staged', 'commit', 'resolved', 'staged']);
  const unsynced = log.lines.filter(line => !line.includes('"synced"'));
  const { disk: now, reports } = await cut(unsynced, { 'a.txt': 'b' });
  assert.equal(now.text('a.txt'), 'c');
  assert.deepEqual(
    reports.map(({ previewIds }) => previewIds),
    [['p2']],
  );
});

test('what cannot be synced is told, and compared at the next start', async () => {
  const disk = new Disk(before);
  const log = new MemoryPreviewLog();
  const { apply, store, types } = world(disk, log);
  disk.failed = new Map([['a.txt', new Error('EIO')]]);
  await apply();
  await new Promise(setImmediate);
  assert.equal(types().at(-1), 'resolved');
  assert.equal(store.unsyncedCommits.length, 1);
});

test('a file whose sync fails is written again, and counts as synced only then', async () => {
  const disk = new Disk({ 'a.txt': 'a' });
  const log = new MemoryPreviewLog();
  const { apply, types } = world(disk, log);
  const written: string[] = [];
  disk.beforeWrite = async path => void written.push(path);
  const failing = new Map([['a.txt', new Error('EIO')]]);
  disk.sync = async () => (written.length === 1 ? failing : new Map());
  await apply([modify('a.txt', 'a', 'b')]);
  await new Promise(setImmediate);
  assert.deepEqual(written, ['a.txt', 'a.txt']);
  assert.equal(types().at(-1), 'synced');
  // A later process knows nothing of a sync that failed.
  const next = new Disk({ 'a.txt': 'b' });
  next.beforeWrite = async path => void written.push(path);
  const { store } = world(next, new MemoryPreviewLog(log.lines.slice(0, -1)));
  assert.deepEqual(await completeUnsynced(store, next), []);
  assert.equal(written.length, 3);
});

test('an old name stays if the new one cannot be synced', async () => {
  const disk = new Disk(before);
  const { apply, store, types } = world(disk);
  disk.failed = new Map([['to.sh', new Error('EIO')]]);
  await assert.rejects(
    apply(),
    /to\.sh could not be written: EIO\. Nothing was changed\..* after a power cut/s,
  );
  assert.deepEqual(disk.snapshot(), before);
  assert.equal(store.get('p1')?.state.kind, 'pending');
  assert.ok(!types().includes('synced'));
});

test('a rollback ends with a sync of all files, also of those that an earlier start has restored', async () => {
  const disk = new Disk(before);
  const { apply, log } = world(disk);
  await apply();
  const begun = log.lines.slice(0, 2);
  const again = await cut(begun, before);
  assert.deepEqual(again.disk.synced.flat(), ['a.txt', 'from.sh', 'gone.txt', 'new.txt', 'to.sh']);
  const failing = new Disk({ ...before, 'a.txt': 'A' });
  failing.failed = new Map([['a.txt', new Error('EIO')]]);
  const { store } = world(failing, new MemoryPreviewLog(begun));
  assert.deepEqual((await recoverCommits(store, failing))[0]?.failed, ['a.txt']);
  assert.equal(store.interruptedCommits.length, 1, 'the next start tries again');
});

test('a later start does not count a file as synced that it cannot write again, whatever kind it is', async () => {
  const bytes = Buffer.from('\0new');
  const { blobs } = world(new Disk()).store;
  const binary = { kind: 'create', path: 'c.bin', before: null, after: await blobs.put(bytes) } as const;
  for (const [path, change, content] of [
    ['c.bin', binary, bytes],
    ['a.txt', modify('a.txt', 'a', 'A'), 'A'],
  ] as const) {
    const disk = new Disk({ 'a.txt': 'a' });
    const { store, log } = world(disk);
    await store.blobs.put(bytes);
    disk.failed = new Map([[path, new Error('EIO')]]);
    const invoker = new Invoker(store, disk, () => 'apply');
    const { id } = store.stage(draft({ changes: [change] })).preview;
    await invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'human' });
    await new Promise(setImmediate);
    const next = new Disk({ [path]: content });
    next.makeReadOnly(path);
    const { store: later } = world(next, new MemoryPreviewLog(log.lines));
    const [report] = await completeUnsynced(later, next);
    assert.deepEqual(report?.failed, [path]);
    assert.equal(later.unsyncedCommits.length, 1);
    const writable = new Disk({ [path]: content });
    const { store: last } = world(writable, new MemoryPreviewLog(log.lines));
    assert.deepEqual(await completeUnsynced(last, writable), []);
    assert.deepEqual(
      writable.writes.map(write => write.path),
      [path],
    );
    assert.deepEqual(last.unsyncedCommits, []);
  }
});

test('a file whose rollback could not be synced is written again at the next start', async () => {
  const { apply, log } = world(new Disk({ 'a.txt': 'a' }));
  await apply([modify('a.txt', 'a', 'A')]);
  const next = new Disk({ 'a.txt': 'a' });
  const { store } = world(next, new MemoryPreviewLog(log.lines.slice(0, 2)));
  await recoverCommits(store, next);
  assert.equal(next.writes.length, 1);
});

test('a file whose sync failed is safe once it has a new name, or new bits, and that is synced', async () => {
  const run = '#!/bin/sh\n'.repeat(2_000);
  for (const [change, name] of [
    [rename('a.sh', 'b.sh', `${run}1`, `${run}1`), 'b.sh'],
    [{ ...modify('a.sh', `${run}1`, `${run}1`), mode: 0o755 } as FileChange, 'a.sh'],
  ] as const) {
    const { root } = await TempFolder.create();
    await writeFile(path.join(root, 'a.sh'), `${run}0`, { mode: 0o644 });
    const disk = new ModelDisk(root);
    let toFail = 4; // each sync, and the one after writing again
    disk.syncFails = () => toFail-- > 0;
    const { apply, told, types } = world(new DiskWorkspace(root));
    await disk.watch(async () => {
      await apply([modify('a.sh', `${run}0`, `${run}1`)]);
      while (told.length === 0) await new Promise(setImmediate);
      await apply([change]);
      while (!types().includes('synced')) await new Promise(setImmediate);
    });
    for (let seed = 1; seed <= 20; seed++) {
      disk.cut(disk.now, new Random(seed));
      assert.equal(await readFile(path.join(root, name), 'utf8'), `${run}1`);
    }
  }
});

test('a file whose sync failed is not safe if writing it again only reaches an editor', async () => {
  const disk = new Disk(before);
  const { store, apply } = world(disk);
  disk.failed = new Map([['a.txt', new Error('EIO')]]);
  await apply();
  await new Promise(setImmediate);
  const write = disk.write.bind(disk);
  // An editor has unsaved changes that come to the same text.
  disk.write = async (...given) => {
    const to = await write(...given);
    return given[0] === 'a.txt' ? 'editor' : to;
  };
  disk.placeOf = () => Promise.resolve({ missingFolders: [], isUnsaved: true });
  disk.failed = new Map();
  await apply([modify('to.sh', 'run', 'run it')]);
  await new Promise(setImmediate);
  assert.deepEqual(store.unsyncedCommits[0]?.ids, ['p1']);
});

test('of a commit whose sync failed, a file that has been changed since needs no sync, and is not told', async () => {
  const disk = new Disk(before);
  const { store, apply, told } = world(disk);
  disk.failed = new Map([['a.txt', new Error('EIO')]]);
  await apply();
  await new Promise(setImmediate);
  assert.deepEqual(told, ['a.txt']);
  disk.failed = new Map();
  disk.put('new.txt', 'changed by the user');
  await apply([modify('a.txt', 'A', 'B')]);
  await new Promise(setImmediate);
  assert.deepEqual(told, ['a.txt']);
  assert.deepEqual(store.unsyncedCommits, []);
});

test('a sync that failed has no other files written again that are synced with the next one', async () => {
  const disk = new Disk({ ...before, 'x.txt': 'x', 'y.txt': 'y' });
  const { store, apply } = world(disk);
  disk.failed = new Map([['a.txt', new Error('EIO')]]);
  await apply();
  await new Promise(setImmediate);
  disk.failed = new Map();
  const gate = new Gate();
  disk.waiting = gate.pass();
  await apply([modify('x.txt', 'x', 'X')]);
  await apply([modify('y.txt', 'y', 'Y')]); // waits for the sync of the one before
  const last = apply([modify('a.txt', 'A', 'B')]);
  await new Promise(setImmediate);
  gate.open();
  await last;
  await new Promise(setImmediate);
  assert.deepEqual(store.unsyncedCommits, []);
  assert.equal(disk.writes.filter(({ path }) => path === 'y.txt').length, 1);
  assert.equal(disk.writes.filter(({ path }) => path === 'a.txt').length, 4, 'twice for each text');
});
