import assert from 'node:assert/strict';
import fs, { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, beforeEach, test, type TestContext } from 'node:test';
import { sha256 } from '../../../../src/agent/base/hash.ts';
import { StalePreviewError } from '../../../../src/agent/hold/preview/errors.ts';
import { hashOfLink } from '../../../../src/agent/hold/preview/fileChange.ts';
import { writeDiskFile } from '../../../../src/views/workspace/diskFile.ts';
import { replaceOnDisk } from '../../../../src/views/workspace/diskReplace.ts';
import { syncOnDisk } from '../../../../src/views/workspace/diskSync.ts';
import { tidyDisk } from '../../../../src/views/workspace/diskFolders.ts';
import { moveToNew, removeTemporaryFiles } from '../../../../src/views/workspace/temporaryFile.ts';

const root = await mkdtemp(path.join(tmpdir(), 'redline-disk-'));
after(() => rm(root, { recursive: true }));

let count = 0;
let folder = '';
beforeEach(() => {
  folder = path.join(root, String(count++));
});

test('a new file appears with its whole content at once, and nothing else is left in its folder', async () => {
  const file = path.join(folder, 'deep', 'new.txt');
  const bytes = Buffer.alloc(3_000_000, 'x');
  let seen: boolean | undefined;
  writeDiskFile(file, 'new.txt', bytes, null, { guard: () => void (seen = existsSync(file)) });
  assert.equal(seen, false, 'it does not exist until it is complete');
  assert.deepEqual(await readFile(file), bytes);
  assert.deepEqual(await readdir(path.dirname(file)), ['new.txt']);
});

test('a file that appears at the last moment is not overwritten', async () => {
  const file = path.join(folder, 'new.txt');
  const guard = (): void => writeFileSync(file, 'theirs');
  assert.throws(
    () => writeDiskFile(file, 'new.txt', Buffer.from('ours'), null, { guard }),
    StalePreviewError,
  );
  assert.equal(await readFile(file, 'utf8'), 'theirs');
  assert.deepEqual(await readdir(folder), ['new.txt']);
});

test('what another program writes while the new file or link is made is not replaced', async () => {
  mkdirSync(folder);
  const file = path.join(folder, 'a.bin');
  const guard = (): void => writeFileSync(file, 'theirs');
  for (const content of [Buffer.from('ours'), { link: 'ours' }, null]) {
    writeFileSync(file, 'old');
    const replace = (): void => replaceOnDisk(file, 'a.bin', content, sha256(Buffer.from('old')), { guard });
    assert.throws(replace, StalePreviewError);
    assert.equal(readFileSync(file, 'utf8'), 'theirs');
  }
  assert.deepEqual(await readdir(folder), ['a.bin']);
});

test('tidying up goes on where a place cannot be looked at, or is no longer open', async () => {
  mkdirSync(path.join(folder, 'made', 'deep'), { recursive: true });
  symlinkSync('loop', path.join(folder, 'loop'));
  const roots = [{ name: 'root', fsPath: folder }];
  tidyDisk(['loop/a.txt', '.git/a.txt', 'a.txt'], ['.git', 'made', 'made/deep'], roots);
  assert.deepEqual(await readdir(folder), ['loop']);
  tidyDisk(['a.txt'], ['made'], []);
});

test('a temporary file that a killed process left is removed, and nothing that only looks like one', async () => {
  const file = path.join(folder, 'a.txt');
  let left = '';
  const guard = (): void => void (left = readdirSync(folder)[0] ?? '');
  writeDiskFile(file, 'a.txt', Buffer.from('a'), null, { guard });
  assert.match(left, /^\.redline-/);
  const kept = ['.redline', left.replace('.tmp', ''), left.replace(/[0-9a-f]{12}/, '0123456789ab'), 'a.txt'];
  for (const name of [...kept, left]) await writeFile(path.join(folder, name), 'x');
  removeTemporaryFiles([file]);
  assert.deepEqual((await readdir(folder)).sort(), kept.sort());
  removeTemporaryFiles([path.join(folder, 'nowhere', 'a.txt')]);
});

for (const code of ['EPERM', 'ENOTSUP', 'EISDIR'])
  test(`where there are no hard links (${code}), a new file gets its name all the same, and none is overwritten`, () => {
    mkdirSync(folder);
    const [temporary, file] = [path.join(folder, 'a.tmp'), path.join(folder, 'a.txt')];
    const link = (): never => {
      throw Object.assign(new Error(code), { code });
    };
    writeFileSync(temporary, 'ours');
    assert.equal(moveToNew(temporary, file, link), true);
    assert.deepEqual(readdirSync(folder), ['a.txt']);
    writeFileSync(temporary, 'later');
    for (const each of [link, undefined]) assert.equal(moveToNew(temporary, file, each), false);
    assert.equal(readFileSync(file, 'utf8'), 'ours');
  });

/** Nothing, or only this file, can be removed until the returned function is called. */
function held(t: TestContext, only?: string): () => void {
  const { rmSync } = fs;
  let isHeld = true;
  fs.rmSync = (...args): void => {
    if (isHeld && (only ?? args[0]) === args[0])
      throw Object.assign(new Error('EBUSY: busy'), { code: 'EBUSY' });
    rmSync(...args);
  };
  syncBuiltinESMExports();
  t.after(() => {
    fs.rmSync = rmSync;
    syncBuiltinESMExports();
  });
  return () => (isHeld = false);
}

test('a temporary name that another program holds for a moment is gone after the sync of the commit', async t => {
  const release = held(t);
  writeDiskFile(path.join(folder, 'new.txt'), 'new.txt', Buffer.from('new'), null);
  assert.equal(readdirSync(folder).length, 2, 'the file has both names');
  release();
  assert.equal((await syncOnDisk(['new.txt'], [{ name: 'root', fsPath: folder }])).size, 0);
  assert.deepEqual(readdirSync(folder), ['new.txt']);
});

test('a temporary name that another program holds for long goes with the next new file', t => {
  const release = held(t);
  writeDiskFile(path.join(folder, 'one.txt'), 'one.txt', Buffer.from('1'), null);
  assert.equal(readdirSync(folder).length, 2);
  release();
  writeDiskFile(path.join(folder, 'two.txt'), 'two.txt', Buffer.from('2'), null);
  assert.deepEqual(readdirSync(folder), ['one.txt', 'two.txt']);
});

test('one temporary name that stays keeps no other one from going', t => {
  const all = held(t);
  for (const name of ['one.txt', 'two.txt'])
    writeDiskFile(path.join(folder, name), name, Buffer.from(name), null);
  const [first = ''] = readdirSync(folder).filter(name => name.endsWith('.tmp'));
  all();
  const release = held(t, path.join(folder, first));
  writeDiskFile(path.join(folder, 'six.txt'), 'six.txt', Buffer.from('6'), null);
  assert.deepEqual(readdirSync(folder).sort(), [first, 'one.txt', 'six.txt', 'two.txt']);
  release();
  writeDiskFile(path.join(folder, 'ten.txt'), 'ten.txt', Buffer.from('10'), null);
  assert.deepEqual(readdirSync(folder).sort(), ['one.txt', 'six.txt', 'ten.txt', 'two.txt']);
});

test('a write that fails says why, also if its temporary file goes only later', t => {
  const release = held(t);
  const file = path.join(folder, 'new.txt');
  const guard = (): void => writeFileSync(file, 'theirs');
  const write = (): void => writeDiskFile(file, 'new.txt', Buffer.from('ours'), null, { guard });
  assert.throws(write, StalePreviewError);
  const link = path.join(folder, 'link');
  symlinkSync('old', link);
  const stop = (): never => assert.fail('it is open in an editor');
  const replace = (): void =>
    replaceOnDisk(link, 'link', { link: 'new' }, hashOfLink('old'), { guard: stop });
  assert.throws(replace, /open in an editor/);
  assert.equal(readdirSync(folder).length, 4, 'both are still there');
  release();
  writeDiskFile(path.join(folder, 'next.txt'), 'next.txt', Buffer.from('next'), null);
  assert.deepEqual(readdirSync(folder).sort(), ['link', 'new.txt', 'next.txt']);
});
