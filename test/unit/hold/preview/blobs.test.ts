import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { MemoryBlobs } from '../../../../src/agent/hold/preview/blobs.ts';
import { linkTo, sideOfText, type FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { Contents } from '../../../../src/agent/hold/preview/log/contents.ts';
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

const packIn = (folder: string): string =>
  `${folder}/${fs.readdirSync(folder).find(name => name.endsWith('.pack')) ?? assert.fail('none')}`;

test('a damaged content is refused, and putting it again mends it', async context => {
  const folder = await folderOf(context);
  const side = await new Contents(folder.at('contents')).put(bytes);
  assert.equal(side.size, 4);
  const place = [packIn(folder.at('contents')).split('/').at(-1) ?? '', 0, 7] as const;
  fs.writeFileSync(packIn(folder.at('contents')), Buffer.of(0x7b, 0x7d, 0x0a, 0, 1, 2, 254));
  const contents = new Contents(folder.at('contents'));
  contents.bind(side, place);
  await assert.rejects(contents.get(side), /is gone from Redline's storage, or damaged/);
  await contents.put(bytes);
  assert.deepEqual(Buffer.from(await contents.get(side)), bytes);
  const later = new Contents(folder.at('contents'));
  later.bind(side, place);
  later.bind(side, contents.placeOfBinary(side) ?? assert.fail('not stored'));
  assert.deepEqual(Buffer.from(await later.get(side)), bytes, 'the last line has it');
});

test('a content over 5 MB is refused', async context => {
  const folder = await folderOf(context);
  const large = new Uint8Array(5 * 1024 * 1024 + 1);
  await assert.rejects(new Contents(folder.at('contents')).put(large), /over 5 MB/);
  await assert.rejects(new MemoryBlobs().put(large), /over 5 MB/);
  assert.ok(!fs.existsSync(folder.at('contents')));
});

test('previews keep links and binary files in the log, without their bytes, until they are forgotten', async context => {
  const folder = await folderOf(context);
  const open = async (): Promise<PreviewStore> => {
    const log = openPreviewLog(folder.at('previews.jsonl'));
    const store = new PreviewStore(log, error => assert.fail(String(error)));
    const { entries, badLines } = await log.load();
    assert.deepEqual(badLines, []);
    store.restore(entries);
    return store;
  };
  const image = Buffer.from(`\0${'image'.repeat(500)}`);
  const store = await open();
  const [before, after] = [await store.blobs.put(bytes), await store.blobs.put(image)];
  const changes: FileChange[] = [
    { kind: 'modify', path: 'a.png', before, after, mode: 0o755 },
    { kind: 'rename', path: 'c', from: 'b', before: linkTo('x'), after: linkTo('../y') },
    { kind: 'modify', path: 'd', before: sideOfText('text'), after: linkTo('d.txt') },
    { kind: 'delete', path: 'e', before: after, after: null },
  ];
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
  assert.deepEqual(Buffer.from(await again.blobs.get(after)), image);
  const fresh = await again.blobs.put(Buffer.of(0, 9));
  await again.forgetResolved(new Date('2026-02-01'));
  const packs = fs.readdirSync(folder.at('contents')).map(name => folder.at(`contents/${name}`));
  assert.ok(packs.every(pack => !fs.readFileSync(pack).includes('imageimage')));
  assert.deepEqual(
    Buffer.from(await again.blobs.get(fresh)),
    Buffer.of(0, 9),
    'a preview is about to name it',
  );
  await again.close();
});
