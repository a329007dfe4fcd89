import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { BlobFolder } from '../../../../src/agent/hold/preview/blobFolder.ts';
import { MemoryBlobs } from '../../../../src/agent/hold/preview/blobs.ts';
import { linkTo, sideOfText, type FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { openPreviewLog } from '../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { draft } from '../../../support/drafts.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

async function folderOf(context: TestContext): Promise<TempFolder> {
  const folder = await TempFolder.create();
  context.after(() => folder.remove());
  return folder;
}

const bytes = Buffer.of(0, 1, 2, 255);

test('a content is a file named by its hash, and comes back in the next process', async context => {
  const folder = await folderOf(context);
  const side = await new BlobFolder(folder.at('blobs'), () => true).put(bytes);
  assert.deepEqual(fs.readdirSync(folder.at('blobs')), [side.hash]);
  assert.equal(side.size, 4);
  assert.deepEqual(await new BlobFolder(folder.at('blobs'), () => true).get(side), bytes);
});

test('a damaged content is refused, and putting it again mends it', async context => {
  const folder = await folderOf(context);
  const blobs = new BlobFolder(folder.root, () => true);
  const side = await blobs.put(bytes);
  fs.writeFileSync(folder.at(side.hash), Buffer.of(0, 1, 2, 254));
  await assert.rejects(blobs.get(side), /is gone from Redline's storage, or damaged/);
  await blobs.put(bytes);
  assert.deepEqual(await blobs.get(side), bytes);
  fs.rmSync(folder.at(side.hash));
  await assert.rejects(blobs.get(side), /is gone/);
});

test('a content over 5 MB is refused', async context => {
  const folder = await folderOf(context);
  const large = new Uint8Array(5 * 1024 * 1024 + 1);
  await assert.rejects(new BlobFolder(folder.at('blobs'), () => true).put(large), /over 5 MB/);
  await assert.rejects(new MemoryBlobs().put(large), /over 5 MB/);
  assert.ok(!fs.existsSync(folder.at('blobs')));
});

test('what nothing names is removed, but for what was just put; with another window open, nothing is', async context => {
  const folder = await folderOf(context);
  const old = new BlobFolder(folder.root, () => true);
  const [left, named] = [await old.put(Buffer.of(0)), await old.put(Buffer.of(0, 1))];
  fs.writeFileSync(folder.at(`${left.hash}.0-0.tmp`), 'torn');
  fs.writeFileSync(folder.at('other'), 'not ours');
  const names = new Set([named.hash]);
  await new BlobFolder(folder.root, () => false).retain(names, names);
  assert.equal(fs.readdirSync(folder.root).length, 4);
  const blobs = new BlobFolder(folder.root, () => true);
  const fresh = await blobs.put(Buffer.of(0, 2));
  await blobs.retain(names, names);
  assert.deepEqual(fs.readdirSync(folder.root).sort(), [fresh.hash, named.hash, 'other'].sort());
  await blobs.retain(new Set(), new Set([fresh.hash, named.hash]));
  assert.deepEqual(fs.readdirSync(folder.root), ['other']);
});

test('previews keep links and binary files in the log, without their bytes, until they are forgotten', async context => {
  const folder = await folderOf(context);
  const blobs = new BlobFolder(folder.at('blobs'), () => true);
  const open = async (): Promise<PreviewStore> => {
    const log = openPreviewLog(folder.at('previews.jsonl'));
    const store = new PreviewStore(log, error => assert.fail(String(error)), { blobs });
    const { entries, badLines } = await log.load();
    assert.deepEqual(badLines, []);
    store.restore(entries);
    return store;
  };
  const image = Buffer.from(`\0${'image'.repeat(500)}`);
  const [before, after] = [await blobs.put(bytes), await blobs.put(image)];
  const changes: FileChange[] = [
    { kind: 'modify', path: 'a.png', before, after, mode: 0o755 },
    { kind: 'rename', path: 'c', from: 'b', before: linkTo('x'), after: linkTo('../y') },
    { kind: 'modify', path: 'd', before: sideOfText('text'), after: linkTo('d.txt') },
    { kind: 'delete', path: 'e', before: after, after: null },
  ];
  const store = await open();
  await store.stage(draft({ changes })).stored;
  await store.close();
  assert.ok(!fs.readFileSync(folder.at('previews.jsonl'), 'utf8').includes('imageimage'));

  const again = await open();
  assert.deepEqual(again.get('p1')?.changes, changes);
  const entries = again.all().map(({ id, label, kind, sourceToolName }) => ({
    ...({ previewId: id, label, kind, sourceToolName, action: 'discard', actor: 'human' } as const),
    ...({ reason: 'no', outcome: 'discarded', at: '2026-01-01T00:00:00.000Z', files: [] } as const),
  }));
  await again.endResolving(entries, []);
  await again.forgetResolved(new Date('2025-01-01'));
  assert.equal(fs.readdirSync(folder.at('blobs')).length, 2);
  await again.forgetResolved(new Date('2026-02-01'));
  assert.deepEqual(fs.readdirSync(folder.at('blobs')), []);
  await again.close();
});
