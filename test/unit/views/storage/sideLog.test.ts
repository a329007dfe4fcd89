import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { recoverCommits } from '../../../../src/agent/hold/preview/commit/recovery.ts';
import { PreviewLog } from '../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { openSideLog, recoverSideLogs } from '../../../../src/views/storage/sideLog.ts';
import { modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';

const fail = (error: unknown): never => assert.fail(String(error));

function given(context: TestContext): { folder: string; workspace: MemoryWorkspace } {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-side-'));
  context.after(() => fs.rmSync(root, { recursive: true }));
  return {
    folder: path.join(root, 'windows'),
    workspace: new MemoryWorkspace({ 'a.txt': 'A', 'b.txt': 'b', 'c.txt': 'mine' }),
  };
}

const recover = (workspace: MemoryWorkspace) => async (file: string) => {
  const log = new PreviewLog(file);
  const store = new PreviewStore(log, fail);
  store.restore((await log.load()).entries);
  return { reports: await recoverCommits(store, workspace), isDone: true };
};

/** A window in the middle of committing three files: it has written the first one. */
async function beginLanding(folder: string) {
  const side = await openSideLog(folder);
  const store = new PreviewStore(new PreviewLog(side.file), fail);
  const changes = [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B'), modify('c.txt', 'c', 'C')];
  const { preview, stored } = store.stage(draft({ changes }));
  await stored;
  await store.beginCommit([preview.id], { newFolders: [], modes: {} });
  return side;
}

test('an interrupted commit of a window that is gone is rolled back, once', async context => {
  const { folder, workspace } = given(context);
  await beginLanding(folder);
  // The window died: its lock names a process that no longer exists.
  const lock = fs.readdirSync(folder).find(name => name.endsWith('.lock')) ?? assert.fail('no lock');
  fs.writeFileSync(path.join(folder, lock), '{"pid":2147483646}');
  assert.deepEqual(await recoverSideLogs(folder, recover(workspace), fail), [
    { previewIds: ['p1'], end: 'rolledBack', restored: ['a.txt'], leftAlone: ['c.txt'], failed: [] },
  ]);
  assert.deepEqual(workspace.snapshot(), { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'mine' });
  assert.equal(fs.existsSync(folder), false);
  assert.deepEqual(await recoverSideLogs(folder, recover(workspace), fail), []);
});

test('the log of a window that is still open is left alone, and is deleted when the window closes', async context => {
  const { folder, workspace } = given(context);
  const side = await beginLanding(folder);
  assert.deepEqual(await recoverSideLogs(folder, recover(workspace), fail), []);
  assert.equal(workspace.text('a.txt'), 'A');
  await side.close(true);
  assert.equal(fs.existsSync(folder), false);
});

test('a log that does not have everything stays when its window closes, for the next one', async context => {
  const { folder, workspace } = given(context);
  const side = await beginLanding(folder);
  await side.close(false);
  const [report] = await recoverSideLogs(folder, recover(workspace), fail);
  assert.equal(report?.end, 'rolledBack');
  assert.equal(fs.existsSync(folder), false);
});

test('a log stays while something in it is not stored elsewhere', async context => {
  const { folder, workspace } = given(context);
  const side = await beginLanding(folder);
  await side.close(false);
  const some = async (file: string) => ({ ...(await recover(workspace)(file)), isDone: false });
  assert.equal((await recoverSideLogs(folder, some, fail)).length, 1);
  assert.deepEqual(fs.readdirSync(folder), [path.basename(side.file)]);
});

test('windows that open and close at the same moment do not take the folder from each other', async context => {
  const { folder } = given(context);
  const openAndClose = async (): Promise<void> => {
    for (let n = 0; n < 100; n++) await (await openSideLog(folder)).close(true);
  };
  await Promise.all([openAndClose(), openAndClose(), openAndClose()]);
  assert.equal(fs.existsSync(folder), false);
});

test('a log that cannot be read stays, and is reported', async context => {
  const { folder, workspace } = given(context);
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'old.jsonl'), '{"log":"redline.previews","version":99}\n');
  const told: unknown[] = [];
  assert.deepEqual(await recoverSideLogs(folder, recover(workspace), error => told.push(error)), []);
  assert.match(String(told), /UnknownLogVersionError/);
  assert.deepEqual(fs.readdirSync(folder), ['old.jsonl']);
});

test('without other windows there is nothing to do', async context => {
  const { folder, workspace } = given(context);
  assert.deepEqual(await recoverSideLogs(folder, recover(workspace), fail), []);
  assert.equal(fs.existsSync(folder), false);
});
