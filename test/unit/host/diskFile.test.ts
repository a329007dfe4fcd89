import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { removeLeftovers, writeDiskFile } from '../../../src/views/host/diskFile.ts';

const root = await mkdtemp(path.join(tmpdir(), 'redline-disk-'));
after(() => rm(root, { recursive: true }));

let count = 0;
let folder = '';
beforeEach(() => {
  folder = path.join(root, String(count++));
});

test('a new file is there with all of its content at once, and nothing else is left in its folder', async () => {
  const file = path.join(folder, 'deep', 'new.txt');
  const bytes = Buffer.alloc(3_000_000, 'x');
  let seen: boolean | undefined;
  await writeDiskFile(file, 'new.txt', bytes, null, () => (seen = existsSync(file)));
  assert.equal(seen, false, 'it does not exist until it is whole');
  assert.deepEqual(await readFile(file), bytes);
  assert.deepEqual(await readdir(path.dirname(file)), ['new.txt']);
});

test('a file that appears at the last moment is not overwritten', async () => {
  const file = path.join(folder, 'new.txt');
  const late = writeDiskFile(file, 'new.txt', Buffer.from('ours'), null, () => {
    process.getBuiltinModule('node:fs').writeFileSync(file, 'theirs');
  });
  await assert.rejects(late, { code: 'EEXIST' });
  assert.equal(await readFile(file, 'utf8'), 'theirs');
  assert.deepEqual(await readdir(folder), ['new.txt']);
});

test('what a killed process left beside a file is removed, and nothing that looks like it', async () => {
  const file = path.join(folder, 'a.txt');
  await writeDiskFile(file, 'a.txt', Buffer.from('a'), null, () => undefined);
  const kept = ['.a.txt.redline', '.a.txt.0123456z.redline', '.b.txt.01234567.redline', 'a.txt'];
  for (const name of [...kept, '.a.txt.01234567.redline']) await writeFile(path.join(folder, name), 'x');
  await removeLeftovers(file);
  assert.deepEqual((await readdir(folder)).sort(), kept.sort());
  await removeLeftovers(path.join(folder, 'nowhere', 'a.txt'));
});
