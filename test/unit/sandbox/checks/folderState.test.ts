import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { folderState } from '../../../../src/agent/sandbox/checks/folderState.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const none = new Set<string>();

for (const hasGit of [true, false])
  test(`${hasGit ? 'with' : 'without'} git, every change of a file shows, and no change of an ignored one`, async () => {
    const temp = await TempFolder.create();
    const root = temp.at('app');
    fs.mkdirSync(`${root}/node_modules`, { recursive: true });
    if (hasGit) execFileSync('git', ['init', '-q'], { cwd: root });
    fs.writeFileSync(`${root}/.gitignore`, 'node_modules/\n');
    fs.writeFileSync(`${root}/a.txt`, 'a');
    const state = (except: ReadonlySet<string> = none): Promise<string | undefined> =>
      folderState([{ name: 'app', fsPath: root }], except);
    const seen = new Set([await state()]);
    const shows = async (): Promise<void> => {
      const now = await state();
      assert.ok(now !== undefined && !seen.has(now));
      assert.equal(await state(), now);
      seen.add(now);
    };
    const times = fs.statSync(`${root}/a.txt`);
    fs.writeFileSync(`${root}/a.txt`, 'b');
    fs.utimesSync(`${root}/a.txt`, times.atime, times.mtime);
    await shows();
    fs.chmodSync(`${root}/a.txt`, process.platform === 'win32' ? 0o444 : 0o600);
    await shows();
    fs.writeFileSync(`${root}/new.txt`, '');
    await shows();
    fs.symlinkSync('a.txt', `${root}/link`);
    await shows();
    fs.rmSync(`${root}/new.txt`);
    await shows();
    fs.writeFileSync(`${root}/ä.txt`, '');
    await shows();
    if (process.platform === 'linux') {
      const odd = Buffer.concat([Buffer.from(`${root}/bad`), Buffer.of(0xff)]);
      fs.writeFileSync(odd, '');
      await shows();
      fs.writeFileSync(odd, 'x');
      await shows();
    }
    const before = await state();
    if (hasGit) execFileSync('git', ['add', '-A'], { cwd: root });
    assert.equal(await state(), before);
    fs.writeFileSync(`${root}/node_modules/x.js`, '');
    assert.equal(await state(), before);
    const without = await state(new Set(['a.txt', 'ä.txt']));
    for (const name of ['a.txt', 'ä.txt']) fs.writeFileSync(`${root}/${name}`, 'c');
    assert.equal(await state(new Set(['a.txt', 'ä.txt'])), without);
  });

test('in a folder that the repository above it ignores, every change shows', async () => {
  const temp = await TempFolder.create();
  const root = await temp.folder('app');
  await temp.file('.gitignore', '*\n');
  await temp.file('app/tracked.txt', 'a');
  await temp.file('app/a.txt', 'a');
  execFileSync('git', ['init', '-q'], { cwd: temp.root });
  const state = (): Promise<string | undefined> => folderState([{ name: 'app', fsPath: root }], none);
  for (const isTracked of [false, true]) {
    if (isTracked) execFileSync('git', ['add', '-f', 'app/tracked.txt'], { cwd: temp.root });
    const before = await state();
    assert.ok(before);
    fs.appendFileSync(`${root}/a.txt`, 'b');
    assert.notEqual(await state(), before);
  }
});

test('what is in a repository inside shows, too', async () => {
  const temp = await TempFolder.create();
  const root = temp.at('app');
  fs.mkdirSync(`${root}/inner`, { recursive: true });
  for (const cwd of [root, `${root}/inner`]) execFileSync('git', ['init', '-q'], { cwd });
  fs.writeFileSync(`${root}/inner/a.txt`, 'a');
  const state = (): Promise<string | undefined> => folderState([{ name: 'app', fsPath: root }], none);
  const before = await state();
  fs.writeFileSync(`${root}/inner/a.txt`, 'bb');
  assert.notEqual(await state(), before);
});

test('a submodule that is not there yet is an empty folder', { timeout: 10_000 }, async () => {
  const temp = await TempFolder.create();
  const root = temp.at('app');
  fs.mkdirSync(`${root}/sub`, { recursive: true });
  const git = (...args: string[]): unknown => execFileSync('git', args, { cwd: root });
  git('init', '-q');
  git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`);
  const state = (): Promise<string | undefined> => folderState([{ name: 'app', fsPath: root }], none);
  const before = await state();
  assert.ok(before);
  assert.equal(await state(), before);
  fs.writeFileSync(`${root}/a.txt`, 'a');
  assert.notEqual(await state(), before);
});

test('a folder that cannot be read has no state', async () => {
  const temp = await TempFolder.create();
  assert.equal(await folderState([{ name: 'app', fsPath: temp.at('missing') }], none), undefined);
});
