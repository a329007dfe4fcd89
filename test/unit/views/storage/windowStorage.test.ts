import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import assert from 'node:assert/strict';
import { JournalError } from '../../../../src/agent/hold/preview/errors.ts';
import { openPreviewLog } from '../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { create, modify } from '../../../support/changes.ts';
import { aroundDiskCalls } from '../../../support/diskCalls.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { Gate } from '../../../support/gate.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import {
  kill,
  newStorage,
  openWindow,
  outcomes,
  rollback,
  told,
  useStorageWindows,
} from '../../../support/storageWindow.ts';

useStorageWindows();

const UNREAD =
  'Redline cannot read its stored previews. Their file is left untouched; new previews are lost when this window closes.';

/** While it is broken, nothing can be appended to the file. */
function breakable(file: string) {
  return {
    break: () => {
      fs.renameSync(file, `${file}.away`);
      fs.mkdirSync(file);
    },
    mend: () => {
      fs.rmdirSync(file);
      fs.renameSync(`${file}.away`, file);
    },
  };
}

test('what waits is written once more when the window closes, before the storage is unlocked', async () => {
  const { root, log, lock } = newStorage();
  const first = await openWindow(root);
  const disk = breakable(log);
  disk.break();
  await first.store.stage(draft()).stored;
  await first.store.stage(draft()).stored;
  assert.equal(told.length, 1, 'once for both');
  assert.match(
    told[0] ?? '',
    /^Redline cannot save previews .* nothing can be applied\. The operating system reports: /,
  );
  disk.mend();
  const write = first.store.close.bind(first.store);
  first.store.close = () => {
    assert.ok(fs.existsSync(lock), 'the lock is held while it is written');
    return write();
  };
  await first.close();
  assert.equal(fs.existsSync(lock), false);
  const next = await openWindow(root);
  assert.deepEqual(
    next.store.all().map(({ id }) => id),
    ['p1', 'p2'],
  );
  await next.close();
});

test('while files are still being written after that wait, the storage stays locked', async context => {
  const { root, lock } = newStorage();
  const workspace = new MemoryWorkspace();
  const end = await closeWhileWriting(context, await openWindow(root, workspace), workspace);
  assert.ok(fs.existsSync(lock));
  assert.equal((await openWindow(root, workspace)).lock.kind, 'otherWindow');
  await end();
});

/** Closes a window that goes on writing a file for longer than that is waited for. @returns what ends the writing */
async function closeWhileWriting(
  context: TestContext,
  window: Awaited<ReturnType<typeof openWindow>>,
  workspace: MemoryWorkspace,
): Promise<() => Promise<void>> {
  const gate = new Gate();
  workspace.beforeWrite = () => gate.pass();
  const { id } = window.store.stage(draft({ changes: [create('new.txt', 'new')] })).preview;
  const applied = window.apply(id);
  await gate.reached;
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const closed = window.close();
  await new Promise(resolve => setImmediate(resolve));
  context.mock.timers.tick(2_000);
  await closed;
  context.mock.timers.reset();
  return async () => {
    gate.open();
    await applied;
  };
}

test('files that are being written when the window closes are waited for', async () => {
  const { root, lock } = newStorage();
  const workspace = new MemoryWorkspace();
  const window = await openWindow(root, workspace);
  const gate = new Gate();
  workspace.beforeWrite = () => gate.pass();
  const { id } = window.store.stage(draft({ changes: [create('new.txt', 'new')] })).preview;
  const applied = window.apply(id);
  await gate.reached;
  const closed = window.close();
  await new Promise(resolve => setImmediate(resolve));
  assert.ok(fs.existsSync(lock));
  gate.open();
  await applied;
  await closed;
  const next = await openWindow(root, workspace);
  assert.deepEqual(outcomes(next.store), ['p1 applied']);
  assert.deepEqual(told, [], 'nothing was interrupted');
  await next.close();
});

/** A window that died while it applied two files, and had written one of them. */
async function dieInCommit(root: string, workspace: MemoryWorkspace): Promise<string> {
  const window = await openWindow(root, workspace);
  const changes = [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')];
  const { preview, stored } = window.store.stage(draft({ changes }));
  await stored;
  await window.store.beginCommit([preview.id], rollback);
  workspace.put('a.txt', 'A');
  return preview.id;
}

test('an owner that takes over from one that died ends what that one was applying', async () => {
  const { root, lock } = newStorage();
  const workspace = new MemoryWorkspace({ 'a.txt': 'a', 'b.txt': 'b' });
  const id = await dieInCommit(root, workspace);
  kill(lock);
  const next = await openWindow(root, workspace);
  assert.equal(next.lock.kind, 'owned');
  assert.deepEqual(workspace.snapshot(), { 'a.txt': 'a', 'b.txt': 'b' });
  assert.equal(next.store.get(id)?.state.kind, 'pending');
  assert.deepEqual(told, [
    `Applying ${id} was interrupted. All files were restored. The preview is pending again.`,
  ]);
  await next.close();
});

test('an owner whose log cannot be read leaves it as it is, and works in memory', async () => {
  const { root, log } = newStorage();
  await (await openWindow(root)).close();
  const newer = '{"log":"redline.previews","version":99}\n';
  fs.writeFileSync(log, newer);
  const next = await openWindow(root);
  assert.deepEqual([next.lock.kind, next.isDurable], ['owned', false]);
  assert.deepEqual(told, [UNREAD]);
  const own = next.store.stage(draft({ changes: [create('own.txt', 'own')] })).preview.id;
  await next.apply(own);
  assert.equal(next.workspace.text('own.txt'), 'own');
  await next.close();
  assert.equal(fs.readFileSync(log, 'utf8'), newer);
});

test('in a storage that cannot be locked, previews are in memory, which is told', async () => {
  const { root, lock } = newStorage();
  fs.mkdirSync(lock);
  const window = await openWindow(root);
  assert.equal(window.lock.kind, 'unknown');
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /new previews are lost when this window closes\. .* reload the window\.$/);
  const { id } = window.store.stage(draft({ changes: [create('new.txt', 'new')] })).preview;
  await window.apply(id);
  assert.equal(window.workspace.text('new.txt'), 'new');
  await window.close();
  assert.deepEqual(fs.readdirSync(root), ['window.lock']);
});

test('an owner that has lost the storage to another machine writes nothing more, and says so', async () => {
  const { root, log, lock } = newStorage();
  const window = await openWindow(root);
  const [{ preview }] = [window.store.stage(draft({ changes: [create('new.txt', 'new')] }))];
  const before = fs.readFileSync(log, 'utf8');
  fs.writeFileSync(lock, '{"pid":1,"place":"elsewhere"}');
  assert.ok(window.lock.kind === 'owned');
  while (window.lock.lock.isSure) await delay(10);
  window.store.stage(draft());
  await assert.rejects(window.apply(preview.id));
  await window.store.forgetResolved(new Date()).catch(() => undefined);
  assert.equal(told.length, 1);
  assert.match(
    told[0] ?? '',
    /nothing can be applied\. A window on another machine .*: reload this window\.$/,
  );
  await window.close();
  assert.equal(fs.readFileSync(log, 'utf8'), before);
  assert.equal(window.workspace.text('new.txt'), undefined);
  assert.equal(fs.readFileSync(lock, 'utf8'), '{"pid":1,"place":"elsewhere"}');
});

test('a storage that is deleted while it is open: that is told, the lock comes back, and all goes on', async () => {
  const { root, log, lock } = newStorage();
  const workspace = new MemoryWorkspace({ a: 'a' });
  const window = await openWindow(root, workspace);
  const { id } = window.store.stage(draft({ changes: [modify('a', 'a', 'A')] })).preview;
  fs.rmSync(root, { recursive: true });
  const next = window.store.stage(draft({ changes: [create('b', 'b')] })).preview.id;
  await window.store.drain();
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /The storage was deleted: what it held is only in this window/);
  const watcher = fs.watch(root);
  while (!fs.existsSync(lock)) await once(watcher, 'change');
  watcher.close();
  assert.equal((await openWindow(root, workspace)).lock.kind, 'otherWindow');
  for (const each of [id, next]) await window.apply(each);
  assert.deepEqual(workspace.snapshot(), { a: 'A', b: 'b' });
  await window.close();
  assert.equal((await openPreviewLog(log).load()).badLines.length, 0);
  const last = await openWindow(root, workspace);
  assert.equal(last.store.get(next)?.state.kind, 'applied');
  await last.close();
});

for (const [code, advice] of [
  ['ENOSPC', /The disk is full: free some space\./],
  ['EROFS', /The disk is read-only: make it writable\./],
] as const) {
  /** Runs work while each call that would change the disk fails. */
  const whileItFails = (work: () => Promise<unknown>): Promise<void> =>
    aroundDiskCalls(({ isPromised }) => {
      const error = Object.assign(new Error(code), { code });
      if (isPromised) return Promise.reject(error);
      throw error;
    }, work);

  test(`${code} at the start: previews are in memory, which is told with what to do`, async () => {
    const { root } = newStorage();
    await whileItFails(async () => {
      const window = await openWindow(root);
      assert.deepEqual([window.lock.kind, window.isDurable], ['unknown', false]);
      const { id } = window.store.stage(draft({ changes: [create('new.txt', 'new')] })).preview;
      await window.apply(id);
      assert.equal(window.workspace.text('new.txt'), 'new');
      await window.close();
    });
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', advice);
  });

  test(`${code} while a window is open: nothing is applied, which is told; later all is stored`, async () => {
    const { root } = newStorage();
    const window = await openWindow(root);
    const stage = (path: string) => window.store.stage(draft({ changes: [create(path, path)] })).preview.id;
    const ids = [stage('a')];
    await whileItFails(async () => {
      ids.push(stage('b'));
      for (const id of ids) await assert.rejects(window.apply(id), JournalError);
    });
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', advice);
    assert.deepEqual(window.workspace.snapshot(), {});
    await window.close();
    const next = await openWindow(root);
    assert.deepEqual(
      next.store.all().map(({ id, state }) => `${id} ${state.kind}`),
      ids.map(id => `${id} pending`),
    );
    for (const id of ids) await next.apply(id);
    assert.deepEqual(next.workspace.snapshot(), { a: 'a', b: 'b' });
    await next.close();
  });
}

test('while a large log is read, that is told after two seconds', async context => {
  const { root, log } = newStorage();
  const withProgress = ({ title }: { title: string }, work: () => Promise<unknown>): Promise<unknown> =>
    work().finally(() => told.push(title));
  Object.assign(stub.window, { withProgress });
  fs.copyFileSync(path.join(import.meta.dirname, '../../../fixtures/logs/previews.v6.jsonl'), log);
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let isOpen = false;
  const opening = openWindow(root).finally(() => (isOpen = true));
  while (!isOpen) {
    context.mock.timers.tick(2_000);
    await new Promise(resolve => setImmediate(resolve));
  }
  assert.deepEqual(told, ['Redline is reading its stored previews…']);
  context.mock.timers.reset();
  await (await opening).close();
});

test('a preview that can never be written is told by its name, and the others are saved', async () => {
  const { root, log } = newStorage();
  const window = await openWindow(root);
  const endless: { self?: unknown } = {};
  endless.self = endless;
  await window.store.stage(draft({ details: endless })).stored;
  const other = window.store.stage(draft({ changes: [create('new.txt', 'new')] })).preview.id;
  await window.apply(other);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /^Redline cannot save the latest state of p1, .* Everything else is saved\.$/);
  await window.close();
  const { entries } = await openPreviewLog(log).load();
  assert.deepEqual(
    entries.map(({ type }) => type),
    ['staged', 'commit', 'resolved', 'synced'],
  );
});

test('without its first line, a log still opens with every preview in it', async () => {
  const { root, log } = newStorage();
  const first = await openWindow(root);
  for (const path of ['a', 'b']) first.store.stage(draft({ changes: [create(path, path)] }));
  await first.close();
  const [header = '', ...rest] = fs.readFileSync(log, 'utf8').split('\n');
  for (const damaged of [
    '',
    '\0'.repeat(header.length),
    header.replace('log', 'lo\u0001'),
    header.slice(0, 9),
  ]) {
    fs.writeFileSync(log, [damaged, ...rest].join('\n'));
    const window = await openWindow(root);
    assert.equal(window.isDurable, true);
    assert.deepEqual(
      window.store.all().map(({ id }) => id),
      ['p1', 'p2'],
    );
    await window.close();
    assert.equal(fs.readFileSync(log, 'utf8').split('\n')[0], header, 'it is put back');
  }
  assert.deepEqual(told, []);
});

test('a line that is damaged costs that preview, which is told by its name, once, with where it is kept', async () => {
  const { root, log, at } = newStorage();
  const first = await openWindow(root);
  for (const label of ['Edit a', 'Edit b', 'Edit c'])
    first.store.stage(draft({ label, changes: [create(label, label)] }));
  await first.close();
  fs.writeFileSync(
    log,
    fs.readFileSync(log, 'utf8').replace('"Edit b","sourceToolName"', '"Edit b",sourceToolName"'),
  );
  for (let start = 0; start < 2; start++) {
    const window = await openWindow(root);
    assert.deepEqual(
      window.store.all().map(({ id }) => id),
      ['p1', 'p3'],
    );
    await window.close();
  }
  assert.deepEqual(told, [
    `The storage is damaged: these previews, or the latest decisions on them, are lost: p2 (Edit b). The damaged part is kept in ${at('previews.damaged.jsonl')}.`,
  ]);
  assert.match(fs.readFileSync(at('previews.damaged.jsonl'), 'utf8'), /^[^\n]*"Edit b"[^\n]*\n$/);
});
