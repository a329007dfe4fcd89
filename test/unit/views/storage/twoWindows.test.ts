import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { recoverCommits } from '../../../../src/agent/hold/preview/commit/recovery.ts';
import { openPreviewLog } from '../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { previewNumbersIn } from '../../../../src/views/storage/previewNumbers.ts';
import { openSideLog, recoverSideLogs } from '../../../../src/views/storage/sideLog.ts';
import { create } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());
let count = 0;

const fail = (error: unknown): never => assert.fail(String(error));

/** A window on a storage, as the extension opens it: with the main log, or with a side log. */
async function openWindow(storage: string, file = path.join(storage, 'previews.jsonl')) {
  const numbers = await previewNumbersIn(storage, fail);
  const log = openPreviewLog(file);
  const { entries, unreadable } = await log.load();
  const store = new PreviewStore(log, fail, { numbers });
  store.restore(entries, unreadable);
  return store;
}

const stage = (store: PreviewStore): string => store.stage(draft()).preview.id;
const newStorage = (): string => temp.at(`storage${count++}`);

test('two windows on one storage never use the same id, nor does any window after them', async () => {
  const storage = newStorage();
  const main = await openWindow(storage);
  const side = await openSideLog(path.join(storage, 'windows'));
  const second = await openWindow(storage, side.file);
  const ids = [stage(main), stage(second), stage(second), stage(main)];
  // The second window dies, and its log is recovered and deleted. Its conversation is stored and still names its previews.
  fs.rmSync(path.join(storage, 'windows'), { recursive: true });
  const next = await openWindow(storage);
  ids.push(stage(next), stage(main));
  assert.deepEqual(ids, ['p1', 'p2', 'p3', 'p4', 'p5', 'p6']);
});

test('an id is not used again if its preview could not be stored before the process ended', async () => {
  const storage = newStorage();
  const main = await openWindow(storage);
  stage(main);
  const file = path.join(storage, 'previews.jsonl');
  const stored = fs.readFileSync(file);
  stage(main);
  fs.writeFileSync(file, stored);
  assert.equal(stage(await openWindow(storage)), 'p3');
});

test('in a storage of an older version, ids go on after all that any log names, and not after quoted ones', async () => {
  const storage = newStorage();
  fs.mkdirSync(path.join(storage, 'sessions'), { recursive: true });
  const first = await openWindow(storage);
  first.stage(draft({ label: 'quotes "p900"' }));
  fs.rmSync(path.join(storage, 'preview-ids'));
  const line = { type: 'preview', previewId: 'p7' };
  fs.writeFileSync(path.join(storage, 'sessions', 's1.jsonl'), `{}\n${JSON.stringify(line)}\n`);
  const side = await openSideLog(path.join(storage, 'windows'));
  const second = await openWindow(storage, side.file);
  assert.equal(stage(second), 'p8', 'also in a window that does not read the main log');
  assert.equal(stage(await openWindow(storage)), 'p9');
});

test('what a window that died had applied is kept in the ledger of the next, once', async () => {
  const storage = newStorage();
  const folder = path.join(storage, 'windows');
  const side = await openSideLog(folder);
  const second = await openWindow(storage, side.file);
  const workspace = new MemoryWorkspace();
  const { id } = second.stage(draft({ changes: [create('new.txt', 'new')] })).preview;
  await new Invoker(second, workspace, () => 'apply').resolve({
    ...{ id, action: 'apply', reason: 'ok', actor: 'human' },
  });
  const lock = fs.readdirSync(folder).find(name => name.endsWith('.lock')) ?? assert.fail('no lock');
  fs.writeFileSync(path.join(folder, lock), '{"pid":2147483646}');

  const main = await openWindow(storage);
  const recover = async (file: string) => {
    const dead = await openWindow(storage, file);
    const reports = await recoverCommits(dead, workspace);
    await main.adoptLedger(dead.ledger());
    await main.adoptLedger(dead.ledger());
    return { reports, isDone: true };
  };
  assert.deepEqual(await recoverSideLogs(folder, recover, fail), []);
  for (const store of [main, await openWindow(storage)])
    assert.deepEqual(
      store.ledger().map(({ previewId, outcome }) => `${previewId} ${outcome}`),
      ['p1 applied'],
    );
});

test('ids go on above those in the logs of an older version, which are read once, also with an empty file of ids', async () => {
  const storage = temp.at('older');
  const sessions = path.join(storage, 'sessions');
  fs.mkdirSync(sessions, { recursive: true });
  fs.writeFileSync(path.join(storage, 'preview-ids'), '');
  const log = path.join(sessions, 'a.jsonl');
  fs.writeFileSync(log, '{"id":"p7","damaged":"p400000000"}\n');
  const first = await previewNumbersIn(storage, fail);
  fs.appendFileSync(log, '{"id":"p9"}\n');
  const second = await previewNumbersIn(storage, fail);
  assert.deepEqual([second.next(0), first.next(0)], [8, 9]);
});

test('ids are random where it cannot be told which ones are taken or counted', async () => {
  const storage = newStorage();
  fs.mkdirSync(storage);
  fs.symlinkSync('preview-ids', path.join(storage, 'preview-ids')); // to itself
  const told: unknown[] = [];
  const numbers = await previewNumbersIn(storage, error => told.push(error));
  assert.equal(told.length, 1);
  assert.ok(numbers.next(3) > 1e9);
});
