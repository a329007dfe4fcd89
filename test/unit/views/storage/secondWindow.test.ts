import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { JsonLog } from '../../../../src/agent/base/log/jsonLog.ts';
import { binarySide } from '../../../../src/agent/hold/preview/blobs.ts';
import { Contents } from '../../../../src/agent/hold/preview/log/contents.ts';
import { PreviewLog } from '../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { previewLogFormat } from '../../../../src/agent/hold/preview/log/previewLog.ts';
import { countedNumbers, FIRST_RANDOM } from '../../../../src/agent/hold/preview/previewNumbers.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create, modify } from '../../../support/changes.ts';
import { aroundDiskCalls } from '../../../support/diskCalls.ts';
import { draft } from '../../../support/drafts.ts';
import { Gate } from '../../../support/gate.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import {
  kill,
  newStorage,
  openWindow,
  outcomes,
  rollback,
  told,
  vote,
  useStorageWindows,
} from '../../../support/storageWindow.ts';

useStorageWindows();

const fail = (error: unknown): never => assert.fail(String(error));
const pending = (store: PreviewStore): string[] => Array.from(store.open, ({ id }) => id);

test('a second window works in memory, says so in one sentence, and its ids are nobody else’s', async () => {
  const { root } = newStorage();
  const first = await openWindow(root);
  const second = await openWindow(root);
  assert.deepEqual([first.isDurable, second.isDurable], [true, false]);
  assert.deepEqual(told, [
    'Another window stores the previews of this workspace. Until that window closes, those of this one are only in memory, and are lost when it closes or reloads.',
  ]);
  const before = fs.readdirSync(root);
  const changes = [create('new.txt', 'new')];
  const [id = '', other = ''] = second.stage({ changes }, {});
  await second.apply(id);
  assert.equal(second.workspace.text('new.txt'), 'new');
  assert.deepEqual(fs.readdirSync(root), before, 'nothing is written to the storage');
  assert.deepEqual(first.stage({}, {}), ['p1', 'p2']);
  assert.ok([id, other].every(one => Number(one.slice(1)) >= FIRST_RANDOM));
  await second.close();
  assert.deepEqual(pending(first.store), ['p1', 'p2']);
  await first.close();
});

test('once the owner has closed, the second window has its previews, and all are stored', async () => {
  const { root } = newStorage();
  const workspace = new MemoryWorkspace();
  const first = await openWindow(root, workspace);
  const second = await openWindow(root, workspace);
  // Else it could be the one that takes over.
  const third = await openWindow(root, workspace, false);
  const [a = '', b = ''] = first.stage({ changes: [create('a', 'a')] }, { changes: [create('b', 'b')] });
  const bytes = Buffer.from([0, 1, 2, 0xff]);
  const after = await second.store.blobs.put(bytes);
  const binary = { kind: 'create', path: 'c.png', before: null, after } as const;
  const [c = '', d = ''] = second.stage({ changes: [binary] }, { changes: [create('d', 'd')] });
  await first.apply(a);
  await second.apply(d);
  const seen: string[] = [];
  second.store.onDidChange(({ id }) => seen.push(id));
  await first.close();
  await second.taken;
  void third.take();
  assert.ok(seen.includes(b), 'views hear of them');
  assert.deepEqual(new Set(pending(second.store)), new Set([b, c]));
  await second.apply(b);
  assert.equal(workspace.text('b'), 'b');
  const [e = ''] = second.stage({ changes: [create('e', 'e')] });
  assert.equal(third.isDurable, false, 'the lock is held');
  await third.close();
  await second.close();

  const next = await openWindow(root, workspace);
  assert.equal(next.isDurable, true);
  assert.deepEqual(pending(next.store), [c, e]);
  assert.deepEqual(outcomes(next.store), [`${a} applied`, `${d} applied`, `${b} applied`]);
  await next.apply(c);
  assert.deepEqual(Buffer.from((await workspace.read('c.png')) ?? []), bytes);
  await next.close();
});

test('a second window ends what an owner that was killed had begun, and not what it is writing itself', async () => {
  const { root } = newStorage();
  const workspace = new MemoryWorkspace({ 'a.txt': 'a', 'b.txt': 'b' });
  const first = await openWindow(root, workspace);
  const changes = [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')];
  const [id = ''] = first.stage({ changes });
  await first.store.beginCommit([id], rollback);
  workspace.put('a.txt', 'A');

  const second = await openWindow(root, workspace);
  const [own = ''] = second.stage({ changes: [create('new.txt', 'new')] });
  const gate = new Gate();
  workspace.beforeWrite = path => (path === 'new.txt' ? gate.pass() : undefined);
  const applied = second.apply(own);
  await gate.reached;
  told.splice(0);
  kill(path.join(root, 'window.lock'));
  await second.taken;
  assert.match(told.join(), /Applying p1 was interrupted\. All files were restored/);
  assert.equal(workspace.text('a.txt'), 'a');
  gate.open();
  await applied;
  assert.equal(workspace.text('new.txt'), 'new');
  assert.equal(second.store.get(id)?.state.kind, 'pending');
  await second.close();
  const next = await openWindow(root, workspace);
  assert.deepEqual([pending(next.store), outcomes(next.store)], [[id], [`${own} applied`]]);
  await next.close();
});

test('a full disk when the owner closes: the second window keeps its previews, and stores them later', async context => {
  const { root } = newStorage();
  const first = await openWindow(root);
  const second = await openWindow(root, new MemoryWorkspace(), false);
  const [a = ''] = first.stage({ changes: [create('a', 'a')] });
  const [b = ''] = second.stage({ changes: [create('b', 'b')] });
  const log = path.join(root, 'previews.jsonl');
  await first.close();
  fs.renameSync(log, `${log}.away`);
  fs.mkdirSync(log);
  const failed = context.mock.method(second.trouble, 'failed');
  const taken = second.take();
  while (told.length < 2) await new Promise(resolve => setImmediate(resolve));
  assert.match(told[1] ?? '', /cannot save previews/);
  fs.rmdirSync(log);
  fs.renameSync(`${log}.away`, log);
  await taken;
  const later = performance.now() + 600_000;
  context.mock.method(performance, 'now', () => later);
  second.trouble.failed('previews', failed.mock.calls[0]?.arguments[1]);
  assert.equal(told.length, 3, 'the trouble was over, so that it is told again');
  context.mock.restoreAll();
  await second.close();
  const next = await openWindow(root);
  assert.deepEqual(pending(next.store), [a, b]);
  await next.close();
});

test('an owner that was killed may have given out more ids than it has stored', async () => {
  const { root } = newStorage();
  const first = await openWindow(root);
  first.stage({});
  kill(path.join(root, 'window.lock'));
  const second = await openWindow(root);
  assert.deepEqual(second.stage({}, {}), ['p102', 'p103']);
  await second.close();
  const third = await openWindow(root);
  assert.deepEqual(third.stage({}), ['p104']);
  await third.close();
  const log = path.join(root, 'previews.jsonl');
  const stored = fs.readFileSync(log);
  for (const id of ['p205', 'p305', 'p405']) {
    kill(path.join(root, 'window.lock'));
    const next = await openWindow(root);
    assert.deepEqual(next.stage({}), [id], 'also if nothing of the one before was stored');
    fs.writeFileSync(log, stored);
  }
});

test('ids go on above those that windows of an older version have counted in a file', async () => {
  const { root } = newStorage();
  fs.writeFileSync(path.join(root, 'preview-ids'), '\n'.repeat(6) + 'abcdef\n');
  const window = await openWindow(root);
  assert.deepEqual(window.stage({}, {}), ['p8', 'p9']);
  await window.close();
});

test('what a second window of an older version had is in the log of the storage, what it had begun is ended', async () => {
  const { root } = newStorage();
  const windows = path.join(root, 'windows');
  fs.mkdirSync(windows);
  const workspace = new MemoryWorkspace({ 'a.txt': 'a', 'b.txt': 'b' });
  const file = path.join(windows, 'older.jsonl');
  fs.writeFileSync(path.join(windows, 'older.lock'), `{"pid":${process.pid}}`);
  // It has texts in its lines, and binary files in a folder.
  const log = new JsonLog(file, { ...previewLogFormat, version: 8 });
  const sink = Object.assign(log, { compact: () => Promise.reject(new Error('not in this test')) });
  const older = new PreviewStore(sink, fail, { numbers: countedNumbers(7) });
  const before = binarySide(Buffer.of(0, 1));
  fs.mkdirSync(path.join(root, 'blobs'));
  fs.writeFileSync(path.join(root, 'blobs', before.hash), Buffer.of(0, 1));
  const binary = { kind: 'delete', path: 'c.png', before, after: null } as const;
  const applied = older.stage(draft({ changes: [create('new.txt', 'new')] })).preview.id;
  await new Invoker(older, workspace, () => 'apply').resolve({ id: applied, ...vote });
  const changes = [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B'), binary];
  const begun = older.stage(draft({ changes })).preview.id;
  await older.beginCommit([begun], rollback);
  const pending = older.stage(draft({})).preview.id;
  workspace.put('a.txt', 'A');
  workspace.put('c.png', null);
  await (await openWindow(root, workspace)).close();
  assert.equal(workspace.text('a.txt'), 'A', 'that window is still open');
  fs.writeFileSync(path.join(windows, 'older.lock'), '{"pid":2147483646}');
  const window = await openWindow(root, workspace);
  assert.deepEqual([workspace.text('a.txt'), workspace.text('c.png')], ['a', '\0\x01']);
  assert.deepEqual(outcomes(window.store), [`${applied} applied`]);
  assert.deepEqual(
    Array.from(window.store.open, ({ id }) => id),
    [begun, pending],
  );
  for (const left of [windows, `${windows}.contents`]) assert.equal(fs.existsSync(left), false);
  await window.close();
});

test('a disk that is full while that log is joined: nothing that it had applied is undone, and the next start has it', async () => {
  let isOver = false;
  for (let most = 0; !isOver; most++) {
    const { root } = newStorage();
    const windows = path.join(root, 'windows');
    fs.mkdirSync(windows);
    const workspace = new MemoryWorkspace({ 'a.txt': 'a', 'b.txt': 'b' });
    const older = new PreviewStore(
      new PreviewLog(path.join(windows, 'older.jsonl'), new Contents(`${windows}.contents`)),
      fail,
      { numbers: countedNumbers(7) },
    );
    for (const changes of [
      [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')],
      [modify('a.txt', 'A', 'a')],
    ]) {
      const { id } = older.stage(draft({ changes })).preview;
      await new Invoker(older, workspace, () => 'apply').resolve({ id, ...vote });
    }
    await older.close();
    let written = 0;
    isOver = true;
    await aroundDiskCalls(
      ({ name, make }) => {
        if (!/^(?:write|append)/.test(name) || ++written <= most) return make();
        isOver = false;
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      },
      async () => {
        const window = await openWindow(root, workspace, false).catch(() => undefined);
        assert.equal(workspace.text('b.txt'), 'B', `after ${most} writes`);
        await window?.close();
      },
    );
    kill(path.join(root, 'window.lock'));
    const next = await openWindow(root, workspace);
    assert.equal(workspace.text('b.txt'), 'B', `after ${most} writes, at the next start`);
    assert.deepEqual(new Set(outcomes(next.store)), new Set(['p8 applied', 'p9 applied']));
    assert.equal(fs.existsSync(windows), false);
    await next.close();
  }
});

test('what a second window applied since is not taken for lost by a power cut when it takes the storage over', async () => {
  const { root, lock, log } = newStorage();
  const workspace = new MemoryWorkspace({ 'a.txt': 'a' });
  const first = await openWindow(root, workspace);
  const second = await openWindow(root, workspace, false);
  const [id = ''] = first.stage({ changes: [modify('a.txt', 'a', 'A')] });
  await first.apply(id);
  const unsynced = fs.readFileSync(log, 'utf8').replace(/^.*"type":"synced".*\n/m, '');
  const [own = ''] = second.stage({ changes: [modify('a.txt', 'A', 'a')] });
  await second.apply(own);
  await first.store.close();
  fs.writeFileSync(log, unsynced);
  told.splice(0);
  kill(lock);
  await second.take();
  assert.equal(workspace.text('a.txt'), 'a');
  assert.deepEqual(told, []);
  await second.close();
});

test('however often a takeover fails, the numbers that the last owner may have given out are counted once', async () => {
  const { root, at, lock } = newStorage();
  const first = await openWindow(root);
  const second = await openWindow(root, new MemoryWorkspace(), false);
  first.stage({});
  await second.store.blobs.put(Buffer.from([0, 1, 0xff]));
  await first.store.close();
  fs.rmSync(at('contents'), { recursive: true, force: true });
  fs.writeFileSync(at('contents'), 'a file');
  kill(lock);
  let failures = 0;
  let end = (): void => undefined;
  const often = new Promise<void>(resolve => (end = resolve));
  second.trouble.failed = () => void (++failures === 3 && end());
  const taken = second.take();
  await often;
  fs.rmSync(at('contents'));
  await taken;
  assert.equal(fs.statSync(at('preview-ids')).size, 101);
  await second.close();
});

test('a lock file that a power cut left empty keeps nobody from the storage', async () => {
  const { root, lock } = newStorage();
  fs.writeFileSync(lock, '');
  const window = await openWindow(root);
  assert.equal(window.isDurable, true);
  await window.close();
});
