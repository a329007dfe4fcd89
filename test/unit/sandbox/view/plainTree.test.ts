import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import * as path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { removeTree } from '../../../../src/agent/sandbox/view/entries.ts';
import { folderId, ReplacedError } from '../../../../src/agent/sandbox/view/openFolders.ts';
import { ChangedError, inTrees, PlainTree, timeIn } from '../../../../src/agent/sandbox/view/plainTree.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

async function folderOf(t: TestContext): Promise<TempFolder> {
  const folder = await TempFolder.create();
  t.after(() => fs.rmSync(folder.root, { recursive: true, force: true }));
  return folder;
}

/** How often something is done while another program changes the tree. */
const TIMES = 300;

/** Another program that makes a link of a folder, and a folder of the link again, until it is stopped. */
async function exchanging(t: TestContext, folder: string, target: string): Promise<() => Promise<void>> {
  const link = `${folder}.link`;
  fs.symlinkSync(target, link);
  const stopped = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const fs = require('node:fs'), { workerData: [a, b, stopped] } = require('node:worker_threads');
     require('node:worker_threads').parentPort.postMessage('begun');
     const aside = a + '.aside';
     while (!Atomics.load(stopped, 0)) {
       try { fs.renameSync(a, aside); fs.renameSync(b, a); fs.renameSync(a, b); fs.renameSync(aside, a); } catch {}
     }`,
    { eval: true, workerData: [folder, link, stopped] },
  );
  await new Promise(resolve => worker.once('message', resolve));
  const stop = async (): Promise<void> => {
    Atomics.store(stopped, 0, 1);
    await worker.terminate();
  };
  t.after(stop);
  return stop;
}

/** A folder outside with files that are not to be touched or read. */
async function outside(temp: TempFolder): Promise<readonly string[]> {
  const files = Array.from({ length: 20 }, (_, n) => `outside/file${n}`);
  for (const file of files) await temp.file(file, 'SECRET');
  fs.chmodSync(temp.at('outside'), 0o755);
  return files.map(file => temp.at(file));
}

describe('the tree of a view', { skip: process.platform !== 'linux' }, () => {
  test('a file that is not there is no error, nor is a folder above it that is not', async t => {
    const tree = new PlainTree((await folderOf(t)).root);
    assert.equal(await tree.find('gone.txt'), undefined);
    assert.equal(await tree.read('gone/a.txt'), undefined);
  });

  test('a file that another program has open for a moment is written and removed when that has closed it, unless it was changed', async t => {
    const folder = await folderOf(t);
    await folder.file('a.txt', 'one');
    const tree = new PlainTree(folder.root);
    const { rename, unlink } = fs.promises;
    t.after(() => {
      Object.assign(fs.promises, { rename, unlink });
      syncBuiltinESMExports();
    });
    const refuseOnce = (meanwhile: () => void): void => {
      const refuse = (): never => {
        Object.assign(fs.promises, { rename, unlink });
        syncBuiltinESMExports();
        meanwhile();
        throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' });
      };
      Object.assign(fs.promises, { rename: refuse, unlink: refuse });
      syncBuiltinESMExports();
    };
    const stamp = async (): Promise<string> => (await tree.stamp('a.txt')).stamp;
    const write = async (text: string): Promise<void> =>
      tree.write('a.txt', Buffer.from(text), 0o644, { still: await stamp() });
    refuseOnce(() => undefined);
    await write('two');
    assert.equal(fs.readFileSync(folder.at('a.txt'), 'utf8'), 'two');
    refuseOnce(() => fs.writeFileSync(folder.at('a.txt'), 'theirs'));
    await assert.rejects(write('three'), ChangedError);
    assert.deepEqual(fs.readdirSync(folder.root), ['a.txt']);
    refuseOnce(() => undefined);
    await tree.remove('a.txt', await stamp());
    assert.deepEqual(fs.readdirSync(folder.root), []);
  });

  test('a tree that has gone does not look as if its files were removed', async t => {
    const folder = await folderOf(t);
    const tree = new PlainTree(await folder.folder('tree'));
    await tree.write('a.txt', Buffer.from('a'), 0o644);
    fs.rmSync(folder.at('tree'), { recursive: true });
    for (const look of [() => tree.find('a.txt'), () => tree.read('a.txt'), () => tree.remove('a.txt')])
      await assert.rejects(look, { code: 'ENOENT' });
  });

  test('a tree in whose place another one was put is not used', async t => {
    const temp = await folderOf(t);
    await temp.file('tree/a.txt', 'a');
    const tree = new PlainTree(temp.at('tree'), await folderId(temp.at('tree')));
    assert.equal(Buffer.from((await tree.read('a.txt')) ?? []).toString(), 'a');
    fs.renameSync(temp.at('tree'), temp.at('moved'));
    await temp.file('tree/a.txt', 'b');
    await assert.rejects(tree.read('a.txt'), ReplacedError);
  });

  test('a pipe, and a file that grows without end, block nothing', async t => {
    const temp = await folderOf(t);
    execFileSync('mkfifo', [temp.at('pipe')]);
    const tree = new PlainTree(temp.root);
    assert.equal(await tree.read('pipe'), undefined);
    await temp.file('long', Buffer.alloc(5_000));
    await assert.rejects(tree.read('long', 4_999), /more than 4999 bytes/);
    assert.equal((await tree.read('long', 5_000))?.length, 5_000);
    // It has no size, and as many bytes as are asked for.
    fs.symlinkSync('/dev/zero', temp.at('endless'));
    assert.equal(await tree.read('endless'), undefined);
  });

  test('a folder that becomes a link meanwhile: nothing outside is read, written or removed', async t => {
    const temp = await folderOf(t);
    const files = await outside(temp);
    await temp.file('tree/d/file0', 'inside');
    const stop = await exchanging(t, temp.at('tree', 'd'), temp.at('outside'));
    for (let n = 0; n < TIMES; n++)
      await inTrees([temp.at('tree')], async tree => {
        const read = await tree.read('d/file0').catch(() => undefined);
        assert.doesNotMatch(Buffer.from(read ?? []).toString(), /SECRET/);
        await tree.write('d/file1', Buffer.from('ours')).catch(() => undefined);
        await tree.openUp('d').catch(() => undefined);
        await tree.setBits('d', 0o700).catch(() => undefined);
        await tree.clear('d/file1').catch(() => undefined);
        for await (const part of tree.parts('d'))
          assert.deepEqual(
            part.filter(({ name }) => name === 'file19'),
            [],
          );
      });
    await stop();
    for (const file of files) assert.equal(fs.readFileSync(file, 'utf8'), 'SECRET');
    assert.equal(fs.statSync(temp.at('outside')).mode & 0o777, 0o755);
    assert.deepEqual(fs.readdirSync(temp.at('outside')).length, files.length);
  });

  test('a tree is removed whose folders become links meanwhile: nothing outside is', async t => {
    const temp = await folderOf(t);
    const files = await outside(temp);
    for (let n = 0; n < 8; n++) {
      for (let each = 0; each < 5; each++) await temp.file(`tree/d/${each}/x`, 'x');
      const stop = await exchanging(t, temp.at('tree', 'd'), temp.at('outside'));
      await removeTree(temp.at('tree')).catch(() => undefined);
      await stop();
      await removeTree(temp.at('tree'));
      assert.equal(fs.existsSync(temp.at('tree')), false);
      for (const file of files) assert.ok(fs.existsSync(file), file);
    }
  });

  test('a link in the place of a tree is removed, and not what it leads to', async t => {
    const temp = await folderOf(t);
    const files = await outside(temp);
    fs.symlinkSync(temp.at('outside'), temp.at('tree'));
    await removeTree(temp.at('tree'));
    for (const file of files) assert.ok(fs.existsSync(file), file);
  });

  test('a tree that is very deep is removed, and few folders are open meanwhile', async t => {
    const temp = await folderOf(t);
    const { PATH } = process.env;
    const deep = 'i=0; while [ $i -lt 200 ]; do mkdir dddddddd; cd -P dddddddd; i=$((i+1)); done; echo x > f';
    execFileSync('/bin/sh', ['-c', `mkdir tree; cd tree; ${deep}`], { cwd: temp.root, env: { PATH } });
    await removeTree(temp.at('tree'));
    assert.equal(fs.existsSync(temp.at('tree')), false);
    const open = fs.readdirSync('/proc/self/fd').filter(fd => {
      try {
        return fs.readlinkSync(path.join('/proc/self/fd', fd)).startsWith(temp.root);
      } catch {
        return false;
      }
    });
    assert.deepEqual(open, []);
  });
});

test('a copy is as old as its file, to the microsecond, so that a build finds the same files older', async t => {
  const folder = await folderOf(t);
  const names = ['output', 'source', 'newer'];
  for (const name of names) await folder.file(`real/${name}`, name);
  await folder.folder('copy');
  for (const [n, name] of names.entries())
    execFileSync('touch', ['-d', `@1764400000.0000${n}1`, folder.at('real', name)]);
  await inTrees([folder.at('real'), folder.at('copy')], async (real, copy) => {
    for (const name of names) await copy.copy(name, real, { keepsTime: true });
    const stat = await real.stat('newer');
    await copy.write('written', Buffer.from('newer'), 0o644, { time: stat && timeIn(stat) });
  });
  const times = [...names, 'written'].map(
    name => fs.statSync(folder.at('copy', name), { bigint: true }).mtimeNs,
  );
  assert.deepEqual(
    times.map(time => Math.round(Number(time - 1_764_400_000_000_000_000n) / 1000)),
    [1, 11, 21, 21],
  );
});
