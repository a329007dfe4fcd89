import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { ProcessLock } from '../../../../src/agent/base/processLock.ts';
import { openPreviewLog } from '../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

stub.useVscodeStub();
const { OtherWindows } = await import('../../../../src/views/storage/otherWindows.ts');

const fail = (error: unknown): never => assert.fail(String(error));
const logger = { debug: fail, info: fail, warn: fail, error: fail };

async function folder(t: TestContext): Promise<string> {
  const made = await TempFolder.create();
  t.after(() => made.remove());
  return made.root;
}

/** A window with a storage of its own, and as many previews. */
async function openWindow(root: string, name: string, previews: number) {
  const storage = path.join(root, name, 'redline.redline');
  const lock = (await ProcessLock.take(path.join(storage, 'window.lock'), 0)) ?? assert.fail('it is free');
  const log = openPreviewLog(path.join(storage, 'previews.jsonl'));
  await log.load();
  const store = new PreviewStore(log, fail);
  for (let n = 0; n < previews; n++) await store.stage(draft()).stored;
  return { storage, lock, store };
}

/** The counts that a window is told. */
async function follow(t: TestContext, storage: string) {
  const counts: number[] = [];
  let told = Promise.withResolvers<void>();
  const onCount = (count: number): void => {
    counts.push(count);
    told.resolve();
  };
  const others = new OtherWindows(storage, onCount, logger);
  t.after(() => others.dispose());
  await others.start();
  const next = async (): Promise<number | undefined> => {
    told = Promise.withResolvers<void>();
    await told.promise;
    return counts.at(-1);
  };
  return { counts, next };
}

test('a second window is told how many previews the other windows on its folder have pending', async t => {
  const root = await folder(t);
  const first = await openWindow(root, 'abc', 2);
  await openWindow(root, 'abc-2', 1);
  await openWindow(root, 'abcd', 5);
  await openWindow(root, 'abc-x', 5);
  const { counts, next } = await follow(t, path.join(root, 'abc-1', 'redline.redline'));
  assert.deepEqual(counts, [3]);
  const later = next();
  await first.store.stage(draft()).stored;
  assert.equal(await later, 4);
});

test('the previews of a window that is closed are not counted', async t => {
  const root = await folder(t);
  const { lock } = await openWindow(root, 'abc', 2);
  await lock.release();
  const { counts } = await follow(t, path.join(root, 'abc-1', 'redline.redline'));
  assert.deepEqual(counts, [0]);
});
