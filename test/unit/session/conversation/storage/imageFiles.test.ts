import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import * as path from 'node:path';
import {
  ImageFiles,
  ImageRefusal,
} from '../../../../../src/agent/session/conversation/storage/imageFiles.ts';
import { SessionLogs } from '../../../../../src/agent/session/conversation/storage/sessionLogs.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

/** A folder that is deleted after the test. */
async function tempFolder(t: TestContext): Promise<string> {
  const folder = await TempFolder.create();
  t.after(() => folder.remove());
  return folder.root;
}

const png = (tail = ''): Buffer => Buffer.from(`\x89PNG\r\n\x1a\n${tail}`, 'latin1');

test('an image is stored once, kept with its session, and deleted with it alone', async t => {
  const folder = await tempFolder(t);
  const images = new ImageFiles(folder);
  const draft = await images.add(png());
  assert.deepEqual(await images.add(png()), draft);
  assert.deepEqual([draft.type, draft.bytes], ['image/png', 8]);
  const one = await images.keep(draft, 's1');
  const two = await images.keep(draft, 's2');
  assert.ok(one && two);
  assert.match(one.file, /^s1\.images\/[0-9a-f]{64}\.png$/);
  assert.deepEqual(await images.keep(one, 's1'), one);
  await new SessionLogs(folder).delete('s1');
  assert.equal(await images.read(one.file), undefined);
  assert.deepEqual(await images.read(two.file), png());
  assert.equal(await images.keep(one, 's2'), undefined);
  assert.deepEqual(
    (await new SessionLogs(folder).list()).map(({ id }) => id),
    [],
  );
});

test('one image that is pasted and read several times at once is stored each time', async t => {
  const folder = await tempFolder(t);
  const images = new ImageFiles(folder);
  const many = Array.from({ length: 20 });
  const stored = await Promise.all(many.map(() => images.add(png('x'.repeat(100_000)))));
  const [draft = assert.fail()] = stored;
  const kept = await Promise.all(many.map(() => images.keep(draft, 's1')));
  assert.deepEqual(
    [stored, kept].map(all => new Set(all.map(image => image?.file)).size),
    [1, 1],
  );
  assert.deepEqual(await images.read(kept[0]?.file ?? ''), png('x'.repeat(100_000)));
  assert.equal(readdirSync(path.join(folder, 's1.images')).length, 1);
});

test('only images are taken, by what is in them, up to 5 MB', async t => {
  const images = new ImageFiles(await tempFolder(t));
  for (const [bytes, type] of [
    [Buffer.from('GIF89a'), 'image/gif'],
    [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'image/jpeg'],
    [Buffer.from('RIFF....WEBPVP8 '), 'image/webp'],
  ] as const)
    assert.equal((await images.add(bytes)).type, type);
  const why = (reason: ImageRefusal['why']) => (error: unknown) =>
    error instanceof ImageRefusal && error.why === reason;
  await assert.rejects(images.add(Buffer.from('<svg onload="x"/>')), why('notAnImage'));
  await assert.rejects(images.add(png('x'.repeat(5 * 1_048_576))), why('tooLarge'));
});

test('a name that is not that of an image leads nowhere', async t => {
  const images = new ImageFiles(await tempFolder(t));
  for (const file of [
    '../../etc/passwd',
    's1.jsonl',
    `../x.images/${'0'.repeat(64)}.png`,
    `/${'0'.repeat(64)}.png`,
  ]) {
    assert.equal(images.pathOf(file), undefined, file);
    assert.equal(await images.read(file), undefined);
    assert.equal(await images.keep({ file, type: 'image/png', bytes: 1 }, 's1'), undefined);
  }
});

test('an image whose prompt was never sent is deleted after a week', async t => {
  const folder = await tempFolder(t);
  const images = new ImageFiles(folder);
  const { file } = await images.add(png('old'));
  const old = path.join(folder, file);
  const eightDaysAgo = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000);
  utimesSync(old, eightDaysAgo, eightDaysAgo);
  await images.add(png('new'));
  assert.equal(existsSync(old), false);
  assert.equal(readdirSync(path.dirname(old)).length, 1);
});
